// Issue and pipes: each instruction in a chain (its latency), in eight chains of a warp (its issue interval)
// and with many warps (its throughput on an SM).
#include <fmt/format.h>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

struct Op {
  const char* name;
  // <i> is the chain; one step changes %x<i>, %f<i>, %q<i> or %d<i>, in a way that the compiler can
  // neither fold into the next step nor drop.
  const char* step;
  const char* other = nullptr;  // every second step, where two of the same would be folded
};

const Op ops[] = {
    {"add.s32+xor", "add.s32 %x<i>, %x<i>, %c0; xor.b32 %x<i>, %x<i>, %c1;"},
    {"lop3", "lop3.b32 %x<i>, %x<i>, %c0, %c1, 0xCA;", "lop3.b32 %x<i>, %x<i>, %c2, %c3, 0xCA;"},
    {"shf", "shf.l.wrap.b32 %x<i>, %x<i>, %c0, %c1;"},
    {"shl", "shl.b32 %x<i>, %x<i>, %c0;"},
    {"prmt", "prmt.b32 %x<i>, %x<i>, %c0, %c1;"},
    {"mad.lo.s32", "mad.lo.s32 %x<i>, %x<i>, %c0, %c1;"},
    {"mul.lo.s32", "mul.lo.s32 %x<i>, %x<i>, %c0;"},
    {"mad.wide.u32", "mov.b64 {%x<i>, _}, %q<i>; mad.wide.u32 %q<i>, %x<i>, %c0, %q<i>;"},
    {"xor+mul.wide.u32",
     "mov.b64 {%x<i>, %c<i>}, %q<i>; xor.b32 %x<i>, %x<i>, %c<i>; mul.wide.u32 %q<i>, %x<i>, %x<i>;"},
    {"min.s32", "min.s32 %x<i>, %x<i>, %c0;", "max.s32 %x<i>, %x<i>, %c1;"},
    {"popc+xor", "popc.b32 %x<i>, %x<i>; xor.b32 %x<i>, %x<i>, %c0;"},
    {"setp+selp", "setp.lt.s32 %p<i>, %x<i>, %c0; selp.b32 %x<i>, %c1, %c2, %p<i>;"},
    {"mov+xor", "mov.b32 %t1, %x<i>; mov.b32 %x<i>, %t1; lop3.b32 %x<i>, %x<i>, %c0, %c1, 0xCA;",
     "mov.b32 %t1, %x<i>; mov.b32 %x<i>, %t1; lop3.b32 %x<i>, %x<i>, %c2, %c3, 0xCA;"},
    {"add.s64+xor", "add.s64 %q<i>, %q<i>, %k0; xor.b64 %q<i>, %q<i>, %k1;"},
    {"mul.lo.u64", "mul.lo.u64 %q<i>, %q<i>, %k0;"},
    {"fma.f32", "fma.rn.f32 %f<i>, %f<i>, %g0, %g1;"},
    {"add.f32", "add.rn.f32 %f<i>, %f<i>, %g0;"},
    {"mul.f32", "mul.rn.f32 %f<i>, %f<i>, %g0;"},
    {"max.f32", "max.f32 %f<i>, %f<i>, %g0;", "min.f32 %f<i>, %f<i>, %g1;"},
    {"fma.f16x2", "fma.rn.f16x2 %x<i>, %x<i>, %c0, %c1;"},
    {"fma.bf16x2", "fma.rn.bf16x2 %x<i>, %x<i>, %c0, %c1;"},
    {"fma.f64", "fma.rn.f64 %d<i>, %d<i>, %m0, %m1;"},
    {"cvt.f16x2.f32", "cvt.rn.f16x2.f32 %x<i>, %f<i>, %g0; mov.b32 %f<i>, %x<i>;"},
    {"cvt.bf16x2.f32", "cvt.rn.bf16x2.f32 %x<i>, %f<i>, %g0; mov.b32 %f<i>, %x<i>;"},
    {"cvt.f32.f16", "mov.b32 {%h0, _}, %f<i>; cvt.f32.f16 %f<i>, %h0;"},
    {"cvt.f32.s32", "mov.b32 %x<i>, %f<i>; cvt.rn.f32.s32 %f<i>, %x<i>;"},
    {"cvt.s32.f32", "cvt.rzi.s32.f32 %x<i>, %f<i>; mov.b32 %f<i>, %x<i>;"},
    {"cvt.e4m3x2.f32", "cvt.rn.satfinite.e4m3x2.f32 %h0, %f<i>, %g0; mov.b32 %f<i>, {%h0, %h1};"},
    {"ex2.ftz", "ex2.approx.ftz.f32 %f<i>, %f<i>;"},
    {"ex2+fma", "ex2.approx.f32 %f<i>, %f<i>; fma.rn.f32 %f<i>, %f<i>, %g0, %g1;"},
    {"rcp.ftz+add", "rcp.approx.ftz.f32 %f<i>, %f<i>; add.rn.f32 %f<i>, %f<i>, %g0;"},
    {"rsqrt.ftz", "rsqrt.approx.ftz.f32 %f<i>, %f<i>;"},
    {"lg2.ftz", "lg2.approx.ftz.f32 %f<i>, %f<i>;"},
    {"sin", "sin.approx.ftz.f32 %f<i>, %f<i>;"},
    {"tanh", "tanh.approx.f32 %f<i>, %f<i>;"},
    {"ex2.f16x2", "ex2.approx.f16x2 %x<i>, %x<i>;"},
    {"div.full", "div.full.f32 %f<i>, %g0, %f<i>;"},
    {"div.rn", "div.rn.f32 %f<i>, %g0, %f<i>;"},
    {"sqrt.rn", "sqrt.rn.f32 %f<i>, %f<i>;"},
    {"rcp.rn", "rcp.rn.f32 %f<i>, %f<i>;"},
    {"div.s32", "div.s32 %x<i>, %c0, %x<i>;"},
    {"div.s64", "div.s64 %q<i>, %k0, %q<i>;"},
    {"rem.u32", "rem.u32 %x<i>, %c0, %x<i>;"},
    {"div.s32.by6", "div.s32 %x<i>, %x<i>, 6;"},
    {"rem.u32.by6+xor", "rem.u32 %x<i>, %x<i>, 6; xor.b32 %x<i>, %x<i>, %c0;"},
    {"div.u32.by64", "div.u32 %x<i>, %x<i>, 64;"},
    {"div.f64", "div.rn.f64 %d<i>, %m0, %d<i>;"},
    {"setp.f64+selp", "setp.lt.f64 %p<i>, %d<i>, %m0; selp.f64 %d<i>, %m1, %m0, %p<i>;"},
    {"cvt.f64.s64", "mov.b64 %q<i>, %d<i>; cvt.rn.f64.s64 %d<i>, %q<i>;"},
    {"sqrt.ftz+add", "sqrt.approx.ftz.f32 %f<i>, %f<i>; add.rn.f32 %f<i>, %f<i>, %g0;"},
    {"mul.hi.s32", "mul.hi.s32 %x<i>, %x<i>, %c0;"},
    {"bfe+xor", "bfe.u32 %x<i>, %x<i>, %c0, %c1; xor.b32 %x<i>, %x<i>, %c2;"},
    {"brev+xor", "brev.b32 %x<i>, %x<i>; xor.b32 %x<i>, %x<i>, %c2;"},
    {"movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16 %x<i>, %x<i>;"},
    {"shfl.idx", "shfl.sync.idx.b32 %x<i>, %x<i>, %c0, 31, -1;"},
    {"shfl.bfly", "shfl.sync.bfly.b32 %x<i>, %x<i>, 1, 31, -1;"},
    {"vote+setp", "setp.lt.s32 %p<i>, %x<i>, %c0; vote.sync.ballot.b32 %x<i>, %p<i>, -1;"},
    {"redux.add", "redux.sync.add.s32 %x<i>, %x<i>, -1;"},
    {"redux.min", "redux.sync.min.s32 %x<i>, %x<i>, -1;"},
    {"bar.warp.sync", "bar.warp.sync -1;"},
    {"clock", "mov.u32 %c<i>, %clock; xor.b32 %x<i>, %x<i>, %c<i>;"},
    {"clock64", "mov.u64 %k<i>, %clock64; xor.b64 %q<i>, %q<i>, %k<i>;"},
};

