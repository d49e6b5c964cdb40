// Fences of global memory: right behind stores, and long after an access.
#include <fmt/format.h>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

// `count` stores of 128 (or 512) bytes of a warp, then a fence; `warps` of them, with the fence behind a
// barrier by the first warp alone.
Case fence_after(const char* store, int width, int count, int warps,
                 const char* fence = "fence.acq_rel.gpu;") {
  Part part;
  part.warps = warps;
  part.before = fmt::format(
      "mul.lo.u32 %x0, %lane, {}; mad.lo.u32 %x0, %warp, {}, %x0; cvt.u64.u32 %q0, %x0; add.u64 %q0, %q0, "
      "%data; "
      "setp.eq.u32 %p5, %warp, 0;\n",
      width, 32 * width * count);
  for (int i = 0; i < count; ++i) part.body += fill(store, {{"o", std::to_string(32 * width * i)}}) + "\n";
  if (warps > 1)
    part.body += std::string("bar.sync 0;\n@!%p5 bra $other;\n") + fence + "\n$other: bar.sync 0;\n";
  else
    part.body += std::string(fence) + "\n";
  Case c;
  c.name = "global.fence.after";
  c.parameters = fmt::format("stores={} bytes={} warps={} {}", count, width, warps, fence);
  c.unit = "cycles";
  c.text = text({.parts = {part}});
  c.block = {uint32_t(32 * warps), 1, 1};
  c.data.bytes = uint64_t(32 * width) * uint64_t(count) * uint64_t(warps) + 4096;
  return c;
}

// A fence some time after an access, `links` multiplications of a chain: what it costs when the access has
// long been done.
Case fence_later(const char* name, const char* access, bool fences, int links = 300) {
  Part part;
  part.before =
      "mul.wide.u32 %q0, %me, 8; add.u64 %q0, %q0, %data; add.u64 %q0, %q0, 4096; mov.u32 %x0, %c0; mov.u64 "
      "%q1, "
      "0;\n";
  part.body = std::string(access) + "\n" + repeat("mad.lo.s32 %x0, %x0, %c1, %c2;", links) +
              (fences ? "fence.acq_rel.gpu;\n" : "");
  part.use = {"%x0", "%x1"};
  Case c;
  c.name = "global.fence.later";
  c.parameters =
      std::string(name) + (links == 300 ? "" : fmt::format(" links={}", links)) + (fences ? "" : " none");
  c.unit = "cycles";
  c.text = text({.parts = {part}});
  c.data = {.kind = Data::Kind::zeros, .bytes = 16384};
  return c;
}

void add_fences(std::vector<Case>& out) {
  const char* const one = "st.global.u32 [%q0+<o>], %c0;";
  const char* const four = "st.global.v4.u32 [%q0+<o>], {%c0, %c1, %c2, %c3};";
  const char* const red = "red.global.add.u32 [%q0+<o>], %c0;";
  for (const int count : {1, 8, 64}) {
    out.push_back(fence_after(one, 4, count, 1));
    out.push_back(fence_after(four, 16, count, 1));
  }
  for (const int count : {1, 8, 32}) out.push_back(fence_after(four, 16, count, 4));
  out.push_back(fence_after(four, 16, 8, 16));
  out.push_back(fence_after(one, 4, 8, 1, "fence.acq_rel.cluster;"));
  out.push_back(fence_after(one, 4, 8, 1, "fence.sc.gpu;"));
  out.push_back(fence_after(one, 4, 8, 1, "fence.proxy.async;"));
  Case reds = fence_after(red, 4, 8, 1);
  reds.parameters += " red";
  out.push_back(std::move(reds));
  Case bulk = fence_after("", 0, 1, 1);
  Part part;
  part.before = "setp.eq.u32 %p5, %lane, 0; add.u64 %q0, %data, 8192;\n";
  part.body =
      "@%p5 cp.async.bulk.global.shared::cta.bulk_group [%q0], [%s], 4096;\n@%p5 "
      "cp.async.bulk.commit_group;\n"
      "@%p5 cp.async.bulk.wait_group 0;\nfence.acq_rel.gpu;\n";
  bulk.text = text({.parts = {part}});
  bulk.parameters = "bulk store of 4096 bytes";
  bulk.shared_bytes = 8192;
  bulk.data.bytes = 16384;
  out.push_back(std::move(bulk));
}

void add_later_fences(std::vector<Case>& out) {
  for (const bool fences : {true, false}) {
    out.push_back(fence_later("nothing", "", fences));
    out.push_back(fence_later("st", "st.global.u32 [%q0], %c0;", fences));
    out.push_back(fence_later("ld", "ld.global.cg.u32 %x1, [%q0]; add.u32 %x0, %x0, %x1;", fences));
    out.push_back(fence_later("atom", "atom.global.add.u32 %x1, [%q0], 0; add.u32 %x0, %x0, %x1;", fences));
    out.push_back(fence_later("red", "red.global.add.u32 [%q0], 0;", fences));
  }
  for (const int links : {0, 25, 50, 75, 100, 150})
    out.push_back(fence_later("st", "st.global.u32 [%q0], %c0;", true, links));
}

}  // namespace

std::vector<Case> fence_cases() {
  std::vector<Case> out;
  add_fences(out);
  add_later_fences(out);
  return out;
}

}  // namespace palladion::bench
