// Global memory, one SM and one access at a time: latencies of L1, L2 and HBM, atomics, fences, flags.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

constexpr int loads_in_body = 128;

Case chase(const char* name, const char* step, Data data, uint32_t shorter, uint32_t longer) {
  Part part;
  part.before = "mov.u64 %q0, %data; mov.u64 %q1, 0; setp.eq.u32 %p0, %c0, 0x12345; @%p0 mov.u64 %q1, 1;\n";
  part.body = repeat(step, loads_in_body);
  part.after = "cvt.u32.u64 %x0, %q0;";
  part.use = {"%x0"};
  Case c;
  c.name = name;
  c.parameters = fmt::format("bytes={} stride={}", data.bytes, data.stride);
  c.unit = "cycles";
  c.text = text({.parts = {part}});
  c.data = data;
  c.data.kind = Data::Kind::chain;
  c.shorter = shorter;
  c.longer = longer;
  c.operations = loads_in_body;
  return c;
}

const char* const load_cached = "ld.global.ca.u64 %q0, [%q0];";
const char* const load_l2 = "ld.global.cg.u64 %q0, [%q0];";

Case cold(Case c) {
  c.cold = true;
  return c;
}

// The latency of each of 512 lines in L2 as `ctas` SMs see it, by clock reads around a single load.
Case lines(int ctas, double share) {
  Part part;
  part.before = "mul.wide.u32 %q0, %cta, 2048; add.u64 %q0, %q0, %samples; mov.u64 %q2, 0;\n";
  // Two rounds: the first brings the lines in.
  part.body =
      R"(and.b32 %x0, %i, 511; mul.wide.u32 %q1, %x0, 128; add.u64 %q1, %q1, %data; add.u64 %q1, %q1, %q2;
bar.warp.sync -1;
mov.u32 %x1, %clock;
ld.global.cg.u32 %x2, [%q1];
setp.eq.u32 %p0, %x2, 0x12345; @%p0 bra $odd;
mov.u32 %x3, %clock;
sub.u32 %x3, %x3, %x1; mul.wide.u32 %q3, %x0, 4; add.u64 %q3, %q3, %q0; st.global.u32 [%q3], %x3;
$odd:
)";
  Case c;
  c.name = "global.lines";
  c.parameters = fmt::format("ctas={} quantile={}", ctas, share);
  c.unit = "cycles";
  c.text = text({.parts = {part}});
  c.grid = {uint32_t(ctas), 1, 1};
  c.shared_bytes = 200 << 10;  // one CTA an SM
  c.data.bytes = 512 * 128;
  c.sample_count = uint32_t(512 * ctas);
  c.shorter = 0;
  c.longer = 1024;
  c.measure = quantile(share);
  return c;
}

// Two CTAs hand a flag back and forth through global memory: half a round trip.
Case flag(const char* store, const char* load) {
  Part part;
  part.before =
      "setp.eq.u32 %p0, %cta, 0; add.u64 %q0, %out, 64; add.u64 %q1, %out, 192; mov.u32 %x9, 1;\n"
      "@!%p0 add.u64 %q0, %out, 192; @!%p0 add.u64 %q1, %out, 64; setp.ne.u32 %p3, %lane, 0;\n@%p3 bra "
      "$rest;\n";
  const std::string round = fill(
      "add.u32 %x0, %i, 1;\n@%p0 <st> [%q1], %x0;\n$spin: <ld> %x1, [%q0];\nsetp.lt.u32 %p1, %x1, %x0;\n@%p1 "
      "bra $spin;\n@!%p0 <st> [%q1], %x0;\n",
      {{"st", store}, {"ld", load}});
  part.body = round;
  part.after = "$rest:";
  Case c;
  c.name = "global.flag";
  c.parameters = std::string(store) + " " + load;
  c.unit = "cycles one way";
  c.text = text({.parts = {part}, .chip_wide = true});
  c.grid = {2, 1, 1};
  c.shared_bytes = 200 << 10;
  c.shorter = 16;
  c.longer = 80;
  c.operations = 2;
  c.measure = warp(0);
  return c;
}

Case repeated(const char* name, const char* step) {
  Case c = chase(name, "", {.bytes = 65536}, 4, 20);
  Part part;
  part.before = "mul.wide.u32 %q0, %me, 16; add.u64 %q0, %q0, %data; add.u64 %q0, %q0, 4096;\n";
  part.body = repeat(step, 16);
  c.text = text({.parts = {part}});
  c.parameters = "";
  c.shared_bytes = 4096;
  c.operations = 16;
  c.data.kind = Data::Kind::random;
  return c;
}

