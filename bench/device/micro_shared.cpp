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

}  // namespace

std::vector<Case> shared_cases() {
  std::vector<Case> out;
  for (const Op& op : ops)
    for (const auto& [warps, chains] : {std::pair{1, 1}, {1, 8}, {4, 8}, {16, 4}})
      out.push_back(shared_case(op, warps, chains));
  return out;
}

}  // namespace palladion::bench
