// TMA, one box at a time: how long it takes by the number of its rows and by how far apart they lie.
#include <fmt/format.h>

#include <algorithm>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

struct Box {
  int rows = 128;  // of 128 bytes
  uint64_t pitch = 8192;
  bool hbm = false, promoted = false;
};

// Each box lies below the one before it: no two touch the same 1 KiB, unless rows are closer than that. What
// L2 holds, eight boxes, is read again and again.
Case latency(const Box& b) {
  constexpr uint32_t shorter = 16, longer = 80;
  KernelText k;
  k.prologue =
      "setp.eq.u32 %p12, %me, 0;\n@%p12 mbarrier.init.shared::cta.b64 [%s], 1;\n"
      "fence.mbarrier_init.release.cluster;\n";
  const std::string step = fill(
      "<which>mul.lo.u32 %x15, %x14, <rows>; mov.u32 %x16, 0;\n"
      "@%p13 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], <bytes>;\n"
      "@%p13 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%s+1024], "
      "[%map, {%x16, %x15}], [%s];\n"
      "and.b32 %x17, %i, 1;\n$full: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%s], %x17;\n"
      "@!%p14 bra $full;\n",
      {{"which", b.hbm ? "mov.u32 %x14, %i; " : "and.b32 %x14, %i, 7; "},
       {"rows", std::to_string(b.rows)},
       {"bytes", std::to_string(128 * b.rows)}});
  k.parts = {{.before = "setp.eq.u32 %p13, %lane, 0;", .body = step}};
  Case c;
  c.name = "tma.rows";
  c.parameters = fmt::format("rows={} pitch={} {}{}", b.rows, b.pitch, b.hbm ? "HBM" : "L2",
                             b.promoted ? " promoted" : "");
  c.unit = "cycles/copy";
  c.text = text(k);
  c.shared_bytes = uint32_t(1024 + 128 * b.rows);
  c.shorter = shorter;
  c.longer = longer;
  c.cold = b.hbm;
  isa::TensorMap m;
  m.data_type = isa::TensorDataType::f16;
  m.rank = 2;
  m.dims = {b.pitch / 2, uint64_t(b.rows) * (b.hbm ? longer : 8)};
  m.strides = {b.pitch};
  m.box = {64, uint32_t(b.rows)};
  m.swizzle = isa::Swizzle::b128;
  m.l2_promotion = b.promoted ? isa::L2Promotion::b256 : isa::L2Promotion::none;
  c.map = m;
  c.data.bytes = std::max<uint64_t>(8192, m.dims[1] * b.pitch);
  return c;
}

}  // namespace

std::vector<Case> row_cases() {
  std::vector<Case> out;
  for (const uint64_t pitch : {128, 256, 512, 1024, 2048, 4096, 8192, 8320})
    for (const int rows : {1, 4, 16, 64, 128})
      out.push_back(latency({.rows = rows, .pitch = pitch, .hbm = true}));
  for (const uint64_t pitch : {256, 1024, 4096, 8192})
    for (const int rows : {1, 16, 128})
      out.push_back(latency({.rows = rows, .pitch = pitch, .hbm = true, .promoted = true}));
  for (const uint64_t pitch : {128, 1024, 4096, 8192})
    for (const int rows : {16, 128}) out.push_back(latency({.rows = rows, .pitch = pitch}));
  return out;
}

}  // namespace palladion::bench
