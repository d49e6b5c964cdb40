// Shared memory: places that hold their own address are loaded in chains, so that a chain shows the latency
// and many chains show the throughput.
#include <fmt/format.h>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

struct Op {
  const char* name;
  const char* step;
  int lane_stride;  // bytes between the places of neighbouring lanes
};

const Op ops[] = {
    {"ld.b32", "ld.volatile.shared.u32 %x<i>, [%x<i>];", 4},
    {"ld.v2", "ld.volatile.shared.v2.u32 {%x<i>, %x100}, [%x<i>];", 8},
    {"ld.v4", "ld.volatile.shared.v4.u32 {%x<i>, %x100, %x101, %x102}, [%x<i>];", 16},
    {"ld.broadcast", "ld.volatile.shared.u32 %x<i>, [%x<i>];", 0},
    {"ld.conflict2", "ld.volatile.shared.u32 %x<i>, [%x<i>];", 8},
    {"ld.conflict4", "ld.volatile.shared.u32 %x<i>, [%x<i>];", 16},
    {"ld.conflict8", "ld.volatile.shared.u32 %x<i>, [%x<i>];", 32},
    {"ld.conflict16", "ld.volatile.shared.u32 %x<i>, [%x<i>];", 64},
    {"ld.conflict32", "ld.volatile.shared.u32 %x<i>, [%x<i>];", 128},
    {"ld.v4.conflict2", "ld.volatile.shared.v4.u32 {%x<i>, %x100, %x101, %x102}, [%x<i>];", 32},
    {"ld.v4.conflict8", "ld.volatile.shared.v4.u32 {%x<i>, %x100, %x101, %x102}, [%x<i>];", 128},
    {"ldmatrix.x1", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%x<i>}, [%x<i>];", -1},
    {"ldmatrix.x2", "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%x<i>, %x100}, [%x<i>];", -1},
    {"ldmatrix.x4", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%x<i>, %x100, %x101, %x102}, [%x<i>];", -1},
    {"atom.add", "atom.shared.add.u32 %x<i>, [%x<i>], %x99;", 4},
    {"atom.add.same", "atom.shared.add.u32 %x<i>, [%x<i>], %x99;", 0},
    {"atom.add.conflict8", "atom.shared.add.u32 %x<i>, [%x<i>], %x99;", 32},
    {"atom.cas", "atom.shared.cas.b32 %x<i>, [%x<i>], %x99, %c1;", 4},
    {"red.add.same", "red.shared.add.u32 [%x<i>], %x99;", 0},
    {"red.add", "red.shared.add.u32 [%x<i>], %x99;", 4},
    {"st.b32", "st.volatile.shared.u32 [%x<i>], %c0;", 4},
    {"st.v2", "st.volatile.shared.v2.u32 [%x<i>], {%c0, %c1};", 8},
    {"st.v4", "st.volatile.shared.v4.u32 [%x<i>], {%c0, %c1, %c2, %c3};", 16},
    {"st.conflict2", "st.volatile.shared.u32 [%x<i>], %c0;", 8},
    {"st.conflict8", "st.volatile.shared.u32 [%x<i>], %c0;", 32},
    {"st.conflict32", "st.volatile.shared.u32 [%x<i>], %c0;", 128},
    {"st.v4.conflict8", "st.volatile.shared.v4.u32 [%x<i>], {%c0, %c1, %c2, %c3};", 128},
    {"stmatrix.x1", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%x<i>], {%c0};", 16},
    {"stmatrix.x4", "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%x<i>], {%c0, %c1, %c2, %c3};", 16},
};

// A window of 4 KiB for each warp. Matrices: every word holds the window's address.
std::string before(const Op& op, int chains) {
  std::string out = "shl.b32 %x90, %warp, 12; add.u32 %x90, %x90, %s;\n";
  out += fmt::format("mul.lo.u32 %x91, %lane, {}; add.u32 %x91, %x91, %x90;\n",
                     op.lane_stride < 0 ? 128 : op.lane_stride);
  if (op.lane_stride < 0)
    for (int i = 0; i < 32; ++i) out += fmt::format("st.shared.u32 [%x91+{}], %x90;\n", 4 * i);
  else
    out += "st.shared.u32 [%x91], %x91;\n";
  if (op.lane_stride < 0) out += "shl.b32 %x91, %lane, 4; add.u32 %x91, %x91, %x90;\n";
  out += "bar.warp.sync -1;\nsetp.eq.u32 %p0, %c0, 0x12345; selp.u32 %x99, 1, 0, %p0;\n";
  for (int i = 0; i < chains; ++i) out += fmt::format("mov.u32 %x{}, %x91;\n", i);
  return out;
}

