// Global memory, many accesses at a time: one SM and the whole chip, L2 and HBM, loads, stores, atomics.
#include <fmt/format.h>

#include <algorithm>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

enum class Where : uint8_t { own, same, fresh };  // L2: each SM its own lines, all the same; HBM

struct Stream {
  const char* name;
  int vector = 4;  // 32-bit words a thread
  int ctas = 132;
  int warps = 32;
  Where where = Where::own;
  bool loads = true, stores = false;
  int unrolled = 8;
  const char* cache = ".cg";
  int64_t window = 256 << 10;  // L2: what a CTA goes through again and again: two iterations at least, so
                               // that nothing is the same in each
  bool wandering = false;      // each time the window of another CTA
  bool slowest = false;        // of all CTAs, not their mean
};

// Of one instruction of a CTA; of an iteration.
int chunk(const Stream& s) { return 128 * s.vector * s.warps; }
int64_t step(const Stream& s) { return int64_t(chunk(s)) * s.unrolled; }

int64_t steps(const Stream& s) { return std::max<int64_t>(1, s.window / step(s)); }

// The place of this thread in iteration %i: %q0.
std::string place(const Stream& s) {
  const std::string thread =
      fmt::format("mul.wide.u32 %q0, %me, {}; add.u64 %q0, %q0, %data;\n", 4 * s.vector);
  if (s.where == Where::fresh)
    return thread +
           fmt::format("mad.lo.u32 %x60, %i, {}, %cta; mad.wide.u32 %q0, %x60, {}, %q0;\n", s.ctas, step(s));
  std::string out = thread + fmt::format("mad.wide.u32 %q0, %x61, {}, %q0;\n", step(s));
  if (s.where == Where::own) out += fmt::format("mad.wide.u32 %q0, %x62, {}, %q0;\n", steps(s) * step(s));
  out += fmt::format("add.u32 %x61, %x61, 1; setp.eq.u32 %p0, %x61, {}; selp.u32 %x61, 0, %x61, %p0;\n",
                     steps(s));
  if (!s.wandering) return out;
  return out + fmt::format(
                   "@%p0 add.u32 %x62, %x62, 37; setp.ge.u32 %p1, %x62, {0}; @%p1 sub.u32 %x62, %x62, {0};\n",
                   s.ctas);
}

// Cycles of the CTA that takes longest.
Measure slowest_of(int warps) {
  return [=](const Outcome& o) {
    double most = 0;
    for (size_t i = 0; i + size_t(warps) <= o.stamps.size(); i += size_t(warps))
      most = std::max(most, longest({o.stamps.subspan(i, size_t(warps)), {}}));
    return most;
  };
}

std::string registers(int first, int count, const char* letter) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format("{}%{}{}", i == 0 ? "" : ", ", letter, first + i);
  return count == 1 ? out : "{" + out + "}";
}

std::string consume(int count) {
  std::string out;
  for (int i = 0; i < count; i += 2) out += fmt::format("lop3.b32 %x63, %x63, %x{}, %x{}, 0x96;\n", i, i + 1);
  return out;
}

// What was loaded is used in the next iteration: within one, ptxas would rather use few registers than have
// all loads on their way.
std::string body(const Stream& s) {
  const std::string width = s.vector == 1 ? ".u32" : fmt::format(".v{}.u32", s.vector);
  std::string out;
  if (!s.stores)
    out = consume(s.vector * s.unrolled) + "setp.eq.u32 %p2, %x63, 0x5EED5EED;\n@%p2 bra $done0;\n";
  out += place(s);
  for (int i = 0; s.loads && i < s.unrolled; ++i)
    out += fmt::format("ld.global{}{} {}, [%q0+{}];\n", s.cache, width,
                       registers(s.vector * i, s.vector, "x"), i * chunk(s));
  if (!s.stores) return out;
  if (s.loads) out += "add.u64 %q0, %q0, %q5;\n";
  for (int i = 0; i < s.unrolled; ++i)
    out += fmt::format("st.global{} [%q0+{}], {};\n", width, i * chunk(s),
                       s.loads ? registers(s.vector * i, s.vector, "x") : registers(0, s.vector, "c"));
  return out;
}

