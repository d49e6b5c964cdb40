// Global memory that warps and SMs share: reductions that meet, fences behind stores, turns at a tile.
#include <fmt/format.h>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

// A place for each lane that the compiler cannot tell to be the same for all: the lanes of one instruction
// `stride` bytes apart, instructions and warps one after the other over `lines` lines.
struct Hot {
  const char* name;
  const char* step;  // at [%q2]
  int ctas, stride, lines;
  int warps = 8;
  bool apart = false;  // each warp has lines of its own
};

Case hot(const Hot& h) {
  constexpr int instructions = 16;
  Part part;
  part.warps = h.warps;
  part.before = fmt::format(
      "mad.lo.u32 %x60, %cta, {}, %warp; mul.lo.u32 %x61, %lane, {}; setp.eq.u32 %p0, %c1, 0x12345; selp.u32 "
      "%x61, %x60, %x61, %p0; mul.lo.u32 %x60, %x60, {};\n",
      h.warps, h.stride, h.apart ? 128 * h.lines / (h.ctas * h.warps) : 32 * h.stride);
  part.body =
      repeat(fmt::format("and.b32 %x62, %x60, {}; add.u32 %x62, %x62, %x61; cvt.u64.u32 %q2, %x62; add.u64 "
                         "%q2, %q2, %data;\n{}\nadd.u32 %x60, %x60, {};",
                         128 * h.lines - 1, h.step, 32 * h.stride),
             instructions);
  part.use = {"%x0", "%x1"};
  Case c;
  c.name = h.name;
  c.parameters = fmt::format("stride={} lines={} ctas={} warps={}", h.stride, h.lines, h.ctas, h.warps);
  c.unit = "cycles/instruction on the chip";
  c.text = text({.parts = {part}, .chip_wide = h.ctas > 1});
  c.grid = {uint32_t(h.ctas), 1, 1};
  c.block = {uint32_t(32 * h.warps), 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.bytes = uint64_t(h.lines) * 128 + 8192;
  c.data.kind = Data::Kind::zeros;
  c.operations = double(instructions) * h.ctas * h.warps;
  c.measure = mean_over(h.warps);
  return c;
}

// How long a warp is held by issuing `count` reductions that L2 takes 44 cycles for each: how many wait on
// the way.
Case queued(int ctas, int warps, int count) {
  Part part;
  part.warps = warps;
  part.before =
      "setp.eq.u32 %p0, %c1, 0x12345; selp.u32 %x0, %lane, 0, %p0; cvt.u64.u32 %q2, %x0; add.u64 %q2, %q2, "
      "%data;\n";
  part.body = repeat("red.global.add.u32 [%q2], %c0;", count);
  Case c;
  c.block = {uint32_t(32 * warps), 1, 1};
  c.name = "global.red.queued";
  c.parameters = fmt::format("ctas={} warps={} count={}", ctas, warps, count);
  c.unit = "cycles";
  c.text = text({.parts = {part}, .chip_wide = ctas > 1});
  c.grid = {uint32_t(ctas), 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.kind = Data::Kind::zeros;
  c.shorter = 0;
  c.longer = 1;
  c.measure = mean_over(warps);
  return c;
}

void add_hot(std::vector<Case>& out) {
  const char* const red = "red.global.add.u32 [%q2], %c0;";
  for (const auto& [stride, lines] :
       {std::pair{0, 1}, {4, 1},    {4, 2},     {4, 4},  {4, 8},    {4, 32},   {4, 128},
        {4, 1024},       {8, 2},    {8, 8},     {8, 32}, {8, 128},  {16, 4},   {16, 8},
        {16, 32},        {16, 128}, {16, 1024}, {32, 8}, {32, 128}, {128, 32}, {128, 128}})
    out.push_back(hot({"global.red.hot", red, 132, stride, lines}));
  for (const auto& [stride, lines] : {std::pair{0, 1},
                                      {4, 1},
                                      {4, 8},
                                      {4, 128},
                                      {8, 8},
                                      {8, 128},
                                      {16, 8},
                                      {16, 128},
                                      {32, 128},
                                      {128, 128}})
    out.push_back(hot({"global.red.hot", red, 1, stride, lines}));
  for (const int ctas : {4, 16, 64}) out.push_back(hot({"global.red.hot", red, ctas, 8, 8}));
  for (const int count : {16, 64, 128, 256}) out.push_back(queued(1, 1, count));
  for (const int warps : {4, 16})
    for (const int count : {8, 16, 32, 64}) out.push_back(queued(1, warps, count));
  for (const int count : {16, 64}) out.push_back(queued(132, 1, count));
  out.push_back(queued(132, 8, 16));
  const char* const atom = "atom.global.add.u32 %x3, [%q2], %c0; xor.b32 %x1, %x1, %x3;";
  for (const auto& [stride, lines] : {std::pair{0, 1}, {4, 1}, {4, 8}, {8, 8}, {16, 128}})
    for (const int ctas : {1, 132}) out.push_back(hot({"global.atom.hot", atom, ctas, stride, lines}));
  const char* const red_f32 = "red.global.add.f32 [%q2], %g0;";
  for (const auto& [stride, lines] : {std::pair{4, 8}, {8, 8}, {16, 128}})
    out.push_back(hot({"global.red.f32.hot", red_f32, 132, stride, lines}));
  for (const int warps : {1, 4, 16}) {
    for (const int ctas : {1, 16, 132})
      out.push_back(hot({"global.ld.hot", "ld.relaxed.gpu.global.u32 %x3, [%q2]; xor.b32 %x1, %x1, %x3;",
                         ctas, 0, 1, warps}));
  }
}

// Fragments of an accumulator, as its registers lie: an instruction writes or reads 32 bytes of each of 8
// rows of 2 KiB; four of them fill the rows' lines.
std::string fragments(const char* step, int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fill(step, {{"o", std::to_string(i / 8 * 131072 + i / 4 % 2 * 16384 + i % 4 * 32)},
                       {"a", std::to_string(2 * i)},
                       {"b", std::to_string(2 * i + 1)}}) +
           "\n";
  return out;
}
const char* const fragment_place =
    "shr.u32 %x120, %lane, 2; mul.lo.u32 %x120, %x120, 2048; and.b32 %x121, %lane, 3; shl.b32 %x121, %x121, "
    "3; "
    "add.u32 %x120, %x120, %x121; mad.lo.u32 %x120, %warp, 32768, %x120;\n";
const char* const load_fragment = "ld.global.v2.u32 {%x<a>, %x<b>}, [%q2+<o>];";
const char* const store_fragment = "st.global.v2.u32 [%q2+<o>], {%x<a>, %x<b>};";

// Four warps read, or write, strips of 128 rows and 32 columns: what a CTA's stream of them costs.
Case strips(const char* name, bool loads, bool stores, int warps = 4) {
  Part part;
  part.warps = warps;
  part.before =
      std::string(fragment_place) +
      "cvt.u64.u32 %q2, %x120; add.u64 %q2, %q2, %data; mov.u64 %q3, %q2; mad.lo.u32 %x123, %me, 16, %s;\n";
  if (!loads)
    for (int i = 0; i < 32; ++i) part.before += fmt::format("mov.u32 %x{}, %c{};\n", i, i % 8);
  part.body =
      "and.b32 %x122, %i, 15; shl.b32 %x122, %x122, 7; cvt.u64.u32 %q4, %x122; add.u64 %q2, %q3, %q4;\n";
  if (loads)
    part.body +=
        fragments(loads && stores ? load_fragment : "ld.global.cg.v2.u32 {%x<a>, %x<b>}, [%q2+<o>];", 16) +
        "bar.sync 0;\n";  // all loads are on their way before the first is waited for
  if (loads && stores)
    for (int i = 0; i < 32; ++i) part.body += fmt::format("add.u32 %x{}, %x{}, %c0;\n", i, i);
  if (stores) part.body += fragments(store_fragment, 16);
  if (!stores)
    for (int i = 0; i < 32; i += 4)
      part.body += fmt::format("st.shared.v4.u32 [%x123+{}], {{%x{}, %x{}, %x{}, %x{}}};\n", 512 * i, i,
                               i + 1, i + 2, i + 3);
  Case c;
  c.name = name;
  c.parameters = fmt::format("warps={}", warps);
  c.unit = "cycles/4 KiB a warp";
  c.text = text({.parts = {part}});
  c.block = {uint32_t(32 * warps), 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.bytes = 256 * 2048 + 4096;
  return c;
}

// CTAs take turns at a tile, `chains` tiles at once: wait for the turn, add to `strips` strips of 128 rows
// and 32 columns, give the turn to the next.
Case turns(int ctas, int chains, int strips, bool loads = true) {
  Part part;
  part.warps = 4;
  const int length = ctas / chains;
  part.before = fmt::format(
      "rem.u32 %x110, %cta, {}; div.u32 %x111, %cta, {}; mul.wide.u32 %q0, %x110, 4; add.u64 %q0, %q0, "
      "%out; add.u64 %q0, %q0, 128;\n{}"
      "cvt.u64.u32 %q2, %x120; mul.wide.u32 %q3, %x110, 262144; add.u64 %q2, %q2, %q3; add.u64 %q2, %q2, "
      "%data; "
      "add.u64 %q2, %q2, 4096; setp.eq.u32 %p5, %me, 0; mov.u32 %x112, %x111;\n",
      chains, chains, fragment_place);
  if (!loads)
    for (int i = 0; i < 32; ++i) part.before += fmt::format("mov.u32 %x{}, %c{};\n", i, i % 8);
  part.body =
      "$turn: ld.acquire.gpu.global.u32 %x113, [%q0];\nsetp.lt.u32 %p4, %x113, %x112;\n@%p4 bra "
      "$turn;\nbar.sync "
      "0;\n";
  for (int s = 0; s < strips; ++s) {
    if (loads) {
      part.body += fragments(load_fragment, 16);
      part.body += "bar.sync 0;\n";
      for (int i = 0; i < 32; ++i) part.body += fmt::format("add.u32 %x{}, %x{}, %c0;\n", i, i);
    }
    part.body += fragments(store_fragment, 16) + "bar.sync 0;\nadd.u64 %q2, %q2, 128;\n";
  }
  if (strips > 0) part.body += fmt::format("sub.u64 %q2, %q2, {};\n", 128 * strips);
  part.body += fmt::format(
      "bar.sync 0;\n@%p5 red.release.gpu.global.add.u32 [%q0], 1;\nadd.u32 %x112, %x112, {};\n", length);
  Case c;
  c.name = "global.turn";
  c.parameters = fmt::format("ctas={} chains={} strips={}{}", ctas, chains, strips, loads ? "" : " stores");
  c.unit = "cycles/turn";
  c.text = text({.parts = {part}, .chip_wide = true});
  c.grid = {uint32_t(ctas), 1, 1};
  c.block = {128, 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.bytes = uint64_t(chains) * 262144 + 8192;
  c.data.kind = Data::Kind::zeros;
  c.shorter = 2;
  c.longer = 6;
  c.operations = length;
  return c;
}

// CTAs 0 and `other` take turns at a tile: how long the first warp's loads of `strips` strips take, of lines
// that the other has just written.
Case turn_loads(int other, int strips) {
  Case c = turns(2, 1, strips);
  Part part;
  part.warps = 4;
  part.before = fmt::format(
      "add.u64 %q0, %out, 128;\n{}cvt.u64.u32 %q2, %x120; add.u64 %q2, %q2, %data; add.u64 %q2, %q2, 4096; "
      "setp.eq.u32 %p5, %me, 0; setp.ne.u32 %p6, %cta, 0; selp.u32 %x112, 1, 0, %p6; setp.ne.and.u32 %p6, "
      "%cta, {}, %p6; @%p6 mov.u32 %n, 0;\n",
      fragment_place, other);
  part.body =
      "$turn: ld.acquire.gpu.global.u32 %x113, [%q0];\nsetp.lt.u32 %p4, %x113, %x112;\n@%p4 bra "
      "$turn;\nbar.sync 0;\n";
  for (int s = 0; s < strips; ++s) {
    part.body += "mov.u64 %q8, %clock64;\n" + fragments(load_fragment, 16) + "bar.sync 0;\n";
    for (int i = 0; i < 32; ++i) part.body += fmt::format("add.u32 %x{}, %x{}, %c0;\n", i, i);
    part.body += "mov.u64 %q9, %clock64; sub.u64 %q9, %q9, %q8; add.u64 %e0, %e0, %q9;\n";
    part.body += fragments(store_fragment, 16) + "bar.sync 0;\nadd.u64 %q2, %q2, 128;\n";
  }
  part.body += fmt::format(
      "sub.u64 %q2, %q2, {};\nbar.sync 0;\n@%p5 red.release.gpu.global.add.u32 [%q0], 1;\nadd.u32 %x112, "
      "%x112, 2;\n",
      128 * strips);
  c.name = "global.turn.loads";
  c.parameters = fmt::format("with={} strips={}", other, strips);
  c.unit = "cycles/strip";
  c.text = text({.parts = {part}, .chip_wide = true});
  c.grid = {uint32_t(other + 1), 1, 1};
  c.operations = strips;
  c.measure = extra;
  return c;
}

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

// One SM writes 32 lines, another one reads them: what each of its loads takes. The two take turns.
Case handed_lines(uint32_t writer, bool writes, const char* load) {
  constexpr int lines = 32;
  Part part;
  part.before = fmt::format(
      "add.u64 %q0, %out, 128; add.u64 %q2, %data, 8192; mul.wide.u32 %q3, %lane, 128; add.u64 %q3, %q3, "
      "%q2; mov.u64 "
      "%q5, 0; mov.u64 %q6, 0; setp.ne.u32 %p1, %cta, 0; setp.eq.u32 %p2, %cta, {}; setp.ne.u32 %p3, %lane, "
      "0;\n",
      writer);
  part.body =
      "shl.b32 %x0, %i, 1; add.u32 %x1, %x0, 1; add.u32 %x2, %x0, 2;\n@%p1 bra $writer;\n$full: "
      "ld.acquire.gpu.global.u32 %x3, [%q0]; setp.lt.u32 %p4, %x3, %x1; @%p4 bra $full;\nbar.warp.sync "
      "-1;\nmov.u64 %q8, %clock64;\n";
  part.body += fill("add.u64 %q5, %q2, %q6; <ld> %q6, [%q5+<o>];\n", {{"ld", load}, {"o", "0"}});
  for (int i = 1; i < lines; ++i)
    part.body +=
        fill("add.u64 %q5, %q5, %q6; <ld> %q6, [%q5+<o>];\n", {{"ld", load}, {"o", std::to_string(128 * i)}});
  part.body +=
      "add.u64 %q5, %q5, %q6; setp.eq.u64 %p5, %q5, 1; @%p5 trap;\nmov.u64 %q9, %clock64; sub.u64 %q9, %q9, "
      "%q8; add.u64 %e0, %e0, %q9;\n@!%p3 st.release.gpu.global.u32 [%q0], %x2;\nbra $turned;\n$writer: "
      "@!%p2 "
      "bra $turned;\n$empty: ld.acquire.gpu.global.u32 %x3, [%q0]; setp.lt.u32 %p4, %x3, %x0; @%p4 bra "
      "$empty;\nbar.warp.sync -1;\n";
  if (writes) part.body += "st.global.u64 [%q3], %q6;\nfence.acq_rel.gpu;\nbar.warp.sync -1;\n";
  part.body += "@!%p3 st.release.gpu.global.u32 [%q0], %x1;\n$turned:\n";
  Case c;
  c.name = "global.handed";
  c.parameters = fmt::format("from={} {} {}", writer, writes ? "written" : "read", load);
  c.unit = "cycles";
  c.text = text({.parts = {part}, .chip_wide = true});
  c.grid = {writer + 1, 1, 1};
  c.shared_bytes = 120 << 10;
  c.data = {.kind = Data::Kind::zeros, .bytes = 32768};
  c.operations = lines;
  c.measure = extra;
  return c;
}

// Stores of `vector` words a lane to rows of 2 KiB, `bytes` of each, in L2.
Case pieces(int vector, int bytes) {
  constexpr int warps = 16;
  const int rows = 128 * vector / bytes, in_row = bytes / (4 * vector), count = 2048 / bytes;
  Part part;
  part.warps = warps;
  part.before = fmt::format(
      "div.u32 %x120, %lane, {0}; rem.u32 %x121, %lane, {0}; mul.lo.u32 %x120, %x120, 2048; mad.lo.u32 "
      "%x120, %x121, {1}, %x120; mad.lo.u32 %x120, %warp, {2}, %x120; cvt.u64.u32 %q2, %x120; add.u64 %q2, "
      "%q2, %data;\n",
      in_row, 4 * vector, 2048 * rows);
  const char* const forms[] = {".u32 [%q2+<o>], %c0;", ".v2.u32 [%q2+<o>], {%c0, %c1};",
                               ".v4.u32 [%q2+<o>], {%c0, %c1, %c2, %c3};"};
  for (int i = 0; i < 16; ++i)
    part.body +=
        fill(std::string("st.global") + forms[vector / 2], {{"o", std::to_string(i % count * bytes)}}) + "\n";
  Case c;
  c.name = "global.st.pieces";
  c.parameters = fmt::format("vector={} bytes={}", vector, bytes);
  c.unit = "cycles/instruction";
  c.text = text({.parts = {part}});
  c.block = {32 * warps, 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.bytes = uint64_t(2048 * rows * warps) + 4096;
  c.operations = 16 * warps;
  return c;
}

// Loads and stores of one SM in L2, each warp in lines of its own.
void add_rows(std::vector<Case>& out) {
  const char* const load = "ld.global.cg.u32 %x3, [%q2]; xor.b32 %x1, %x1, %x3;";
  const char* const store = "st.global.u32 [%q2], %c0;";
  for (const int warps : {1, 8, 32})
    for (const int stride : {4, 8, 16, 32, 128}) {
      out.push_back(hot({"global.ld.rows", load, 1, stride, 1024, warps, true}));
      out.push_back(hot({"global.st.rows", store, 1, stride, 1024, warps, true}));
    }
  for (const auto& [vector, bytes] : {std::pair{1, 16},
                                      {1, 32},
                                      {1, 128},
                                      {2, 16},
                                      {2, 32},
                                      {2, 64},
                                      {2, 128},
                                      {2, 256},
                                      {4, 32},
                                      {4, 64},
                                      {4, 128},
                                      {4, 512}})
    out.push_back(pieces(vector, bytes));
  for (const int warps : {1, 2, 4, 8}) {
    out.push_back(strips("global.strips.ld", true, false, warps));
    out.push_back(strips("global.strips.st", false, true, warps));
    out.push_back(strips("global.strips.ld+st", true, true, warps));
  }
}

void add_turns(std::vector<Case>& out) {
  for (const auto& [ctas, chains] : {std::pair{2, 1}, {8, 1}, {32, 1}, {128, 1}, {128, 16}})
    for (const int count : {0, 1, 4}) out.push_back(turns(ctas, chains, count));
  out.push_back(turns(2, 1, 1, false));
  out.push_back(turns(2, 1, 4, false));
  for (const auto& [ctas, chains] : {std::pair{32, 16}, {64, 16}, {64, 32}})
    out.push_back(turns(ctas, chains, 0));
  for (const int other : {1, 2, 16, 66, 131}) out.push_back(turn_loads(other, 4));
  out.push_back(turn_loads(66, 1));
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

}  // namespace

std::vector<Case> contention_cases() {
  std::vector<Case> out;
  add_hot(out);
  add_rows(out);
  add_fences(out);
  add_later_fences(out);
  add_turns(out);
  for (const uint32_t writer : {1U, 2U, 16U, 66U, 131U}) {
    out.push_back(handed_lines(writer, true, "ld.global.cg.u64"));
    out.push_back(handed_lines(writer, false, "ld.global.cg.u64"));
  }
  return out;
}

}  // namespace palladion::bench
