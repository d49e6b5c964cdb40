// Transaction counts: bytes that an mbarrier is told to expect and bytes that copies deliver.
#include "zoo/groups.h"
#include "zoo/ptx_text.h"

namespace palladion::zoo {
namespace {

constexpr std::string_view expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;",
                           expect_two = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;",
                           wait = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;",
                           copy =
                               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "
                               "[%src], 256, [full];";

Pair loads_a_tile(PtxPair pair) {
  pair.block = {64, 1, 1};
  return floats_pair(std::move(pair), 64, 64);
}

Pair nothing_expected() {
  return loads_a_tile(
      {.name = "tx-nothing-expected",
       .entry = "TX-01",
       .title = "a producer arrives without announcing bytes: the phase completes before the copy",
       .code = "PLD4201",
       .on_device = OnDevice::faults,
       .text = Varied(load_text())
                   .breaks(expect, "mbarrier.arrive.shared::cta.b64 _, [full];  // @1")
                   .mark(copy, 2)});
}

Pair never_arrives() {
  return loads_a_tile(
      {.name = "tx-expected-without-arrival",
       .entry = "TX-02",
       .title = "a producer announces bytes and does not arrive",
       .code = "PLD4202",
       .on_device = OnDevice::hangs,
       .text = Varied(load_text())
                   .breaks(expect, "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 256;")
                   .mark(wait, 1)});
}

Pair too_many_expected() {
  return loads_a_tile(
      {.name = "tx-too-many-expected",
       .entry = "TX-03",
       .title = "more bytes are announced than the copy delivers",
       .code = "PLD4203",
       .on_device = OnDevice::hangs,
       .text = Varied(load_text())
                   .breaks(expect, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;  // @2")
                   .mark(wait, 1)});
}

Pair operand_forgotten() {
  return floats_pair(
      {.name = "tx-operand-forgotten",
       .entry = "TX-03",
       .title = "two copies signal one mbarrier, the bytes of one are announced",
       .code = "PLD4203",
       .on_device = OnDevice::faults,
       .also = "PLD4201",
       .text = Varied(two_loads_text())
                   .breaks(expect_two, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;  // @1"),
       .block = {64, 1, 1}},
      128, 64);
}

// Twenty rows of 16 floats, of which the box takes rows 8 to 23: the last four are outside.
PtxPair tail_tile() {
  isa::TensorMap map;
  map.data_type = isa::TensorDataType::f32;
  map.rank = 2;
  map.dims = {16, 20};
  map.strides = {64};
  map.box = {16, 16};
  PtxPair pair;
  pair.params = {TensorMapValue{0, map}, PointerValue{1}};
  pair.buffers = {
      {"src", Role::in, {pl::f32, {20, 16}}, filled({pl::f32, {20, 16}}, {.kind = Fill::Kind::iota})},
      {"dst", Role::out, {pl::f32, {16, 16}}, {}}};
  pair.block = {256, 1, 1};
  return pair;
}

Pair valid_rows_only() {
  PtxPair pair = tail_tile();
  pair.name = "tx-valid-rows-only";
  pair.entry = "TX-04";
  pair.title = "at the tensor's edge only the bytes inside are announced; a copy always counts its box";
  pair.code = "PLD4204";
  pair.on_device = OnDevice::hangs;
  pair.text = R"(.version 8.7
.target sm_90a
.address_size 64
.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[256];
.visible .entry zoo(.param .align 64 .b8 map[128], .param .u64 dst)
{
  .reg .pred %p<3>;
  .reg .b32 %r<4>, %t;
  .reg .b64 %rd<4>, %dst;
  .reg .f32 %f<2>;
  ld.param.u64 %dst, [dst];
  cvta.to.global.u64 %dst, %dst;
  mov.b64 %rd0, map;
  cvta.param.u64 %rd0, %rd0;
  mov.u32 %t, %tid.x;
  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  @%p0 bra until_full;
  mov.u32 %r0, 0;
  mov.u32 %r1, 8;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;  //! good
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 768;  // @1  //! broken
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd0, {%r0, %r1}], [full];  // @2
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  mov.f32 %f0, 0f00000000;
  setp.lt.u32 %p2, %t, 192;
  @%p2 ld.shared.f32 %f0, [%r0];
  mul.wide.u32 %rd1, %t, 4;
  add.u64 %rd1, %rd1, %dst;
  st.global.f32 [%rd1], %f0;
  ret;
}
)";
  return ptx_pair(std::move(pair));
}

// Warp 1 announces and loads, warp 0 arrives; between the two there should be a barrier.
Pair expected_after_arrival() {
  return floats_pair(
      {.name = "tx-expected-after-arrival",
       .entry = "TX-05",
       .title = "one thread announces bytes, another arrives; nothing puts the first before the second",
       .code = "PLD4205",
       .on_device = OnDevice::faults,
       .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[64];)",
                          R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
ready:
  bar.sync 0;
  setp.eq.u32 %p2, %warp, 1;
  setp.ne.u32 %p3, %lane, 0;
  @!%p2 bra arriver;
  @%p3 bra announced;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [full], 256;  // @1
announced:
  barrier.sync 1, 64;  //! good
  @%p3 bra until_full;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%src], 256, [full];
  bra until_full;
arriver:
  barrier.sync 1, 64;  //! good
  @!%p3 mbarrier.arrive.shared::cta.b64 _, [full];  // @2
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %rd0, %dst;
  st.global.f32 [%rd0], %f0;)"),
       .block = {64, 1, 1}},
      64, 64);
}

