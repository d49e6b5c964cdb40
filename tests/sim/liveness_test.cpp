// Live registers, against dataflow with a value for every register.
#include "sim/program/liveness.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "isa/text/parse.h"
#include "sim/program/compile/compile.h"
#include "sim/program/flow.h"
#include "sim/program/registers.h"

namespace palladion::sim {
namespace {

using Registers = std::set<uint32_t>;

void walk_back(const Program& p, uint32_t f, const isa::Block& b, FlowState& live) {
  for (uint32_t i = b.last; i-- > b.first;) {
    const MicroOp& op = p.code[p.function_start[f] + i];
    const uint32_t base = p.register_offsets_base[f];
    for_each_register(p, op, [&](const RegisterUse& u) {
      if (u.writes && !u.reads && op.guard < 0) live[u.reg - base] = 0;
    });
    for_each_register(p, op, [&](const RegisterUse& u) {
      if (u.reads) live[u.reg - base] = 1;
    });
  }
}

Registers registers(const FlowState& live) {
  Registers out;
  for (uint32_t r = 0; r < live.size(); ++r)
    if (live[r] != 0) out.insert(r);
  return out;
}

void expect_same(const std::string& body) {
  const auto module = isa::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n"
      ".reg .b32 %r<200>; .reg .b64 %rd<4>; .reg .pred %p<4>;\n" +
      body + "ret;\n}\n");
  ASSERT_TRUE(module) << isa::render(module.error());
  const auto program = compile(*module, *module->find_entry("k"), isa::default_arch(),
                               std::vector<uint64_t>(module->symbols.size()));
  const Program& p = *program;
  const isa::Function& f = module->functions[0];
  const isa::Cfg cfg = isa::build_cfg(f);
  const Liveness live(p, 0, cfg);
  const FlowState none(f.registers.size());
  const auto transfer = [&](const isa::Block& b, FlowState& s) { walk_back(p, 0, b, s); };
  const auto at = flow_backward(cfg, none, none, join_any, transfer);
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    Registers in, out;
    live.for_each_in(b, [&](uint32_t r) { EXPECT_TRUE(in.insert(r).second); });
    live.for_each_out(b, [&](uint32_t r) { EXPECT_TRUE(out.insert(r).second); });
    EXPECT_EQ(out, registers(at[b])) << "block " << b << " of\n" << body;
    FlowState state = at[b];
    transfer(cfg.blocks[b], state);
    EXPECT_EQ(in, registers(state)) << "block " << b << " of\n" << body;
  }
}

TEST(Liveness, OfBlocksThatReadAndWrite) {
  expect_same("add.u32 %r1, %r2, %r3; add.u32 %r2, %r1, %r1;\n");
  expect_same("");
}

TEST(Liveness, AWriteUnderAPredicateKeepsTheValue) {
  expect_same("setp.eq.u32 %p1, %r1, 0; bra A; A: @%p1 mov.u32 %r2, 1; bra B; B: add.u32 %r3, %r2, 1;\n");
}

TEST(Liveness, RoundALoop) {
  expect_same(
      "mov.u32 %r1, 0; A: add.u32 %r1, %r1, %r4; setp.lt.u32 %p1, %r1, %r5; @%p1 bra A; add.u32 %r6, %r1, "
      "%r5;\n");
}

TEST(Liveness, OfMoreRegistersThanAWordHolds) {
  std::string body;
  for (int i = 0; i < 180; ++i)
    body += "add.u32 %r" + std::to_string((i * 71 + 13) % 200) + ", %r" + std::to_string(i * 37 % 200) +
            ", %r" + std::to_string(i * i % 200) + "; setp.eq.u32 %p" + std::to_string(i % 4) + ", %r" +
            std::to_string(i * 3 % 200) + ", 0; @%p" + std::to_string((i + i / 7) % 4) + " bra L" +
            std::to_string(i * 53 % 180) + "; L" + std::to_string(i) + ":\n";
  expect_same(body);
}

}  // namespace
}  // namespace palladion::sim
