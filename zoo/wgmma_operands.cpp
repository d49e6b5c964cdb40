#include "zoo/program.h"
#include "zoo/wgmma.h"

namespace palladion::zoo {
namespace {

// Descriptors without swizzle: core matrices of 8 rows of 16 bytes, 128 bytes apart along K, 256 along M
// and N.
constexpr std::string_view descriptors = R"(
  mov.u32 %r1, 0;
  setp.eq.u32 %p4, %r1, 0;
  mov.u32 %a0, tile;
  shr.u32 %r2, %a0, 4;
  cvt.u64.u32 %rd1, %r2;
  or.b64 %rd1, %rd1, 0x1000080000;
  add.u64 %rd2, %rd1, 128;
  add.u64 %rd3, %rd1, 144;
)";

constexpr std::string_view fetch = R"(
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  @%leader mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 2560;
  @%leader cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 2560, [full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra WAIT;
)";

constexpr std::string_view store = R"(
  mul.wide.u32 %rd0, %t, 16;
  add.u64 %rd0, %out, %rd0;
  st.global.v4.f32 [%rd0], {%f0, %f1, %f2, %f3};)";

// Behind the tile lies memory that nobody writes.
constexpr std::string_view shared =
    ".shared .align 128 .b8 tile[2560];\n.shared .align 128 .b8 behind[4096];\n.shared .align 8 .b64 full;\n";

std::vector<Buffer> operands(int64_t numbers) {
  return {small_numbers("in", pl::f16, numbers), result("out", pl::f32, 512),
          small_numbers("bias", pl::f32, 512)};
}

Pair no_proxy_fence() {
  return ptx_pair({.name = "wgmma-operand-no-proxy-fence",
                   .entry = "WG-07",
                   .title = "threads write the operand, then wgmma reads it without fence.proxy.async",
                   .code = "PLD4407",
                   .text = program({{"in"}, {"out"}, {"bias"}}, std::string(descriptors) + R"(
  mad.lo.u32 %a1, %t, 4, %a0;
  mul.wide.u32 %rd4, %t, 4;
  add.u64 %rd4, %in, %rd4;
  mov.u32 %r3, 0;
NEXT:
  ld.global.b32 %r4, [%rd4];
  add.rn.f16x2 %r4, %r4, %r4;
  st.shared.b32 [%a1], %r4;  // @1
  add.u32 %a1, %a1, 512;
  add.u64 %rd4, %rd4, 512;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, 5;
  @%p1 bra NEXT;
  fence.proxy.async.shared::cta;  //! good
  bar.sync 0;
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @2
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;)" + std::string(store),
                                   ".shared .align 128 .b8 tile[2560];\n"),
                   .buffers = operands(1280),
                   .params = pointers(3)});
}

// Warp 4 fetches two sets of tiles into one buffer.
Pair released_while_read() {
  return ptx_pair({.name = "wgmma-operand-released-too-early",
                   .entry = "WG-06",
                   .title = "the buffer is given back to the producer while the wgmma may still read it",
                   .code = "PLD4406",
                   .text = program({{"in"}, {"out"}, {"bias"}}, std::string(descriptors) + R"(
  setp.eq.u32 %p0, %t, 128;
  @%leader mbarrier.init.shared::cta.b64 [full], 1;
  @%leader mbarrier.init.shared::cta.b64 [full+8], 1;
  @%leader mbarrier.init.shared::cta.b64 [empty], 128;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  setp.ge.u32 %p2, %t, 128;
  @!%p2 bra CONSUME;
  @!%p0 bra DONE;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 2560;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%in], 2560, [full];
EMPTY:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [empty], 0;
  @!%p1 bra EMPTY;
  add.u64 %rd4, %in, 2560;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full+8], 2560;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%rd4], 2560, [full+8];  // @2
  bra DONE;
CONSUME:
  mov.f32 %f0, 0f00000000;
  mov.f32 %f1, 0f00000000;
  mov.f32 %f2, 0f00000000;
  mov.f32 %f3, 0f00000000;
FIRST:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full], 0;
  @!%p1 bra FIRST;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p4, 1, 1, 0, 0;  // @1
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;  //! good
  mbarrier.arrive.shared::cta.b64 _, [empty];
SECOND:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [full+8], 0;
  @!%p1 bra SECOND;
  wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd3, %p4, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;)" + std::string(store) + "\nDONE:",
                                   ".shared .align 128 .b8 tile[2560];\n.shared .align 8 .b64 full[2];\n"
                                   ".shared .align 8 .b64 empty;\n"),
                   .block = {160, 1, 1},
                   .buffers = operands(2560),
                   .params = pointers(3)});
}

}  // namespace

Pair wgmma_pair(std::string name, std::string entry, std::string title, std::string code,
                std::string_view body, OnDevice on_device) {
  return ptx_pair(
      {.name = std::move(name),
       .entry = std::move(entry),
       .title = std::move(title),
       .code = std::move(code),
       .on_device = on_device,
       .text = program({{"in"}, {"out"}, {"bias"}},
                       std::string(descriptors) + std::string(fetch) + std::string(body) + std::string(store),
                       shared),
       .buffers = operands(1280),
       .params = pointers(3)});
}

std::vector<Pair> wgmma_operand_pairs() { return {released_while_read(), no_proxy_fence()}; }

}  // namespace palladion::zoo
