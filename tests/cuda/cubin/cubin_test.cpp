// Machine code that carries its PTX.
#include "cuda/cubin/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "cuda/cubin/carried_ptx.h"
#include "isa/core/module.h"
#include "isa/core/op.h"
#include "isa/text/parse.h"
#include "tests/cuda/cubin/elf.h"
#include "tests/cuda/cubin/inline_assembly.h"
#include "tests/cuda/cubin/sample.h"

namespace palladion::cuda::cubin {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

std::string sample_cubin() {
  return elf_of({{".text.k", "code"},
                 {".debug_line", sample::lines},
                 {".rela.debug_line", sample::line_relocations},
                 {".nv_debug_line_sass", sample::ptx_lines},
                 {".rela.nv_debug_line_sass", sample::ptx_line_relocations},
                 {".debug_str", sample::names},
                 {".nv_debug_ptx_txt", sample::ptx}});
}

// Lines of the author of each instruction that reads or writes memory, the innermost first: "3@_Z5thirdPKii
// 6".
std::vector<std::string> lines_of_accesses(const std::string& ptx) {
  const auto module = isa::parse(ptx);
  if (!module) return {isa::render(module.error(), ptx)};
  std::vector<std::string> out;
  for (const isa::Instruction& i : module->functions.front().body) {
    if (i.op->name != "ld" && i.op->name != "st") continue;
    std::string text;
    for (uint32_t f = i.origin.source; f != isa::no_id; f = module->frames[f].caller) {
      const isa::SourceFrame& frame = module->frames[f];
      text += (text.empty() ? "" : " ") + std::to_string(frame.at.line);
      if (!frame.function.empty()) text += '@' + frame.function;
      EXPECT_EQ(frame.at.file, "/src/demo/small.cu");
    }
    out.push_back(text);
  }
  return out;
}

TEST(Cubin, CarriesItsPtxWithTheAuthorsLines) {
  const auto texts = ptx_of(sample_cubin());
  ASSERT_TRUE(texts) << texts.error();
  ASSERT_EQ(texts->size(), 1U);
  // The loads of parameters left no code.
  EXPECT_THAT(lines_of_accesses(texts->front()),
              ElementsAre("", "", "2@_Z5thirdPKii 6", "3@_Z5thirdPKii 6", "7", "2@_Z5thirdPKii 8",
                          "3@_Z5thirdPKii 8", "8"));
}

// LLVM numbers the lines of inline assembly on: 22 to 28 here.
TEST(Cubin, InlineAssemblyInBracesHasTheLineOfItsStatement) {
  const auto texts = ptx_of(elf_of({{".text.k", "code"},
                                    {".debug_line", inline_assembly::lines},
                                    {".rela.debug_line", inline_assembly::line_relocations},
                                    {".nv_debug_line_sass", inline_assembly::ptx_lines},
                                    {".rela.nv_debug_line_sass", inline_assembly::ptx_line_relocations},
                                    {".nv_debug_ptx_txt", inline_assembly::ptx}}));
  ASSERT_TRUE(texts) << texts.error();
  const auto module = isa::parse(texts->front());
  ASSERT_TRUE(module) << isa::render(module.error(), texts->front());
  std::vector<uint32_t> lines;
  for (const isa::Instruction& i : module->functions.front().body)
    if (i.op->name != "ret" && i.origin.source != isa::no_id)
      lines.push_back(module->frames[i.origin.source].at.line);
  EXPECT_THAT(lines, ElementsAre(10, 20, 20, 20, 20, 20, 21));
}

// What ptxas notes of two functions: 124 registers and 10.
TEST(Cubin, SaysHowManyRegistersAThreadOfEachFunctionTakes) {
  const std::string names = "\0k\0other\0"s;
  std::string symbols(24, '\0'), info;
  for (const uint32_t name : {1U, 3U}) {
    put(symbols, name);
    symbols.resize(symbols.size() + 20);
  }
  put<uint32_t>(info, 0x0000'3704);  // of another kind, without bytes
  put<uint32_t>(info, 0x002f'4a03);  // two bytes, which look like that of registers
  for (const auto& [symbol, count] : {std::pair(1U, 124U), std::pair(2U, 10U), std::pair(9U, 7U)}) {
    put<uint32_t>(info, 0x0008'2f04);
    put(info, symbol);
    put(info, count);
  }
  const std::string cubin = elf_of({{".nv.info", info}, {".symtab", symbols}, {".strtab", names}});
  EXPECT_THAT(registers_of(cubin), ElementsAre(Pair("k", 124U), Pair("other", 10U)));
  EXPECT_TRUE(registers_of(cubin.substr(0, cubin.size() / 2)).empty());
  EXPECT_TRUE(registers_of(carry(sample::ptx)).empty());
}

// `.local` is no `.loc`.
TEST(Cubin, LocalMemoryDoesNotHideTheTables) {
  std::string cubin = sample_cubin();
  const std::string was = ".reg .b64 \t%rd<11>;";
  cubin.replace(cubin.find(was), was.size(), ".local .b8 d[8000];");
  EXPECT_THAT(ptx_of(cubin).value().front(), HasSubstr("\n.loc 1 7 0\n"));
}

TEST(Cubin, LinesOfThePtxKeepTheirNumbers) {
  const auto texts = ptx_of(sample_cubin());
  ASSERT_TRUE(texts) << texts.error();
  size_t line = 0, at = 0;
  for (size_t end = sample::ptx.find('\0'); end != std::string::npos; end = sample::ptx.find('\0', at)) {
    const std::string was = sample::ptx.substr(line, end - line);
    line = at = end + 1;
    if (was.empty() || was[0] == '.' || was[0] == '$' || was[0] == '{' || was[0] == '}') continue;
    const auto rank = [&](const std::string& text, size_t place, char end_of_line) {
      return std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(place), end_of_line);
    };
    EXPECT_EQ(rank(texts->front(), texts->front().find(was), '\n'),
              rank(sample::ptx, sample::ptx.find(was), '\0'))
        << was;
  }
}

TEST(Cubin, WithoutTablesTheTextIsGivenAsItIs) {
  const auto texts = ptx_of(elf_of({{".nv_debug_ptx_txt", ".version 8.0\0.target sm_90\0"s}}));
  ASSERT_TRUE(texts) << texts.error();
  EXPECT_THAT(*texts, ElementsAre(".version 8.0\n.target sm_90\n"));
}

TEST(Cubin, ALinkedOneHasATextAnObject) {
  const std::string one = ".version 8.0\0.visible .entry one() { ret; }\0"s,
                    two = ".version 8.0\0.visible .entry two() { ret; }\0"s;
  const std::string linked =
      elf_of({{".nv_debug_ptx_txt.1791382455", one}, {".nv_debug_ptx_txt.2385137048", two}});
  const auto found = ptx_with(linked, "two");
  ASSERT_TRUE(found) << found.error();
  EXPECT_THAT(found->text, HasSubstr("two"));
  EXPECT_THAT(found->linked, ElementsAre(HasSubstr("one")));
  EXPECT_THAT(ptx_with(linked, "tw").error(), HasSubstr("without the kernel `tw`"));
}

TEST(Cubin, WhatIsMadeToCarryATextGivesItBack) {
  const std::string ptx =
      "// a comment\n.version 8.7\n.target sm_103a\n.visible .entry k() {\n.loc 1 7 3\nret; // behind\n}\n"
      ".file 1 \"k.py\"\n";
  const std::string made = carry(ptx);
  const auto texts = ptx_of(made);
  ASSERT_TRUE(texts) << texts.error();
  EXPECT_THAT(*texts, ElementsAre(ptx));
  EXPECT_TRUE(functions_of(made).empty());
  EXPECT_EQ(made[48 + 1], 103) << "e_flags has the chip";
}

TEST(Cubin, WithoutPtxItsFunctionsAreNamedAndWhatWouldGiveIt) {
  const auto texts = ptx_of(elf_of({{".text.add", "x"}, {".text._Z3mulPf", "y"}}));
  ASSERT_FALSE(texts);
  EXPECT_THAT(texts.error(), StartsWith("machine code without its PTX: `add`, `_Z3mulPf`"));
  for (const char* way : {"-lineinfo", "TRITON_DISABLE_LINE_INFO", "CUPY_COMPILE_WITH_PTX", "lineinfo=True"})
    EXPECT_THAT(texts.error(), HasSubstr(way));
}

TEST(Cubin, OtherFilesAreToldByWhatTheyAre) {
  const auto why = [](const std::string& bytes) { return ptx_of(bytes).error(); };
  EXPECT_THAT(why(""), HasSubstr("no ELF file of 64 bits"));
  EXPECT_THAT(why(".version 8.0"), HasSubstr("no ELF file of 64 bits"));
  EXPECT_THAT(why(elf_of({{".text.k", "x"}}, 62)), HasSubstr("not for NVIDIA's chips"));
  EXPECT_THAT(why(elf_of({{".nv_debug_ptx_txt", "no PTX"}})), HasSubstr("holds no PTX"));
}

TEST(Cubin, WhatIsCutOffIsRefused) {
  const std::string whole = sample_cubin();
  for (size_t n = 0; n < whole.size(); ++n) {
    const auto texts = ptx_of(whole.substr(0, n));
    ASSERT_FALSE(texts) << n;
    ASSERT_THAT(texts.error(), StartsWith("broken machine code: ")) << n;
    ASSERT_TRUE(section_of(whole.substr(0, n), ".text.k").empty());
  }
}

// Bytes that lie: nothing is read outside, nothing is endless.
TEST(Cubin, ForgedFilesAreReadWithoutHarm) {
  std::mt19937 random(7);
  const std::string whole = sample_cubin();
  size_t read = 0;
  for (int trial = 0; trial < 20'000; ++trial) {
    std::string forged = whole;
    for (unsigned n = random() % 8 + 1; n > 0; --n)
      forged[random() % forged.size()] = static_cast<char>(random() % 3 == 0 ? 0xff : random());
    const auto texts = ptx_of(forged);
    read += texts ? 1 : 0;
    if (!texts) {
      ASSERT_FALSE(texts.error().empty());
    }
    made_by(forged);
    functions_of(forged);
    registers_of(forged);
  }
  EXPECT_GT(read, 1000U) << "hardly any came as far as its PTX";
}

// A row that is said to be inlined into itself.
TEST(Cubin, CirclesOfInlinedCallsEnd) {
  std::string lines = sample::lines;
  for (size_t at = lines.find("\0\3\220\3"s); at != std::string::npos; at = lines.find("\0\3\220\3"s, at + 1))
    lines[at + 3] = 4;
  const auto texts = ptx_of(elf_of({{".debug_line", lines},
                                    {".rela.debug_line", sample::line_relocations},
                                    {".nv_debug_line_sass", sample::ptx_lines},
                                    {".rela.nv_debug_line_sass", sample::ptx_line_relocations},
                                    {".nv_debug_ptx_txt", sample::ptx}}));
  ASSERT_TRUE(texts) << texts.error();
  EXPECT_LT(texts->size(), size_t{1} << 20);
}

}  // namespace
}  // namespace palladion::cuda::cubin