// A load that L1 would serve, after what drops its lines.
Case cached_after(const char* name, const char* before) {
  Case c = chase(name, "", {.bytes = 65536}, 4, 20);
  Part part;
  part.before =
      "mov.u64 %q1, %data; add.u64 %q2, %data, 4096; setp.eq.u32 %p0, %c0, 0x12345; @%p0 add.u64 %q1, %q1, "
      "8; "
      "selp.u64 %q3, 1, 0, %p0; mov.u64 %q4, 0;\n";
  part.body = repeat(std::string(before) +
                         " ld.global.ca.u64 %q4, [%q1]; and.b64 %q4, %q4, %q3; add.u64 %q1, "
                         "%q1, %q4; add.u64 %q2, %q2, %q4;",
                     8);
  part.after = "cvt.u32.u64 %x0, %q1;";
  part.use = {"%x0"};
  c.text = text({.parts = {part}});
  c.parameters = "";
  c.operations = 8;
  c.data.kind = Data::Kind::random;
  return c;
}

// A chain of loads whose lanes want `lines` lines of L2 each time.
Case many_lines(int lines) {
  Part part;
  part.before = fmt::format(
      "rem.u32 %x0, %lane, {}; mul.wide.u32 %q0, %x0, 128; add.u64 %q0, %q0, %data; add.u64 %q0, %q0, "
      "4096;\n",
      lines);
  part.body = repeat("ld.global.cg.u64 %q1, [%q0]; add.u64 %q0, %q0, %q1;", 16);
  part.after = "cvt.u32.u64 %x0, %q0;";
  part.use = {"%x0"};
  Case c;
  c.name = "global.latency.lines";
  c.parameters = fmt::format("lines={}", lines);
  c.unit = "cycles";
  c.text = text({.parts = {part}});
  c.data = {.kind = Data::Kind::zeros, .bytes = 65536};
  c.operations = 16;
  return c;
}

// Each warp loads from `loads` places at once, `vector` words a lane, and goes on when all are there.
Case burst(const char* where, int vector, int loads, int warps) {
  const bool l1 = std::string_view(where) == "L1";
  const int chunk = 128 * vector * warps, rounds = 8;
  const std::string width = vector == 1 ? ".u32" : fmt::format(".v{}.u32", vector);
  std::string round = "add.u64 %q2, %q0, %q1;\n", all = "mov.u32 %x64, 0;\n";
  for (int i = 0; i < loads; ++i) {
    std::string list;
    for (int k = 0; k < vector; ++k) list += fmt::format("{}%x{}", k == 0 ? "" : ", ", vector * i + k);
    if (vector > 1) list = "{" + list + "}";
    round += fmt::format("ld.global.{}{} {}, [%q2+{}];\n", l1 ? "ca" : "cg", width, list, i * chunk);
    for (int k = 0; k < vector; ++k) all += fmt::format("or.b32 %x64, %x64, %x{};\n", vector * i + k);
  }
  Part part;
  part.warps = warps;
  part.before =
      fmt::format("mul.wide.u32 %q0, %me, {}; add.u64 %q0, %q0, %data; mov.u64 %q1, 0;\n", 4 * vector);
  part.body = repeat(round + all + "cvt.u64.u32 %q1, %x64;\n", rounds);
  part.after = "cvt.u32.u64 %x0, %q1;";
  part.use = {"%x0"};
  Case c;
  c.name = "global.burst";
  c.parameters = fmt::format("{} v{} loads={} warps={}", where, vector, loads, warps);
  c.unit = "cycles";
  c.text = text({.parts = {part}});
  c.block = {uint32_t(32 * warps), 1, 1};
  c.data = {.kind = Data::Kind::zeros, .bytes = std::max<uint64_t>(4096, uint64_t(chunk) * uint64_t(loads))};
  c.operations = rounds;
  c.measure = mean_over(warps);
  return c;
}

// A warp loads a word from each of `lines` lines of HBM, `apart` bytes from each other; then from the next
// ones.
Case scattered(int lines, int apart) {
  const int rounds = 8;
  Part part;
  part.before = fmt::format(
      "rem.u32 %x0, %lane, {}; mul.wide.u32 %q0, %x0, {}; add.u64 %q0, %q0, %data; mov.u64 %q1, 0; mov.u64 "
      "%q2, "
      "%q0;\n",
      lines, apart);
  part.body =
      repeat(fmt::format("add.u64 %q2, %q2, %q1; ld.global.cg.u32 %x1, [%q2+{}]; cvt.u64.u32 %q1, %x1; "
                         "add.u64 %q2, %q2, {};\n",
                         0, lines * apart),
             rounds);
  part.after = "cvt.u32.u64 %x0, %q1;";
  part.use = {"%x0"};
  Case c;
  c.name = "HBM.burst";
  c.parameters = fmt::format("lines={} apart={}", lines, apart);
  c.unit = "cycles";
  c.text = text({.parts = {part}});
  c.longer = 36;
  c.data = {.kind = Data::Kind::zeros, .bytes = uint64_t(lines) * uint64_t(apart) * uint64_t(rounds) * 40};
  c.operations = rounds;
  c.cold = true;
  return c;
}