Pair overflow() {
  return loads_a_tile(
      {.name = "tx-count-overflows",
       .entry = "TX-06",
       .title = "more bytes are announced in one phase than the transaction count holds",
       .code = "PLD3044",
       .on_device = OnDevice::hangs,
       .text = Varied(load_text())
                   .breaks(expect, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1048576;")
                   .mark("mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1048576;", 1)});
}

// CTA 0 loads a tile for both CTAs.
constexpr const char* multicast_body = R"(  .reg .b32 %rank;
  .reg .b16 %both;
  mov.u32 %rank, %cluster_ctarank;
  setp.eq.u32 %p3, %rank, 0;
  setp.eq.u32 %p0, %t, 0;
  @!%p0 bra meet;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
meet:
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  mov.u16 %both, 3;
  and.pred %p2, %p0, %p3;
  @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;  //! good
  @%p2 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;  //! broken
  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%src], 256, [full], %both;  // @2
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;  // @1
  @!%p1 bra until_full;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];
  mad.lo.u32 %r1, %rank, 64, %t;
  mul.wide.u32 %rd0, %r1, 4;
  add.u64 %rd0, %rd0, %dst;
  st.global.f32 [%rd0], %f0;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;)";

Pair multicast_expected_by_issuer() {
  return floats_pair(
      {.name = "tx-multicast-expected-by-issuer",
       .entry = "TX-07",
       .title = "a multicast signals every CTA's mbarrier; only the issuer's expects its bytes",
       .code = "PLD4207",
       .on_device = OnDevice::hangs,
       .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[64];)",
                          multicast_body),
       .grid = {2, 1, 1},
       .block = {64, 1, 1},
       .cluster = {2, 1, 1}},
      64, 128);
}

// In every warp one lane is elected; only one of them should copy.
Pair copied_once_a_warp() {
  return floats_pair({.name = "tx-copied-once-a-warp",
                      .entry = "TX-08",
                      .title = "every warp's elected lane issues the copy that one thread should",
                      .code = "PLD4208",
                      .on_device = OnDevice::hangs,
                      .text = entry_text(R"(.shared .align 8 .b64 full;
.shared .align 128 .f32 tile[128];)",
                                         R"(  setp.ne.u32 %p0, %t, 0;
  @%p0 bra ready;
  mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 512;
ready:
  bar.sync 0;
  elect.sync _|%p2, 0xffffffff;
  setp.eq.and.u32 %p2, %warp, 0, %p2;  //! good
  @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%src], 512, [full];  // @1
until_full:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra until_full;
  mov.u32 %r0, tile;
  mad.lo.u32 %r0, %t, 4, %r0;
  ld.shared.f32 %f0, [%r0];
  mul.wide.u32 %rd0, %t, 4;
  add.u64 %rd0, %rd0, %dst;
  st.global.f32 [%rd0], %f0;)"),
                      .block = {128, 1, 1}},
                     128, 128);
}

}  // namespace

std::vector<Pair> transaction_pairs() {
  return {nothing_expected(),  never_arrives(),          too_many_expected(), operand_forgotten(),
          valid_rows_only(),   expected_after_arrival(), overflow(),          multicast_expected_by_issuer(),
          copied_once_a_warp()};
}

}  // namespace palladion::zoo