constexpr int unrolled = 128;  // steps in a body

// Tensor core instructions of a warp; the accumulators of chain i are %ma<i> to %md<i>.
const char* const mma_registers =
    ".reg .f32 %ma<8>; .reg .f32 %mb<8>; .reg .f32 %mc<8>; .reg .f32 %md<8>;"
    ".reg .b32 %na<8>; .reg .b32 %nb<8>; .reg .b32 %nc<8>; .reg .b32 %nd<8>;";
const Op mma_ops[] = {
    {"mma.m16n8k16.f16",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%ma<i>, %mb<i>, %mc<i>, %md<i>}, "
     "{%c0, %c1, %c2, %c3}, {%c4, %c5}, {%ma<i>, %mb<i>, %mc<i>, %md<i>};"},
    {"mma.m16n8k8.tf32",
     "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%ma<i>, %mb<i>, %mc<i>, %md<i>}, "
     "{%c0, %c1, %c2, %c3}, {%c4, %c5}, {%ma<i>, %mb<i>, %mc<i>, %md<i>};"},
    {"mma.m16n8k32.s8",
     "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%na<i>, %nb<i>, %nc<i>, %nd<i>}, "
     "{%c0, %c1, %c2, %c3}, {%c4, %c5}, {%na<i>, %nb<i>, %nc<i>, %nd<i>};"},
};

