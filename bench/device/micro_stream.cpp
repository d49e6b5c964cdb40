// Whole kernels that read, write or copy: what a launch of so many bytes takes, from a cold L2 and from one
// that the same kernel has just left.
#include <fmt/format.h>

#include <algorithm>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

constexpr int threads = 256, vector_bytes = 16, row = threads * vector_bytes;

struct Stream {
  bool cold = false;
  uint64_t read = 0, written = 0;  // MiB
  int loads = 8, stores = 8;       // of a thread, alternating: in the ratio of the bytes
  uint32_t ctas = 0;               // of a persistent grid; 0: one for each tile
};

uint64_t tiles(const Stream& s) {
  return (s.read > 0 ? (s.read << 20) / uint64_t(s.loads) : (s.written << 20) / uint64_t(s.stores)) / row;
}

std::string quad(int first, const char* letter) {
  return fmt::format("{{%{0}{1}, %{0}{2}, %{0}{3}, %{0}{4}}}", letter, first, first + 1, first + 2,
                     first + 3);
}

std::string consume(int first, int end) {
  std::string out;
  for (int i = 4 * first; i < 4 * end; i += 2)
    out += fmt::format("lop3.b32 %x63, %x63, %x{}, %x{}, 0x96;\n", i, i + 1);
  return out;
}

// Tile %i * grid + cta. Where nothing is written, what was loaded is used in the next iteration: within one,
// ptxas would rather use few registers than have all loads on their way.
std::string body(const Stream& s) {
  std::string out;
  if (s.written == 0) out = consume(0, s.loads) + "setp.eq.u32 %p2, %x63, 0x5EED5EED;\n@%p2 bra $done0;\n";
  out += "mov.u32 %t0, %nctaid.x; mad.lo.u32 %t0, %i, %t0, %cta;\n";
  out += fmt::format("mul.wide.u32 %q2, %me, {};\n", vector_bytes);
  out += fmt::format("mad.wide.u32 %q0, %t0, {}, %q2; add.u64 %q0, %q0, %data;\n", s.loads * row);
  out += fmt::format("mad.wide.u32 %q1, %t0, {}, %q2; add.u64 %q1, %q1, %out;\n", s.stores * row);
  for (int i = 0; s.read > 0 && i < s.loads; ++i)
    out += fmt::format("ld.global.v4.u32 {}, [%q0+{}];\n", quad(4 * i, "x"), i * row);
  for (int i = 0; s.written > 0 && i < s.stores; ++i)
    out += fmt::format("st.global.v4.u32 [%q1+{}], {};\n", i * row,
                       s.read > 0 && i < s.loads ? quad(4 * i, "x") : "{%me, %i, %cta, %t0}");
  return s.read > 0 && s.written > 0 ? out + consume(std::min(s.loads, s.stores), s.loads) : out;
}

Case stream(const Stream& s) {
  Part part{.warps = threads / 32, .before = "mov.u32 %x63, 0;\n", .body = body(s)};
  // Keeps the loads; what was read is random.
  for (int i = 0; s.written == 0 && i < 4 * s.loads; ++i) part.before += fmt::format("mov.u32 %x{}, 0;\n", i);
  part.after = s.written == 0 ? consume(0, s.loads) : "";
  part.after += "setp.eq.u32 %p0, %x63, 0x5EED5EED;\n@%p0 st.global.u32 [%out], %x63;\n";
  part.timed = false;
  Case c;
  c.name = s.cold ? "stream.cold" : "stream.warm";
  c.parameters = fmt::format("read={} written={} MiB ctas={}", s.read, s.written, s.ctas);
  c.unit = "sm__cycles_elapsed.max";
  c.text = text({.parts = {part}});
  const uint64_t count = tiles(s);
  c.grid = {s.ctas == 0 ? uint32_t(count) : s.ctas, 1, 1};
  c.block = {threads, 1, 1};
  c.shared_bytes = 48 << 10;  // four CTAs an SM
  c.data.bytes = std::max<uint64_t>(s.read, 1) << 20;
  c.output_bytes = std::max<uint64_t>(s.written, 1) << 20;
  c.shorter = 0;
  c.longer = s.ctas == 0 ? 1 : uint32_t(count / s.ctas);
  c.needs_clock = true;
  c.elapsed = true;
  c.cold = s.cold;
  return c;
}

}  // namespace

std::vector<Case> stream_cases() {
  std::vector<Case> out;
  for (const bool cold : {true, false}) {
    for (const uint64_t mib : {1, 4, 16, 32, 48, 64, 128, 256}) {
      out.push_back(stream({.cold = cold, .read = mib}));
      out.push_back(stream({.cold = cold, .written = mib}));
      out.push_back(stream({.cold = cold, .read = mib, .written = mib}));
    }
    out.push_back(stream({.cold = cold, .read = 192, .written = 64, .loads = 6, .stores = 2}));
    out.push_back(stream({.cold = cold, .read = 64, .written = 192, .loads = 2, .stores = 6}));
    for (const uint64_t mib : {4, 64, 256}) {
      out.push_back(stream({.cold = cold, .read = mib, .ctas = 128}));
      out.push_back(stream({.cold = cold, .read = mib, .written = mib, .ctas = 128}));
    }
  }
  return out;
}

}  // namespace palladion::bench
