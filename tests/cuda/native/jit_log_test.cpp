#include "cuda/native/jit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace palladion::cuda::native {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// As the driver of CUDA 13.0 prints them.
constexpr const char* errors =
    "ptxas application ptx input, line 6; error   : Arguments mismatch for instruction 'add'\n"
    "ptxas application ptx input, line 7; error   : Not a name of any known instruction: 'foo'\n"
    "ptxas application ptx input, line 9; warning : Instruction 'shfl' without '.sync' may produce "
    "unpredictable results\n"
    "ptxas fatal   : Ptx assembly aborted due to errors\n";

constexpr const char* usage =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
    "ptxas info    : Function properties for first\n"
    "    16 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 3 barriers, 1040 bytes smem, 560 bytes cmem[0]\n"
    "ptxas info    : Function properties for helper\n"
    "    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
    "ptxas info    : Function properties for second\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 4 registers, used 0 barriers\n";

constexpr const char* ptx =
    ".version 8.0\n"
    ".file 1 \"matmul.cpp\"\n"
    ".file 2 \"other.cpp\"\n"
    ".entry k() {\n"
    "  .loc 2 31 7\n"
    "  add.s32 %r1;\n"
    "  foo.s32 %r1;\n"
    "  .loc 1 44 0\n"
    "  shfl.b32 %r1;\n"
    "}\n";

TEST(JitLog, SplitsMessages) {
  using Kind = JitMessage::Kind;
  EXPECT_THAT(parse_jit_log(errors),
              ElementsAre(JitMessage{Kind::error, 6, "Arguments mismatch for instruction 'add'"},
                          JitMessage{Kind::error, 7, "Not a name of any known instruction: 'foo'"},
                          JitMessage{Kind::warning, 9,
                                     "Instruction 'shfl' without '.sync' may produce unpredictable results"},
                          JitMessage{Kind::error, 0, "Ptx assembly aborted due to errors"}));
  EXPECT_THAT(parse_jit_log(""), SizeIs(0));
}

TEST(JitLog, ReadsRegistersAndSpills) {
  const auto use = parse_resource_use(usage);
  ASSERT_THAT(use, SizeIs(2));
  EXPECT_EQ(use.at("first"), (ResourceUse{.registers = 168,
                                          .stack_bytes = 16,
                                          .spill_store_bytes = 24,
                                          .spill_load_bytes = 32,
                                          .barriers = 3,
                                          .shared_bytes = 1040}));
  EXPECT_EQ(use.at("second"), (ResourceUse{.registers = 4}));
}

TEST(JitLog, ReadsRemarksOnTheCode) {
  const auto remarks = parse_remarks(
      "ptxas info    : (C7513) Potential Performance Loss: wgmma.mma_async instructions are serialized due "
      "to "
      "non wgmma instructions defining input registers of a wgmma between start and end of the pipeline "
      "stage "
      "in the function 'first'\n"
      "ptxas info    : (C7517) warpgroup.wait is injected in around line 29 by compiler to allow use of "
      "registers defined by GMMA in function 'second'\n"
      "ptxas info    : (C7517) warpgroup.wait is injected in around line 29 by compiler to allow use of "
      "registers defined by GMMA in function 'second'\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n");
  ASSERT_THAT(remarks, SizeIs(2)) << "each once";
  EXPECT_EQ(remarks[0].code, "C7513");
  EXPECT_EQ(remarks[0].function, "first");
  EXPECT_EQ(remarks[0].line, 0U);
  EXPECT_THAT(remarks[0].text, testing::StartsWith("Potential Performance Loss: wgmma.mma_async"));
  EXPECT_EQ(remarks[1].code, "C7517");
  EXPECT_EQ(remarks[1].function, "second");
  EXPECT_EQ(remarks[1].line, 29U);
}

TEST(JitLog, FindsTheAuthorsLine) {
  const isa::SourceLoc before = author_location(ptx, 7), after = author_location(ptx, 9);
  EXPECT_EQ(before.file, "other.cpp");
  EXPECT_EQ(before.line, 31u);
  EXPECT_EQ(after.file, "matmul.cpp");
  EXPECT_EQ(after.line, 44u);
  EXPECT_FALSE(author_location(ptx, 3).known());
}

TEST(JitLog, ErrorsBecomeDiagnosticsWithBothLines) {
  const isa::Diagnostics d = jit_diagnostics(errors, ptx, "unused");
  ASSERT_THAT(d, SizeIs(2));
  EXPECT_EQ(d[1].loc.line, 7u);
  EXPECT_THAT(d[1].message, HasSubstr("'foo'"));
  EXPECT_EQ(d[1].help, "written at other.cpp:31");
}

TEST(JitLog, AnEmptyLogStillSaysSomething) {
  const isa::Diagnostics d = jit_diagnostics("", ptx, "the driver does not load the PTX");
  ASSERT_THAT(d, SizeIs(1));
  EXPECT_EQ(d[0].message, "the driver does not load the PTX");
}

}  // namespace
}  // namespace palladion::cuda::native