std::string initial(int chain) {
  return fill(
      "xor.b32 %x<i>, %c<j>, %lane; mov.b32 %f<i>, %g<j>; xor.b64 %q<i>, %k<l>, <i>; mov.f64 %d<i>, %m0; "
      "mov.b16 %h1, 0;\n",
      {{"i", std::to_string(chain)}, {"j", std::to_string(chain % 8)}, {"l", std::to_string(chain % 4)}});
}

// A step of all chains, instruction by instruction, as ptxas would order them: what follows in a chain
// comes late.
std::string interleaved(const std::string& step, int chains) {
  if (step.find("%t1") != std::string::npos || step.find("%h0") != std::string::npos)
    return repeat(step, chains);
  std::string out;
  for (size_t at = 0; at < step.size();) {
    const size_t end = step.find(';', at) + 1;
    out += repeat(step.substr(at, end - at), chains);
    at = end;
  }
  return out;
}

Part part_of(const Op& op, int warps, int chains, int steps = unrolled) {
  Part part;
  part.warps = warps;
  for (int i = 0; i < chains; ++i) part.before += initial(i);
  for (int step = 0; step < steps / chains; ++step)
    part.body += interleaved(op.other != nullptr && step % 2 == 1 ? op.other : op.step, chains);
  for (int i = 0; i < chains; ++i) {
    const std::string n = std::to_string(i);
    part.after += fill("mov.b32 %x<j>, %f<i>; mov.b64 {%x<k>, %x<l>}, %q<i>; cvt.rzi.s32.f64 %x<m>, %d<i>;\n",
                       {{"i", n},
                        {"j", std::to_string(64 + i)},
                        {"k", std::to_string(72 + i)},
                        {"l", std::to_string(80 + i)},
                        {"m", std::to_string(88 + i)}});
    for (const int base : {0, 64, 72, 80, 88}) part.use.push_back("%x" + std::to_string(base + i));
  }
  return part;
}

Case pipe_case(const Op& op, int warps, int chains) {
  Case c;
  c.name = std::string("pipe.") + op.name;
  c.parameters = fmt::format("warps={} chains={}", warps, chains);
  c.unit = "cycles/step/SM";
  c.text = text({.parts = {part_of(op, warps, chains)}});
  c.block = {uint32_t(32 * warps), 1, 1};
  c.operations = double(unrolled) * warps;
  return c;
}