Case shared_case(const Op& op, int warps, int chains) {
  const int steps = 64;
  Part part;
  part.warps = warps;
  part.before = before(op, chains);
  for (int i = 0; i < steps / chains; ++i) part.body += repeat(op.step, chains);
  for (int i = 0; i < chains; ++i) part.use.push_back("%x" + std::to_string(i));
  Case c;
  c.name = std::string("shared.") + op.name;
  c.parameters = fmt::format("warps={} chains={}", warps, chains);
  c.unit = "cycles/instruction/SM";
  c.text = text({.parts = {part}});
  c.block = {uint32_t(32 * warps), 1, 1};
  c.shared_bytes = 64 << 10;
  c.operations = double(steps) * warps;
  return c;
}

// Where the lanes of an atomic meet: at how many random words, how many at one word, how many in one bank.
struct Meeting {
  std::string name;
  std::string offset;  // the lane's, to %x91, in instruction <i> of eight
};

// Random words of the first `count`, eight patterns.
Meeting bins(int count) {
  return {fmt::format("bins{}", count),
          fmt::format("and.b32 %x91, %c<i>, {}; shl.b32 %x91, %x91, 2;\n", count - 1)};
}
Meeting alike(int lanes) {
  return {fmt::format("alike{}", lanes),
          fmt::format("div.u32 %x91, %lane, {}; shl.b32 %x91, %x91, 2;\n", lanes)};
}
Meeting bank(int lanes) {
  return {fmt::format("conflict{}", lanes), fmt::format("mul.lo.u32 %x91, %lane, {};\n", 4 * lanes)};
}

struct Atomic {
  const char* name;
  const char* step;
};
const Atomic reds[] = {
    {"red.add.u32", "red.shared.add.u32 [%x<i>], %x99;"},
    {"red.inc", "red.shared.add.u32 [%x<i>], 1;"},
    {"red.add.f32", "red.shared.add.f32 [%x<i>], %g0;"},
    {"atom.add.u32", "atom.shared.add.u32 %x100, [%x<i>], %x99; xor.b32 %x101, %x101, %x100;"}};

// Nothing depends on anything: how many the SM does. The addresses differ from lane to lane in a way that
// the compiler does not see through, or it would count lanes that it knows to agree.
Case meeting_case(const Atomic& atomic, const Meeting& m, int warps) {
  constexpr int places = 8, rounds = 4;
  Part part;
  part.warps = warps;
  part.before = "mov.u32 %x101, 0; setp.eq.u32 %p0, %c0, 0x12345; selp.u32 %x99, 3, %c1, %p0;\n";
  part.before += repeat(m.offset + "selp.u32 %x91, %x99, %x91, %p0; add.u32 %x<i>, %x91, %s;\n", places);
  for (int i = 0; i < rounds; ++i) part.body += repeat(atomic.step, places);
  part.use = {"%x101"};
  Case c;
  c.name = std::string("shared.") + atomic.name;
  c.parameters = fmt::format("{} warps={}", m.name, warps);
  c.unit = "cycles/instruction/SM";
  c.text = text({.parts = {part}});
  c.block = {uint32_t(32 * warps), 1, 1};
  c.shared_bytes = 64 << 10;
  c.operations = double(places * rounds) * warps;
  return c;
}

void add_meetings(std::vector<Case>& out) {
  const Atomic &add = reds[0], &inc = reds[1], &add_f32 = reds[2], &atom = reds[3];
  for (const int count : {32, 128, 256, 1024, 4096}) {
    for (const int warps : {1, 4, 16}) out.push_back(meeting_case(add, bins(count), warps));
    for (const int warps : {1, 4, 16}) out.push_back(meeting_case(add_f32, bins(count), warps));
  }
  for (const int count : {32, 256, 4096}) {
    out.push_back(meeting_case(inc, bins(count), 16));
    out.push_back(meeting_case(atom, bins(count), 16));
  }
  for (const int lanes : {1, 2, 4, 8, 16, 32}) {
    for (const int warps : {1, 16}) out.push_back(meeting_case(add, alike(lanes), warps));
    out.push_back(meeting_case(inc, alike(lanes), 16));
    out.push_back(meeting_case(atom, alike(lanes), 16));
    out.push_back(meeting_case(add_f32, alike(lanes), 1));
  }
  for (const int lanes : {2, 8, 32}) out.push_back(meeting_case(add, bank(lanes), 16));
}

}  // namespace

std::vector<Case> shared_cases() {
  std::vector<Case> out;
  for (const Op& op : ops)
    for (const auto& [warps, chains] : {std::pair{1, 1}, {1, 8}, {4, 8}, {16, 4}})
      out.push_back(shared_case(op, warps, chains));
  add_meetings(out);
  return out;
}

}  // namespace palladion::bench
