// Lines of global memory that lanes, warps and SMs meet at: reductions, loads and stores by their stride.
#include <fmt/format.h>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

// A place for each lane that the compiler cannot know to be the same for all: the lanes of one instruction
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
}

}  // namespace

std::vector<Case> contention_cases() {
  std::vector<Case> out;
  add_hot(out);
  add_rows(out);
  return out;
}

}  // namespace palladion::bench