Case stream(const Stream& s, uint32_t shorter, uint32_t longer) {
  Part part;
  part.warps = s.warps;
  const uint64_t touched = s.where == Where::fresh
                               ? uint64_t(longer) * uint64_t(s.ctas) * uint64_t(step(s))
                               : uint64_t(s.where == Where::own ? s.ctas : 1) * uint64_t(steps(s) * step(s));
  part.before =
      fmt::format("mov.u32 %x63, 0; mov.u32 %x61, 0; mov.u32 %x62, %cta; mov.u64 %q5, {};\n", touched);
  for (int i = 0; !s.stores && i < s.vector * s.unrolled; ++i)
    part.before += fmt::format("mov.u32 %x{}, 0;\n", i);
  part.body = body(s);
  part.after = s.stores ? "" : consume(s.vector * s.unrolled);
  part.use = {"%x63"};
  Case c;
  c.name = s.name;
  c.parameters = fmt::format("v{} ctas={} warps={}", s.vector, s.ctas, s.warps);
  c.unit = "bytes/cycle";
  c.text = text({.parts = {part}, .chip_wide = s.ctas > 1});
  c.grid = {uint32_t(s.ctas), 1, 1};
  c.block = {uint32_t(32 * s.warps), 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.bytes = touched * (s.loads && s.stores ? 2 : 1);
  c.shorter = shorter;
  c.longer = longer;
  c.operations = double(step(s)) * s.ctas * (s.loads && s.stores ? 2 : 1);
  c.per_cycle = true;
  c.cold = s.where == Where::fresh;
  c.measure = s.slowest ? slowest_of(s.warps) : mean_over(s.warps);
  return c;
}

// Windows of all CTAs together.
Case resident(Stream s, int64_t kib) {
  s.window = kib << 10;
  s.unrolled = 4;
  const auto passes = uint32_t(steps(s));
  Case c = stream(s, 3 * passes, 9 * passes);
  c.parameters += fmt::format(" footprint={} KiB", s.ctas * kib);
  return c;
}

// Each warp issues reductions or atomics: all at one address, all at one line, or each at its own line.
Case atomics(const char* name, const std::string& instruction, int ctas, int warps, const char* address) {
  Part part;
  part.warps = warps;
  part.before = fmt::format(
                    "mad.lo.u32 %x60, %cta, {}, %warp; mul.wide.u32 %q0, %x60, 128; mul.wide.u32 %q1, %lane, "
                    "4; mov.u64 %q2, 0;\n",
                    warps) +
                address + "add.u64 %q2, %q2, %data;\n";
  part.body = repeat(instruction, 16);
  part.use = {"%x0", "%x1", "%x2", "%x3"};
  Case c;
  c.name = name;
  c.parameters = fmt::format("ctas={} warps={}", ctas, warps);
  c.unit = "cycles/instruction on the chip";
  c.text = text({.parts = {part}, .chip_wide = ctas > 1});
  c.grid = {uint32_t(ctas), 1, 1};
  c.block = {uint32_t(32 * warps), 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.bytes = uint64_t(ctas) * uint64_t(warps) * 128 + 4096;
  c.operations = 16.0 * ctas * warps;
  c.measure = mean_over(warps);
  c.data.kind = Data::Kind::zeros;
  return c;
}

void add_atomics(std::vector<Case>& out) {
  const char* const one_address = "";
  const char* const one_line = "add.u64 %q2, %q2, %q1;\n";
  const char* const own_line = "add.u64 %q2, %q0, %q1;\n";
  const char* const red = "red.global.add.u32 [%q2], %c0;";
  const char* const atom = "atom.global.add.u32 %x3, [%q2], %c0; xor.b32 %x2, %x2, %x3;";
  for (const int ctas : {1, 132}) {
    out.push_back(atomics("global.red.one_address", red, ctas, 8, one_address));
    out.push_back(atomics("global.red.one_line", red, ctas, 8, one_line));
    out.push_back(atomics("global.red.own_line", red, ctas, 8, own_line));
    out.push_back(atomics("global.atom.one_address", atom, ctas, 8, one_address));
    out.push_back(atomics("global.atom.own_line", atom, ctas, 8, own_line));
  }
  out.push_back(atomics("global.red.f32.own_line", "red.global.add.f32 [%q2], %g0;", 132, 8, own_line));
}

// What one SM, or some, can have under way; the slowest SM of a full chip.
void add_limits(std::vector<Case>& out) {
  for (const int vector : {1, 4})
    for (const int warps : {1, 2, 4, 8, 16})
      for (const Where where : {Where::own, Where::fresh})
        if (where == Where::fresh || warps < 4 || vector == 1 || warps == 8)
          out.push_back(stream({.name = where == Where::own ? "L2.read" : "HBM.read",
                                .vector = vector,
                                .ctas = 1,
                                .warps = warps,
                                .where = where},
                               32, 128));
  for (const int warps : {1, 2, 4, 8, 16})  // latencies while all SMs ask
    for (const Where where : {Where::own, Where::fresh})
      out.push_back(stream(
          {.name = where == Where::own ? "L2.read" : "HBM.read", .warps = warps, .where = where}, 32, 128));
  for (const int ctas : {8, 16, 32, 66})
    for (const int warps : {1, 4})
      out.push_back(
          stream({.name = "HBM.read", .ctas = ctas, .warps = warps, .where = Where::fresh}, 32, 128));
  for (const int vector : {1, 4})  // lines that this SM has just had
    out.push_back(stream(
        {.name = "L2.read.again", .vector = vector, .ctas = 1, .warps = 1, .window = 16 << 10}, 32, 128));
  for (const int ctas : {2, 8, 16, 32, 66}) {
    out.push_back(stream({.name = "L2.read", .ctas = ctas}, 16, 64));
    out.push_back(stream({.name = "HBM.read", .ctas = ctas, .where = Where::fresh}, 8, 28));
  }
  const Stream s{.name = "", .where = Where::fresh, .slowest = true};
  Stream read = s, write = s, copy = s;
  read.name = "HBM.read.slowest";
  write.name = "HBM.write.slowest", write.loads = false, write.stores = true;
  copy.name = "HBM.copy.slowest", copy.stores = true;
  out.push_back(stream(read, 8, 28));
  out.push_back(stream(write, 8, 28));
  out.push_back(stream(copy, 4, 14));
}

// How much of what is read or written again stays in L2.
void add_footprints(std::vector<Case>& out) {
  for (const int ctas : {1, 132})
    out.push_back(
        stream({.name = "L2.copy", .ctas = ctas, .stores = true, .unrolled = 4, .window = 64 << 10}, 16, 64));
  const Stream read{.name = "L2.read.own"}, write{.name = "L2.write.own", .loads = false, .stores = true},
      wander{.name = "L2.read.wandering", .wandering = true};
  for (const int64_t kib : {64, 128, 192, 256, 320, 384, 448, 512}) {
    if (kib >= 128) out.push_back(resident(read, kib));
    if (kib >= 128) out.push_back(resident(wander, kib));
    if (kib <= 384) out.push_back(resident(write, kib));
  }
}

}  // namespace

std::vector<Case> bandwidth_cases() {
  std::vector<Case> out;
  for (const int vector : {1, 2, 4}) {
    out.push_back(stream({.name = "L2.read", .vector = vector, .ctas = 1}, 16, 64));
    out.push_back(stream({.name = "L2.read", .vector = vector}, 16, 64));
    out.push_back(stream(
        {.name = "L1.read", .vector = vector, .ctas = 1, .where = Where::same, .unrolled = 2, .cache = ".ca"},
        64, 256));
  }
  out.push_back(stream({.name = "L2.read", .ctas = 1, .warps = 4}, 16, 64));
  out.push_back(stream({.name = "L2.read", .ctas = 1, .warps = 16}, 16, 64));
  out.push_back(stream({.name = "L2.read.same", .where = Where::same}, 16, 64));
  out.push_back(stream({.name = "L2.write", .ctas = 1, .loads = false, .stores = true}, 16, 64));
  out.push_back(stream({.name = "L2.write", .loads = false, .stores = true}, 16, 64));
  for (const int vector : {1, 4}) {
    const uint32_t scale = vector == 1 ? 4 : 1;
    const Stream read{.name = "HBM.read", .vector = vector, .where = Where::fresh};
    out.push_back(stream(read, 8 * scale, 28 * scale));
    out.push_back(
        stream({.name = "HBM.write", .vector = vector, .where = Where::fresh, .loads = false, .stores = true},
               8 * scale, 28 * scale));
    out.push_back(stream({.name = "HBM.copy", .vector = vector, .where = Where::fresh, .stores = true},
                         4 * scale, 14 * scale));
  }
  out.push_back(stream({.name = "HBM.read", .ctas = 1, .where = Where::fresh}, 16, 64));
  add_limits(out);
  add_footprints(out);
  const Stream read{.name = "", .where = Where::fresh};
  out.push_back(clock_during(stream(read, 8, 28), "clock.HBM.read"));
  add_atomics(out);
  return out;
}

}  // namespace palladion::bench
