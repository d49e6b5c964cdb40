// TM: tensor maps, in themselves and against who reads what they wrote.
#include "zoo/async_copies.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

// Warp 0 copies the parameter `map` to global memory, at `desc`, where it can be edited.
constexpr std::string_view editable_map = R"(
  setp.ne.u32 %p0, %warp, 0;
  @%p0 bra EDITABLE;
  mul.wide.u32 %rd0, %lane, 4;
  add.u64 %rd1, %map, %rd0;
  ld.b32 %r0, [%rd1];
  add.u64 %rd1, %desc, %rd0;
  st.global.b32 [%rd1], %r0;
EDITABLE:
  bar.sync 0;
  @%leader fence.proxy.tensormap::generic.release.gpu;
  @%leader fence.proxy.tensormap::generic.acquire.gpu [%desc], 128;
)";

// 4 rows of 32 floats.
TensorMapValue rows_of(int buffer) {
  return map_of({.buffer = buffer,
                 .type = isa::TensorDataType::f32,
                 .rows = 4,
                 .columns = 32,
                 .box_rows = 4,
                 .box_columns = 32});
}

constexpr std::string_view tile_and_full = ".shared .align 128 .b8 tile[512];\n.shared .align 8 .b64 full;\n";

// The edited map over `in` is used to fetch its second half.
constexpr std::string_view fetch_tile = R"(
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %r1, 0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  @%leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%desc, {%r1, %r1}], [full];  // @1
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  ld.shared.f32 %f0, [%a0];
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;)";

Pair fetch_pair(std::string name, std::string entry, std::string title, std::string code, OnDevice on_device,
                std::string_view edit) {
  return ptx_pair(
      {.name = std::move(name),
       .entry = std::move(entry),
       .title = std::move(title),
       .code = std::move(code),
       .on_device = on_device,
       .text =
           program({{"in"}, {"out"}, {"desc"}, {"map", true}},
                   std::string(editable_map) + std::string(edit) + std::string(fetch_tile), tile_and_full),
       .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 128), scratch("desc", pl::u8, 128)},
       .params = {PointerValue{0}, PointerValue{1}, PointerValue{2}, rows_of(0)}});
}

Pair illegal_box() {
  return fetch_pair("tensor-map-illegal-box", "TM-02",
                    "tensormap.replace gives the box 512 elements a row: a dimension has at most 256",
                    "PLD3092", OnDevice::faults, R"(
  @!%leader bra EDITED;
  tensormap.replace.tile.box_dim.global.b1024.b32 [%desc], 0, 32;   //! good
  tensormap.replace.tile.box_dim.global.b1024.b32 [%desc], 0, 512;  //! broken
  fence.proxy.tensormap::generic.release.gpu;
  fence.proxy.tensormap::generic.acquire.gpu [%desc], 128;
EDITED:)");
}

Pair not_acquired() {
  return fetch_pair("tensor-map-not-acquired", "TM-20",
                    "an edited tensor map is used without the tensormap proxy's fence", "PLD4320",
                    OnDevice::ends, R"(
  @!%leader bra EDITED;
  add.u64 %rd2, %in, 512;
  tensormap.replace.tile.global_address.global.b1024.b64 [%desc], %rd2;  // @2
  fence.proxy.tensormap::generic.release.gpu;               //! good
  fence.proxy.tensormap::generic.acquire.gpu [%desc], 128;  //! good
EDITED:)");
}

Pair edited_in_flight() {
  return ptx_pair(
      {.name = "tensor-map-edited-in-flight",
       .entry = "TM-19",
       .title = "a tensor map is edited while a copy that was issued with it may still read it",
       .code = "PLD4319",
       .on_device = OnDevice::ends,
       .text = program({{"in"}, {"out"}, {"desc"}, {"map", true}}, std::string(editable_map) + R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a0, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %in, %rd0;
  ld.global.f32 %f0, [%rd0];
  st.shared.f32 [%a0], %f0;
  fence.proxy.async.shared::cta;
  bar.sync 0;
  @!%leader bra DONE;
  mov.u32 %r1, 0;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%desc, {%r1, %r1}], [tile];  // @1
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group.read 0;  //! good
  add.u64 %rd2, %out, 512;
  tensormap.replace.tile.global_address.global.b1024.b64 [%desc], %rd2;  // @2
  fence.proxy.tensormap::generic.release.gpu;
  fence.proxy.tensormap::generic.acquire.gpu [%desc], 128;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%desc, {%r1, %r1}], [tile];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
DONE:)",
                       ".shared .align 128 .b8 tile[512];\n"),
       .buffers = {counting("in", pl::f32, 128), result("out", pl::f32, 256), scratch("desc", pl::u8, 128)},
       .params = {PointerValue{0}, PointerValue{1}, PointerValue{2}, rows_of(1)}});
}