void add_bursts(std::vector<Case>& out) {
  for (const char* where : {"L1", "L2"})
    for (const int vector : {1, 2, 4})
      for (const int loads : {1, 2, 4, 8})
        for (const int warps : {1, 4, 16, 32})
          if (vector * loads <= 16 &&
              (std::string_view(where) == "L2" || 128 * vector * loads * warps <= 65536))
            out.push_back(burst(where, vector, loads, warps));
  for (const int lines : {1, 2, 4, 8, 16, 32})
    for (const int apart : {128, 512, 1024, 4096})
      if (lines > 1 || apart == 128 || apart == 4096) out.push_back(scattered(lines, apart));
}

}  // namespace

std::vector<Case> global_cases() {
  const Data small{.bytes = 16 << 10}, middle{.bytes = 1 << 20}, large{.bytes = 64 << 20, .stride = 512};
  std::vector<Case> out;
  out.push_back(chase("global.latency.L1", load_cached, small, 4, 20));
  out.push_back(chase("global.latency.L2", load_l2, middle, 128, 256));
  out.push_back(chase("global.latency.L2", load_l2, {.bytes = 16 << 20}, 1024, 2048));
  out.push_back(chase("global.latency.L2", load_l2, {.bytes = 28 << 20, .stride = 512}, 448, 896));
  out.push_back(cold(chase("global.latency.HBM", load_l2, {.bytes = 2 << 20, .stride = 512}, 8, 32)));
  out.push_back(cold(chase("global.latency.HBM", load_l2, large, 8, 32)));
  out.push_back(cold(chase("global.latency.HBM", load_l2, {.bytes = 512 << 20, .stride = 4096}, 8, 32)));
  out.push_back(chase("global.latency.acquire", "ld.acquire.gpu.global.u64 %q0, [%q0];", middle, 128, 256));
  out.push_back(chase("global.latency.relaxed", "ld.relaxed.gpu.global.u64 %q0, [%q0];", middle, 128, 256));
  out.push_back(chase("global.latency.atom", "atom.global.add.u64 %q0, [%q0], %q1;", middle, 128, 256));
  out.push_back(
      chase("global.latency.atom.cas", "atom.global.cas.b64 %q0, [%q0], %q1, %q1;", middle, 128, 256));
  out.push_back(chase("global.latency.atom.acq_rel", "atom.acq_rel.gpu.global.add.u64 %q0, [%q0], %q1;",
                      middle, 128, 256));
  for (const double share : {0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98}) {
    out.push_back(lines(1, share));
    out.push_back(lines(132, share));
  }
  out.push_back(flag("st.relaxed.gpu.global.u32", "ld.relaxed.gpu.global.u32"));
  out.push_back(flag("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32"));
  out.push_back(flag("red.release.gpu.global.max.u32", "ld.acquire.gpu.global.u32"));
  out.push_back(repeated("global.fence.gpu+st", "st.global.u32 [%q0], %c0; fence.acq_rel.gpu;"));
  out.push_back(repeated("global.fence.cta+st", "st.global.u32 [%q0], %c0; fence.acq_rel.cta;"));
  out.push_back(repeated("global.fence.proxy.async+st", "st.global.u32 [%q0], %c0; fence.proxy.async;"));
  out.push_back(repeated(
      "global.cp.async.latency",
      "cp.async.ca.shared.global [%s+1024], [%q0], 16; cp.async.commit_group; cp.async.wait_group 0;"));
  out.push_back(repeated("global.st.release", "st.release.gpu.global.u32 [%q0], %c0;"));
  out.push_back(flag("red.relaxed.gpu.global.max.u32", "ld.relaxed.gpu.global.u32"));
  out.push_back(cached_after("global.L1.alone", ""));
  out.push_back(
      cached_after("global.L1.after_acquire",
                   "ld.acquire.gpu.global.u64 %q5, [%q2]; and.b64 %q5, %q5, %q3; add.u64 %q1, %q1, %q5;"));
  out.push_back(cached_after("global.L1.after_fence", "fence.acq_rel.gpu;"));
  for (const int lines : {1, 4, 8, 32}) out.push_back(many_lines(lines));
  add_bursts(out);
  for (auto* const more : {contention_cases, fence_cases, update_cases}) {
    std::vector<Case> shared = more();
    out.insert(out.end(), std::make_move_iterator(shared.begin()), std::make_move_iterator(shared.end()));
  }
  return out;
}

}  // namespace palladion::bench
