// UN: memory that nobody wrote, that is not there, that is somebody else's; plain races in shared memory.
#include "zoo/groups.h"
#include "zoo/program.h"

namespace palladion::zoo {
namespace {

PtxPair use(std::string name, std::string entry, std::string title, std::string code, std::string_view body,
            std::string_view shared = "") {
  return {.name = std::move(name),
          .entry = std::move(entry),
          .title = std::move(title),
          .code = std::move(code),
          .text = program({{"in"}, {"out"}}, body, shared),
          .buffers = {counting("in", pl::f32, 128), result("out", pl::f32, 128)},
          .params = pointers(2)};
}

// --- races between warps ----------------------------------------------------------------------------
Pair read_after_write() {
  return ptx_pair(use("smem-race-read-after-write", "SM-01",
                      "a warp reads what another one writes, without a barrier between", "PLD4001", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%a1], %f0;  // @1
  bar.sync 0;  //! good
  xor.b32 %r0, %t, 32;
  mad.lo.u32 %a2, %r0, 4, %a0;
  ld.shared.f32 %f1, [%a2];  // @2
  add.f32 %f0, %f0, %f1;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                      ".shared .align 128 .b8 tile[512];\n"));
}

Pair write_after_read() {
  return ptx_pair(use("smem-race-write-after-read", "SM-02",
                      "a warp overwrites what another one may still have to read", "PLD4001", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%a1], %f0;
  bar.sync 0;
  xor.b32 %r0, %t, 32;
  mad.lo.u32 %a2, %r0, 4, %a0;
  ld.shared.f32 %f1, [%a2];  // @1
  bar.sync 0;  //! good
  add.f32 %f1, %f0, %f1;
  st.shared.f32 [%a1], %f1;  // @2
  bar.sync 0;
  ld.shared.f32 %f2, [%a2];
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f2;)",
                      ".shared .align 128 .b8 tile[512];\n"));
}

Pair write_after_write() {
  return ptx_pair(use("smem-race-write-after-write", "SM-03",
                      "the last warp overwrites the first one's numbers without waiting for it", "PLD4001",
                      R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %lane, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  setp.eq.u32 %p0, %warp, 0;
  setp.eq.u32 %p1, %warp, 3;
  @%p0 st.shared.f32 [%a1], %f0;  // @1
  bar.sync 0;  //! good
  @%p1 st.shared.f32 [%a1], %f0;  // @2
  bar.sync 0;
  ld.shared.f32 %f1, [%a1];
  add.f32 %f0, %f0, %f1;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                      ".shared .align 128 .b8 tile[512];\n"));
}

// --- never written ----------------------------------------------------------------------------------
Pair padding_not_written() {
  return ptx_pair(use("smem-padding-not-written", "UN-01",
                      "only the valid rows are written to the tile, all rows are read", "PLD6101", R"(
  mov.u32 %a0, tile;
  mad.lo.u32 %a1, %t, 4, %a0;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  setp.lt.u32 %p0, %t, 100;
  mov.f32 %f0, 0f00000000;
  @%p0 ld.global.f32 %f0, [%rd1];
  st.shared.f32 [%a1], %f0;       //! good
  @%p0 st.shared.f32 [%a1], %f0;  //! broken
  bar.sync 0;
  xor.b32 %r0, %t, 127;
  mad.lo.u32 %a2, %r0, 4, %a0;
  ld.shared.f32 %f1, [%a2];  // @1
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f1;)",
                      ".shared .align 128 .b8 tile[512];\n"));
}

