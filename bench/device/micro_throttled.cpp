// L2 beside tensor cores at work, which lower the SM clock but not L2's.
#include <fmt/format.h>

#include "bench/device/micro.h"
#include "bench/device/micro_wgmma.h"

namespace palladion::bench {
namespace {

constexpr uint64_t cta_bytes = 64 << 10;
constexpr int multipliers = 8;  // warps

// A warp of each SM follows a chain of its own 64 KiB: cycles a load.
Part chase() {
  return {.before = fmt::format("mul.wide.u32 %q2, %cta, {}; add.u64 %q2, %q2, %data; mov.u64 %q3, 0;\n",
                                cta_bytes),
          .body = repeat("add.u64 %q4, %q2, %q3; ld.global.cg.u64 %q3, [%q4]; and.b64 %q3, %q3, 65408;", 8),
          .after = "cvt.u32.u64 %x96, %q3;\n",
          .use = {"%x96"}};
}

// Eight warps of each SM read its 64 KiB again and again.
Part stream() {
  std::string body = "and.b32 %x90, %i, 1; mul.wide.u32 %q3, %x90, 4096; add.u64 %q3, %q3, %q2;\n";
  for (int i = 0; i < 8; ++i)
    body += fmt::format("ld.global.cg.v4.u32 {{%x{}, %x{}, %x{}, %x{}}}, [%q3+{}];\n", 20 + 4 * i, 21 + 4 * i,
                        22 + 4 * i, 23 + 4 * i, 512 * i);
  for (int i = 20; i < 52; ++i) body += fmt::format("xor.b32 %x96, %x96, %x{};\n", i);
  return {.warps = 8,
          .before =
              fmt::format("mul.wide.u32 %q2, %cta, {}; add.u64 %q2, %q2, %data; sub.u32 %x90, %warp, {}; "
                          "mul.wide.u32 %q3, %x90, 8192; add.u64 %q2, %q2, %q3; mul.wide.u32 %q3, %lane, 16; "
                          "add.u64 %q2, %q2, %q3; mov.u32 %x96, 0;\n",
                          cta_bytes, multipliers),
          .body = body,
          .use = {"%x96"}};
}

// With `works` false the multipliers sleep.
Case beside(const char* name, Part part, double operations, bool works) {
  const WgmmaShape shape{.n = 128};
  constexpr int count = 16;
  KernelText k = wgmma_kernel(shape, wgmma_chain(shape, count) + "wgmma.wait_group.sync.aligned 1;\n", 2);
  if (!works) k.parts.front().body = "nanosleep.u32 2000;\n";
  k.directives = ".maxnreg 112";
  k.chip_wide = true;
  part.first_warp = multipliers;
  part.background = true;
  const int warps = multipliers + part.warps;
  k.parts.push_back(std::move(part));
  Case c;
  c.name = name;
  c.parameters = works ? "beside wgmma ctas=132" : "beside sleepers ctas=132";
  c.unit = "cycles/operation";
  c.text = text(k);
  c.grid = {132, 1, 1};
  c.block = {uint32_t(32 * warps), 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.bytes = 132 * cta_bytes;
  c.operations = operations;
  c.shorter = 0;
  c.longer = 400;
  c.needs_clock = true;
  // The mean over CTAs of their first background warp.
  c.measure = [warps](const Outcome& o) {
    double sum = 0;
    for (size_t w = multipliers; w < o.stamps.size(); w += size_t(warps))
      sum += double(o.stamps[w].end - o.stamps[w].start) / double(o.stamps[w].extra0);
    return sum * double(warps) / double(o.stamps.size());
  };
  return c;
}

}  // namespace

std::vector<Case> throttled_cases() {
  std::vector<Case> out;
  for (const bool works : {false, true})
    for (const Case& c : {beside("L2.latency", chase(), 8, works), beside("L2.read", stream(), 8, works)}) {
      out.push_back(c);
      out.push_back(clock_during(c, "clock." + c.name));
    }
  return out;
}

}  // namespace palladion::bench
