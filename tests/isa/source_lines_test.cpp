// Where instructions are from: .loc with the chain of inlined functions.
#include <gtest/gtest.h>

#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "tests/isa/same.h"

namespace palladion::isa {
namespace {

Module module_of(const std::string& body, const std::string& before) {
  auto module = parse(".version 8.7\n.target sm_90a\n.address_size 64\n" + before +
                      ".visible .entry k() {\n.reg .b32 %r<9>;\n" + body + "\nret;\n}\n");
  EXPECT_TRUE(module) << (module ? "" : render(module.error()));
  return module ? std::move(*module) : Module{};
}

// `wait` of ring.h, inlined at two places of a.cu, has CUDA's own code inlined in turn.
const Module& inlined() {
  static const Module module = module_of(
      ".loc 1 7 3\nmov.u32 %r1, 0;\n"
      ".loc 2 30 1, function_name $L__s0, inlined_at 1 7 3\nmov.u32 %r1, 1;\n"
      ".loc 3 90 2, function_name $L__s1, inlined_at 2 30 1\nmov.u32 %r1, 2;\n"
      ".loc 1 9 3\nmov.u32 %r1, 3;\n"
      ".loc 2 30 1, function_name $L__s0, inlined_at 1 9 3\nmov.u32 %r1, 4;\n"
      ".loc 3 90 2, function_name $L__s1, inlined_at 2 30 1\nmov.u32 %r1, 5;\n"
      ".loc 3 0 0, function_name .debug_str+6, inlined_at 2 30 1\nmov.u32 %r1, 6;",
      ".file 1 \"a.cu\"\n.file 2 \"ring.h\"\n.file 3 \"/usr/local/cuda/include/cuda/std/atomic\"\n"
      ".section .debug_str\n{\n$L__s0:\n.b8 119,97,105,116 // \"wait\"\n.b8 0\n$L__s1:\n"
      ".b8 108,111,0x61,100,0\n}\n");
  return module;
}

TEST(source_lines, the_chain_of_inlined_functions_is_kept) {
  const Module& m = inlined();
  const auto lines = [&](size_t i) {
    std::vector<uint32_t> out;
    for (const Frame& f : m.frames_of(m.functions.front().body[i])) out.push_back(f.at.line);
    return out;
  };
  using Lines = std::vector<uint32_t>;
  EXPECT_EQ(lines(0), Lines{}) << "not inlined";
  EXPECT_EQ(lines(1), (Lines{30, 7}));
  EXPECT_EQ(lines(2), (Lines{90, 30, 7}));
  EXPECT_EQ(lines(4), (Lines{30, 9}));
  EXPECT_EQ(lines(5), (Lines{90, 30, 9})) << "the place that was named last";
  EXPECT_EQ(lines(6), (Lines{30, 9})) << "line 0 is the compiler's own";
  const Frames frames = m.frames_of(m.functions.front().body[2]);
  EXPECT_EQ(frames[0].function, "load");
  EXPECT_EQ(frames[1].function, "wait");
  EXPECT_EQ(frames[2].function, "");
  EXPECT_EQ(frames[2].at.file, "a.cu");
}

// As Triton's loads, stores and atomics are printed.
TEST(source_lines, inline_assembly_is_where_its_first_line_is) {
  const Module m = module_of(
      ".loc 1 12 11\n// begin inline asm\n.loc 1 12 11\nmov.u32 %r1, 1;\n.loc 1 13 11\nmov.u32 %r1, 2;\n"
      ".loc 1 14 11\nmov.u32 %r1, 3;\n// end inline asm\nmov.u32 %r1, 4;\n.loc 1 20 1\n"
      "// begin inline asm\nmov.u32 %r1, 5;\n.loc 1 21 1\nmov.u32 %r1, 6;\n\n\t// end inline asm\n"
      ".loc 1 30 1\n// begin inline asm\n.loc 1 8 3\n.loc 2 50 1, function_name $L__s, inlined_at 1 8 3\n"
      "mov.u32 %r1, 7;\n.loc 2 51 1, function_name $L__s, inlined_at 1 8 3\nmov.u32 %r1, 8;\n// end inline "
      "asm\n"
      ".loc 1 31 1\nmov.u32 %r1, 9;\n"
      // As Triton's waits: a declaration and a label come first.
      ".loc 1 40 5\n// begin inline asm\n\n{\n.reg .pred %done;\n.loc 1 43 5\nagain:\n.loc 1 44 5\n"
      "mov.u32 %r1, 10;\n}\n// end inline asm\n.loc 1 41 5\nmov.u32 %r1, 11;",
      ".file 1 \"a.py\"\n.file 2 \"b.py\"\n");
  std::vector<uint32_t> lines;
  for (const Instruction& i : m.functions.front().body)
    if (i.origin.source != no_id) lines.push_back(m.frames[i.origin.source].at.line);
  EXPECT_EQ(lines, (std::vector<uint32_t>{12, 12, 12, 12, 20, 20, 50, 50, 31, 40, 41, 41}));
}

TEST(source_lines, a_place_is_the_innermost_of_the_author) {
  const Module& m = inlined();
  const auto place = [&](size_t i) {
    const SourceLoc& at = *m.source(m.functions.front().body[i]);
    return at.file + ":" + std::to_string(at.line);
  };
  EXPECT_EQ(place(0), "a.cu:7");
  EXPECT_EQ(place(1), "ring.h:30");
  EXPECT_EQ(place(2), "ring.h:30") << "CUDA's own header is skipped";
}

TEST(source_lines, the_chain_survives_the_printer) {
  const auto again = parse(print(inlined()));
  ASSERT_TRUE(again) << render(again.error());
  EXPECT_EQ(difference(inlined(), *again), "");
}

}  // namespace
}  // namespace palladion::isa
