#pragma once
// A kernel of one thread that fills a shared tile from `out` + 16, performs one TMA copy and writes the tile
// back: the device's own answer to what a tensor map means.
#include <string>

#include <fmt/format.h>

#include "isa/formats/tensor_map.h"

namespace palladion::cuda::native {

inline constexpr uint32_t probe_tile_bytes = 32 * 1024;
inline constexpr uint8_t probe_poison = 0xCD;

enum class ProbeKind { load, store };

inline std::string tensor_copy_probe(int rank, isa::TensorMapMode mode, ProbeKind kind) {
  std::string coordinates, taps;
  for (int i = 0; i < rank; ++i) coordinates += fmt::format("{}%c{}", i ? ", " : "", i);
  for (int i = 0; i + 2 < rank; ++i) taps += fmt::format("{}%t{}", i ? ", " : "", i);
  const bool tiled = mode == isa::TensorMapMode::tiled;
  std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n";
  text +=
      ".visible .entry probe(.param .align 64 .b8 map[128], .param .u64 out, .param .u32 transaction,\n"
      "  .param .u32 dump, .param .align 4 .b8 where[20], .param .align 2 .b8 taps[6]) {\n"
      "  .reg .b64 %rd<6>; .reg .b32 %r<12>; .reg .s32 %c<5>; .reg .b16 %t<3>; .reg .pred %p<3>;\n"
      "  .shared .align 1024 .b8 tile[32768];\n"
      "  .shared .align 8 .b64 bar;\n"
      "  mov.b64 %rd0, map;\n  cvta.param.u64 %rd0, %rd0;\n"
      "  ld.param.u64 %rd1, [out];\n  cvta.to.global.u64 %rd1, %rd1;\n"
      "  ld.param.u32 %r0, [transaction];\n  ld.param.u32 %r1, [dump];\n";
  for (int i = 0; i < 5; ++i) text += fmt::format("  ld.param.s32 %c{}, [where+{}];\n", i, 4 * i);
  for (int i = 0; i < 3; ++i) text += fmt::format("  ld.param.u16 %t{}, [taps+{}];\n", i, 2 * i);
  text +=
      "  mov.u32 %r2, tile;\n  mov.u32 %r3, bar;\n  mov.u32 %r4, 0;\n"
      "FILL:\n  cvt.u64.u32 %rd3, %r4;\n  add.u64 %rd4, %rd1, %rd3;\n  ld.global.u32 %r8, [%rd4+16];\n"
      "  add.u32 %r5, %r2, %r4;\n  st.shared.u32 [%r5], %r8;\n  add.u32 %r4, %r4, 4;\n"
      "  setp.lt.u32 %p0, %r4, %r1;\n  @%p0 bra FILL;\n"
      "  mbarrier.init.shared::cta.b64 [%r3], 1;\n"
      "  fence.proxy.async.shared::cta;\n";
  if (kind == ProbeKind::load) {
    text += fmt::format(
        "  mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [%r3], %r0;\n"
        "  cp.async.bulk.tensor.{}d.shared::cluster.global.{}.mbarrier::complete_tx::bytes [%r2], [%rd0, "
        "{{{}}}], "
        "[%r3]{};\n",
        rank, tiled ? "tile" : "im2col", coordinates, tiled ? "" : fmt::format(", {{{}}}", taps));
    text +=
        "  mov.u32 %r6, 0;\n"
        "WAIT:\n  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0;\n  @%p1 bra DONE;\n"
        "  add.u32 %r6, %r6, 1;\n  setp.lt.u32 %p2, %r6, 1000;\n  @%p2 bra WAIT;\n";
  } else {
    text += fmt::format(
        "  cp.async.bulk.tensor.{}d.global.shared::cta.{}.bulk_group [%rd0, {{{}}}], [%r2];\n"
        "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n  setp.eq.u32 %p1, %r2, %r2;\n",
        rank, tiled ? "tile" : "im2col_no_offs", coordinates);
  }
  text +=
      "DONE:\n  selp.u32 %r7, 1, 0, %p1;\n  st.global.u32 [%rd1], %r7;\n  mov.u32 %r4, 0;\n"
      "COPY:\n  add.u32 %r5, %r2, %r4;\n  ld.shared.u32 %r8, [%r5];\n  cvt.u64.u32 %rd3, %r4;\n"
      "  add.u64 %rd4, %rd1, %rd3;\n  st.global.u32 [%rd4+16], %r8;\n  add.u32 %r4, %r4, 4;\n"
      "  setp.lt.u32 %p0, %r4, %r1;\n  @%p0 bra COPY;\n  ret;\n}\n";
  return text;
}

}  // namespace palladion::cuda::native