Pair workspace_not_cleared() {
  PtxPair pair = use("gmem-workspace-not-cleared", "UN-03",
                     "numbers are added to a result that nobody has set to zero", "PLD6103", R"(
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.u32 %r1, [%rd1];
  and.b32 %r0, %t, 31;
  mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd2, %out, %rd2;
  setp.eq.u32 %p0, %warp, 0;     //! good
  @%p0 st.global.u32 [%rd2], 0;  //! good
  bar.sync 0;
  red.relaxed.gpu.global.add.u32 [%rd2], %r1;  // @1)");
  pair.buffers = {counting("in", pl::u32, 128), result("out", pl::u32, 32)};
  return ptx_pair(std::move(pair));
}

// --- not there, or another's ------------------------------------------------------------------------
Pair neighbour_array() {
  return ptx_pair(use("smem-array-overrun-into-neighbour", "UN-04",
                      "an index beyond one shared array lands in the next one", "PLD6104", R"(
  mov.u32 %a0, first;
  mov.u32 %a1, second;
  mad.lo.u32 %a2, %lane, 4, %a0;
  mad.lo.u32 %a3, %lane, 4, %a1;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  setp.ne.u32 %p0, %warp, 0;
  @%p0 bra FILLED;
  st.shared.f32 [%a2], %f0;
  st.shared.f32 [%a3], 0f3F800000;
FILLED:
  bar.sync 0;
  setp.eq.u32 %p1, %t, 64;
  @%p1 st.shared.f32 [first+124], 0fBF800000;          //! good
  @%p1 st.shared.f32 [first+128], 0fBF800000;  // @1   //! broken
  bar.sync 0;
  ld.shared.f32 %f1, [%a2];
  ld.shared.f32 %f2, [%a3];
  fma.rn.f32 %f0, %f0, %f2, %f1;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                      ".shared .align 128 .b8 first[128];\n.shared .align 128 .b8 second[128];\n"));
}

Pair beyond_shared() {
  PtxPair pair = use("smem-index-out-of-bounds", "UN-04", "an index beyond all of the CTA's shared memory",
                     "PLD3020", R"(
  mov.u32 %a0, tile;
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];
  mad.lo.u32 %a1, %t, 4, %a0;     //! good
  mad.lo.u32 %a1, %t, 4096, %a0;  //! broken
  st.shared.f32 [%a1], %f0;  // @1
  bar.sync 0;
  ld.shared.f32 %f1, [%a1];
  add.f32 %f0, %f0, %f1;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;)",
                     ".shared .align 128 .b8 tile[512];\n");
  pair.on_device = OnDevice::faults;
  return ptx_pair(std::move(pair));
}

Pair beyond_global() {
  PtxPair pair = use("gmem-index-out-of-bounds", "UN-04",
                     "the grid has more threads than the array has elements, and none asks", "PLD3022", R"(
  mad.lo.u32 %r0, %cta, 128, %t;
  mul.wide.u32 %rd0, %r0, 4;
  setp.ge.u32 %p0, %r0, 128;  //! good
  @%p0 bra DONE;              //! good
  add.u64 %rd1, %in, %rd0;
  ld.global.f32 %f0, [%rd1];  // @1
  fma.rn.f32 %f0, %f0, 0f40000000, 0f3F800000;
  add.u64 %rd1, %out, %rd0;
  st.global.f32 [%rd1], %f0;
DONE:)");
  pair.grid = {2, 1, 1};
  pair.on_device = OnDevice::faults;
  return ptx_pair(std::move(pair));
}

Pair map_in_shared_memory() {
  return ptx_pair(
      {.name = "tensor-map-in-shared-memory",
       .entry = "UN-06",
       .title = "a copy of the tensor map in shared memory is used: TMA cannot read it there",
       .code = "PLD3091",
       .on_device = OnDevice::faults,
       .text = program({{"in"}, {"out"}, {"map", true}}, R"(
  setp.ne.u32 %p0, %warp, 0;
  @%p0 bra COPIED;
  mul.wide.u32 %rd0, %lane, 4;
  add.u64 %rd1, %map, %rd0;
  ld.b32 %r0, [%rd1];
  mov.u32 %a0, local_map;
  mad.lo.u32 %a0, %lane, 4, %a0;
  st.shared.b32 [%a0], %r0;
COPIED:
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u32 %r1, 0;
  mov.b64 %rd2, %map;        //! good
  mov.u64 %rd2, local_map;   //! broken
  cvta.shared.u64 %rd2, %rd2;  //! broken
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
  @%leader cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd2, {%r1, %r1}], [full];  // @1
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
  mov.u32 %a1, tile;
  mad.lo.u32 %a1, %t, 4, %a1;
  ld.shared.f32 %f0, [%a1];
  mul.wide.u32 %rd3, %t, 4;
  add.u64 %rd3, %out, %rd3;
  st.global.f32 [%rd3], %f0;)",
                       ".shared .align 128 .b8 tile[512];\n.shared .align 128 .b8 local_map[128];\n"
                       ".shared .align 8 .b64 full;\n"),
       .buffers = {counting("in", pl::f32, 128), result("out", pl::f32, 128)},
       .params = {PointerValue{0}, PointerValue{1},
                  map_of({.buffer = 0,
                          .type = isa::TensorDataType::f32,
                          .rows = 4,
                          .columns = 32,
                          .box_rows = 4,
                          .box_columns = 32})}});
}

}  // namespace

std::vector<Pair> memory_use_pairs() {
  return {padding_not_written(), workspace_not_cleared(), neighbour_array(),
          beyond_shared(),       beyond_global(),         map_in_shared_memory(),
          read_after_write(),    write_after_read(),      write_after_write()};
}

}  // namespace palladion::zoo
