// Which arrays an address is computed from.
#include "sim/program/arrays.h"

#include <gtest/gtest.h>

#include <string>

#include "isa/text/parse.h"
#include "sim/program/compile/compile.h"

namespace palladion::sim {
namespace {

// Whether the first load and the store of the body may access one array.
bool may_share(const std::string& body) {
  const auto module = isa::parse(
      ".version 8.0\n.target sm_90a\n.address_size 64\n.global .align 4 .b8 table[64];\n"
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {\n"
      ".shared .align 4 .b8 s[64]; .shared .align 4 .b8 t[64];\n"
      ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>;\n"
      "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u32 %r1, [n];\n"
      "mov.u32 %r2, %tid.x;\nadd.u32 %r3, %r1, %r2;\nmul.wide.u32 %rd3, %r3, 4;\n" +
      body + "ret;\n}\n");
  EXPECT_TRUE(module) << isa::render(module.error());
  const auto program = compile(*module, *module->find_entry("k"), isa::default_arch(),
                               std::vector<uint64_t>(module->symbols.size()));
  Pc load(isa::no_id), store(isa::no_id);
  for (const MicroOp& op : program->code) {
    if (op.instruction == nullptr) continue;
    const isa::Footprint& f = program->footprints[op.pc];
    if (f.writes_memory()) store = op.pc;
    const auto* const read = f.read();
    if (load == isa::no_id && read != nullptr && read->space != isa::Space::param) load = op.pc;
  }
  EXPECT_NE(load, isa::no_id);
  EXPECT_NE(store, isa::no_id);
  return ArrayAnalysis(*program).may_share(load, store);
}

TEST(ArrayAnalysis, ParametersAreToldApart) {
  const std::string load = "ld.global.u32 %r4, [%rd1];\n";
  EXPECT_FALSE(may_share(load + "st.global.u32 [%rd2], 1;\n"));
  EXPECT_TRUE(may_share(load + "st.global.u32 [%rd1+8], 1;\n"));
  EXPECT_FALSE(may_share(load + "add.u64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], 1;\n"));
  EXPECT_TRUE(may_share(load + "add.u64 %rd4, %rd1, %rd3;\nst.global.u32 [%rd4], 1;\n"));
}

TEST(ArrayAnalysis, OneOfSeveralAssignmentsIsEnough) {
  EXPECT_TRUE(
      may_share("ld.global.u32 %r4, [%rd1];\nmov.u64 %rd4, %rd2;\nsetp.eq.u32 %p1, %r2, 0;\n"
                "@%p1 mov.u64 %rd4, %rd1;\nst.global.u32 [%rd4], 1;\n"));
}

TEST(ArrayAnalysis, VariablesAreToldApart) {
  EXPECT_FALSE(may_share("ld.shared.u32 %r4, [s];\nst.shared.u32 [t+4], 1;\n"));
  EXPECT_TRUE(may_share("ld.shared.u32 %r4, [s];\nst.shared.u32 [s+4], 1;\n"));
  EXPECT_FALSE(may_share("ld.global.u32 %r4, [%rd1];\nmov.u64 %rd4, table;\nst.global.u32 [%rd4], 1;\n"));
}

TEST(ArrayAnalysis, AnIndexFromMemoryIsAnIndexAndAPointerIsUnknown) {
  EXPECT_FALSE(
      may_share("ld.global.u32 %r4, [%rd1];\nmul.wide.u32 %rd4, %r4, 4;\nadd.u64 %rd4, %rd2, %rd4;\n"
                "st.global.u32 [%rd4], 1;\n"));
  EXPECT_TRUE(may_share("ld.global.u64 %rd5, [%rd1];\nst.global.u32 [%rd5], 1;\n"));
}

}  // namespace
}  // namespace palladion::sim