// Straight code, run once and again: what instructions cost that the instruction cache does not hold.
Case straight(bool again) {
  const Op op{"straight", "fma.rn.f32 %f<i>, %f<i>, %g0, %g1;"};
  Case c = pipe_case(op, 1, 8);
  c.text = text({.parts = {part_of(op, 1, 8, 2048)}});
  c.parameters = again ? "again" : "once";
  c.shorter = again ? 1 : 0;
  c.longer = again ? 3 : 1;
  c.operations = 2048;
  return c;
}

// Branches over `gap` instructions, once and again: what it costs to go on where the instruction cache has
// nothing, which prefetches what follows.
Case skips(int gap, bool again) {
  constexpr int count = 16;
  Part part{.use = {"%x0"}};
  part.before = "mov.f32 %f0, %g0; setp.ne.u32 %p1, %n, 0x7FFFFFFF;\n";
  for (int i = 0; i < count; ++i)
    part.body += fmt::format("@%p1 bra $over{0};\n{1}$over{0}: fma.rn.f32 %f0, %f0, %g1, %g2;\n", i,
                             repeat("fma.rn.f32 %f0, %f0, %f0, %g1;", gap));
  part.after = "mov.b32 %x0, %f0;\n";
  Case c;
  c.name = "pipe.skip";
  c.parameters = fmt::format("gap={} {}", gap, again ? "again" : "once");
  c.unit = "cycles/branch";
  c.text = text({.parts = {part}});
  c.shorter = again ? 1 : 0;
  c.longer = again ? 3 : 1;
  c.operations = count;
  return c;
}

// Iterations of a loop: short ones ptxas unrolls by four.
Case loop(int steps) {
  const Op op{"loop", "fma.rn.f32 %f<i>, %f<i>, %g0, %g1;"};
  Case c = pipe_case(op, 1, 8);
  c.text = text({.parts = {part_of(op, 1, 8, steps)}});
  c.parameters = fmt::format("steps={}", steps);
  c.unit = "cycles/iteration";
  c.operations = 1;
  return c;
}

Case mma_case(const Op& op, int warps, int chains) {
  Case c = pipe_case(op, warps, chains);
  KernelText k{.declarations = mma_registers, .parts = {part_of(op, warps, chains)}};
  Part& part = k.parts.front();
  for (int i = 0; i < chains; ++i) {
    const std::string n = std::to_string(i);
    part.before += fill(
        "mov.f32 %ma<i>, %g0; mov.f32 %mb<i>, %g1; mov.f32 %mc<i>, %g2; mov.f32 %md<i>, %g3; mov.b32 "
        "%na<i>, 0; mov.b32 %nb<i>, 0; mov.b32 %nc<i>, 0; mov.b32 %nd<i>, 0;\n",
        {{"i", n}});
    part.after += fill("mov.b32 %x<j>, %ma<i>; xor.b32 %x<j>, %x<j>, %na<i>;\n",
                       {{"i", n}, {"j", std::to_string(96 + i)}});
    part.use.push_back("%x" + std::to_string(96 + i));
  }
  c.text = text(k);
  return c;
}

}  // namespace

std::vector<Case> pipe_cases() {
  std::vector<Case> out{straight(false), straight(true), loop(8), loop(16), loop(24), loop(64)};
  for (const int gap : {32, 64, 128, 256, 512})
    for (const bool again : {false, true}) out.push_back(skips(gap, again));
  for (const int gap : {32, 128, 512}) {
    Case c = skips(gap, false);
    c.parameters += " cold";
    c.cold = true;
    out.push_back(std::move(c));
  }
  for (const Op& op : ops)
    for (const auto& [warps, chains] : {std::pair{1, 1}, {1, 8}, {4, 8}, {8, 8}, {16, 4}})
      out.push_back(pipe_case(op, warps, chains));
  for (const Op& op : mma_ops)
    for (const auto& [warps, chains] : {std::pair{1, 1}, {1, 4}, {4, 4}, {8, 4}})
      out.push_back(mma_case(op, warps, chains));
  return out;
}

}  // namespace palladion::bench