// 8 rows of 24 floats in a box of 32 columns; the map asks for NaN where there is nothing.
Pair fill_consumed() {
  return ptx_pair(
      {.name = "tensor-copy-fill-consumed",
       .entry = "TM-21",
       .title =
           "rows are summed over the box, not over the tensor: the fill beyond its edge is taken for data",
       .code = "PLD4321",
       .severity = sim::FindingSeverity::strict,
       .text = program({{"in"}, {"out"}, {"map", true}}, R"(
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %a0, tile;
  mov.u32 %r1, 0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
  @%leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%a0], [%map, {%r1, %r1}], [full];  // @2
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  setp.ge.u32 %p0, %t, 8;
  @%p0 bra DONE;
  mad.lo.u32 %a1, %t, 128, %a0;
  mov.f32 %f0, 0f00000000;
  mov.u32 %r2, 0;
NEXT:
  ld.shared.f32 %f1, [%a1];  // @1
  add.f32 %f0, %f0, %f1;
  add.u32 %a1, %a1, 4;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 24;  //! good
  setp.lt.u32 %p2, %r2, 32;  //! broken
  @%p2 bra NEXT;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;
DONE:)",
                       ".shared .align 128 .b8 tile[1024];\n.shared .align 8 .b64 full;\n"),
       .buffers = {counting("in", pl::f32, 192), result("out", pl::f32, 8)},
       .params = {PointerValue{0}, PointerValue{1},
                  map_of({.buffer = 0,
                          .type = isa::TensorDataType::f32,
                          .rows = 8,
                          .columns = 24,
                          .box_rows = 8,
                          .box_columns = 32,
                          .fill = isa::OobFill::nan_request_zero_fma})}});
}

// 8 rows of 32 floats, 128 bytes each: chunk c of row r lies where chunk c ^ r would.
Pair tile_off_pattern() {
  return ptx_pair(
      {.name = "swizzled-tile-off-its-pattern",
       .entry = "TM-05",
       .title = "a tile with a swizzle of 128 bytes begins 512 bytes into the pattern of 1024",
       .code = "PLD4305",
       .severity =
           sim::FindingSeverity::strict,  // the chip swizzles by address: readers that know it are right
       .text = program({{"in"}, {"out"}, {"map", true}}, R"(
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %a0, pool;
  add.u32 %a0, %a0, 512;  //! broken
  mov.u32 %r1, 0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;
  @%leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%a0], [%map, {%r1, %r1}], [full];  // @1
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  shr.u32 %r2, %lane, 2;
  xor.b32 %r2, %r2, %warp;
  shl.b32 %r2, %r2, 4;
  and.b32 %r3, %lane, 3;
  mad.lo.u32 %r2, %r3, 4, %r2;
  mad.lo.u32 %r2, %warp, 128, %r2;
  add.u32 %a1, %a0, %r2;
  ld.shared.f32 %f0, [%a1];
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %out, %rd0;
  st.global.f32 [%rd0], %f0;)",
                       ".shared .align 1024 .b8 pool[2048];\n.shared .align 8 .b64 full;\n"),
       .buffers = {counting("in", pl::f32, 256), result("out", pl::f32, 128)},
       .params = {PointerValue{0}, PointerValue{1},
                  map_of({.buffer = 0,
                          .type = isa::TensorDataType::f32,
                          .rows = 8,
                          .columns = 32,
                          .box_rows = 8,
                          .box_columns = 32,
                          .swizzle = isa::Swizzle::b128})}});
}

// A (64 x 64) and the transpose of B (8 x 64) below it, f16; the first 16 columns are multiplied.
Pair swizzle_differs() {
  return ptx_pair({.name = "swizzle-of-map-and-descriptor-differ",
                   .entry = "TM-04",
                   .title = "the tile is written with a swizzle of 128 bytes, the matrix descriptor says 64",
                   .code = "PLD4304",
                   .text = program({{"in"}, {"out"}, {"map", true}}, R"(
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %a0, tile;
  mov.u32 %r1, 0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 9216;
  @%leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%a0], [%map, {%r1, %r1}], [full];  // @1
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  shr.u32 %r2, %a0, 4;
  cvt.u64.u32 %rd1, %r2;
  or.b64 %rd1, %rd1, 0x4000004000010000;  //! good
  or.b64 %rd1, %rd1, 0x8000004000010000;  //! broken
  add.u64 %rd2, %rd1, 512;
  setp.eq.u32 %p4, %r1, 0;
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @2
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  mul.wide.u32 %rd0, %t, 16;
  add.u64 %rd0, %out, %rd0;
  st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};)",
                                   ".shared .align 1024 .b8 tile[9216];\n.shared .align 8 .b64 full;\n"),
                   .buffers = {small_numbers("in", pl::f16, 72 * 64), result("out", pl::f32, 512)},
                   .params = {PointerValue{0}, PointerValue{1},
                              map_of({.buffer = 0,
                                      .type = isa::TensorDataType::f16,
                                      .rows = 72,
                                      .columns = 64,
                                      .box_rows = 72,
                                      .box_columns = 64,
                                      .swizzle = isa::Swizzle::b128})}});
}

}  // namespace

std::vector<Pair> tensor_map_pairs() {
  return {illegal_box(),      fill_consumed(),    swizzle_differs(),
          tile_off_pattern(), edited_in_flight(), not_acquired()};
}

}  // namespace palladion::zoo
