// mma.sp and wgmma.mma_async.sp against what an H200 gave for the same kernels and inputs
// (tests/device/sparse.csv), and without a device: what a user sees of metadata and selectors.
#include <gmock/gmock.h>

#include <bit>
#include <fstream>
#include <map>

#include "sim/machine/exec/sparse.h"
#include "tests/sim/ptx_runner.h"
#include "tests/sim/sparse_cases.h"

namespace palladion::sim {
namespace {

using namespace sparse_cases;
using testing::PtxRunner;

// Columns: opcode;selector;operands;values;metadata;seed;hash
std::map<std::string, uint64_t> recorded() {
  std::ifstream file(PLD_SOURCE_DIR "/tests/device/sparse.csv");
  std::map<std::string, uint64_t> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t at = line.rfind(';');
    rows[line.substr(0, at)] = std::stoull(line.substr(at + 1), nullptr, 16);
  }
  return rows;
}

RunResult run(const Case& c, std::vector<uint32_t> input, std::vector<uint32_t>& output,
              const RunOptions& options = {}) {
  output.assign(static_cast<size_t>(c.output_words()), 0);
  PtxRunner runner(ptx_of(c));
  runner.array(input).array(output).shape({1, 1, 1}, {static_cast<uint32_t>(c.threads()), 1, 1});
  return runner.run(options);
}

TEST(Sparse, EveryRecordedCaseHasTheBitsOfAnH200) {
  const auto rows = recorded();
  ASSERT_GT(rows.size(), 500U);
  size_t compared = 0;
  for (const Case& c : all_cases()) {
    const auto row = rows.find(name_of(c));
    if (row == rows.end()) continue;
    std::vector<uint32_t> output;
    const RunResult r = run(c, input_of(c), output);
    ASSERT_TRUE(r.clean()) << name_of(c) << '\n' << PtxRunner::describe(r);
    EXPECT_EQ(hash_of(output), row->second) << name_of(c);
    ++compared;
  }
  EXPECT_EQ(compared, rows.size()) << "rows that no case has";
}

TEST(Sparse, AsynchronousOnesAreTheSameUnderEverySchedule) {
  Case c = wgmma_case(24, 32, "f32", "f16", "f16");
  c.selector = 1;
  std::vector<uint32_t> first, output;
  run(c, input_of(c), first);
  for (const RunOptions& options : testing::every_schedule()) {
    EXPECT_TRUE(run(c, input_of(c), output, options).clean());
    EXPECT_EQ(output, first);
  }
}

// All of A is 1 and B[k][n] is 2^(k % 4), so that an output names the places that were selected.
std::vector<uint32_t> telling_input(const Case& c, uint32_t metadata) {
  std::vector<uint32_t> words(static_cast<size_t>(c.threads()) * static_cast<size_t>(c.d_registers()));
  words.insert(words.end(), static_cast<size_t>(c.threads()) * static_cast<size_t>(c.a_registers()),
               0x3C003C00);
  for (int i = 0; i < c.b_registers(); ++i)
    for (int lane = 0; lane < 32; ++lane) words.push_back(lane % 2 ? 0x4800'4400 : 0x4000'3C00);
  words.insert(words.end(), 32, metadata);
  return words;
}

TEST(Sparse, TwoBitIndicesChooseTheElementsOfEachFour) {
  const Case c = mma_case("sp::ordered_metadata", 16, "f32", "f16", "f16");
  std::vector<uint32_t> output;
  for (const auto& [nibble, sum] :
       {std::pair{0x4U, 1 + 2}, {0x8U, 1 + 4}, {0xCU, 1 + 8}, {0x9U, 2 + 4}, {0xDU, 2 + 8}, {0xEU, 4 + 8}}) {
    EXPECT_TRUE(run(c, telling_input(c, nibble * 0x11111111), output).clean());
    for (const uint32_t word : output)
      EXPECT_EQ(std::bit_cast<float>(word), 4.0F * static_cast<float>(sum)) << nibble;
  }
}

TEST(Sparse, OnlyTheSelectedThreadsMetadataCount) {
  Case c = mma_case("sp::ordered_metadata", 16, "f32", "f16", "f16");
  for (c.selector = 0; c.selector < 4; ++c.selector) {
    std::vector<uint32_t> input = telling_input(c, 0), output;  // 0 is no legal word
    for (size_t group = 0; group < 8; ++group)
      input[input.size() - 32 + 4 * group + static_cast<size_t>(c.selector)] = 0xEEEEEEEE;
    EXPECT_TRUE(run(c, input, output).clean()) << c.selector;
    EXPECT_EQ(std::bit_cast<float>(output[0]), 4.0F * 12);
  }
}

void expect_undefined(const Case& c, uint32_t metadata) {
  std::vector<uint32_t> input = input_of(c), output;
  input[input.size() - 32] = metadata;  // lane 0 of the last warp
  const RunResult r = run(c, input, output);
  ASSERT_EQ(r.findings.size(), 1U) << c.opcode;
  EXPECT_EQ(r.findings[0].code, "PLD3066");
  EXPECT_EQ(r.findings[0].message, say<Phrase::undefined_metadata>());
}

TEST(Sparse, MetadataThatPtxLeavesUndefinedAreAFault) {
  for (const uint32_t nibble : {0x0U, 0x5U, 0xAU, 0xFU}) {
    expect_undefined(mma_case("sp", 16, "f32", "f16", "f16"), 0x44444440 | nibble);
    expect_undefined(wgmma_case(8, 64, "s32", "s8", "u8"), 0x44444440 | nibble);
  }
  expect_undefined(mma_case("sp", 8, "f32", "tf32", "tf32"), 0x44444448);
  expect_undefined(wgmma_case(8, 16, "f32", "tf32", "tf32"), 0xEEEEEEE0);
}

// Every element of A and B is 7 or -8: 32 or 64 products a sum, of which C overflows at either end.
TEST(Sparse, SumsOfNibblesClampOnceWithSatfinite) {
  for (const int k : {64, 128}) {
    const Case c = mma_case("sp::ordered_metadata", k, "s32", "s4", "s4", true);
    const auto sum_with = [&](uint32_t a, uint32_t b, uint32_t addend) {
      std::vector<uint32_t> words(size_t{32} * static_cast<size_t>(c.d_registers()), addend), output;
      words.insert(words.end(), size_t{32} * static_cast<size_t>(c.a_registers()), a);
      words.insert(words.end(), size_t{32} * static_cast<size_t>(c.b_registers()), b);
      words.insert(words.end(), 32, 0x44444444);
      const RunResult r = run(c, words, output);
      EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
      EXPECT_THAT(output, ::testing::Each(output.front()));
      return output.front();
    };
    const uint32_t products = static_cast<uint32_t>(k / 2);
    EXPECT_EQ(sum_with(0x77777777, 0x77777777, 5), 49 * products + 5);
    EXPECT_EQ(sum_with(0x77777777, 0x77777777, 0x7FFFFFFF - 49 * products), 0x7FFFFFFFU);
    EXPECT_EQ(sum_with(0x77777777, 0x77777777, 0x7FFFFFFF - 49 * products + 1), 0x7FFFFFFFU);
    EXPECT_EQ(sum_with(0x77777777, 0x88888888, 0x80000000 + 56 * products), 0x80000000U);
    EXPECT_EQ(sum_with(0x77777777, 0x88888888, 0x80000000 + 56 * products - 1), 0x80000000U);
    EXPECT_EQ(sum_with(0x77777777, 0x88888888, 0x80000000 + 56 * products + 1), 0x80000001U);
  }
}

TEST(SparseRows, StoredElementsGoWhereTheMetadataSay) {
  uint32_t words[32];
  for (uint32_t& w : words) w = 0x44444444;
  words[4] = 0x4444444E;  // row 1, first four of k
  const SparseShape shape{.bits = 16, .k = 16, .selector = 0};
  SparseRows rows;
  ASSERT_TRUE(read_sparse_metadata(words, shape, rows));
  EXPECT_EQ(rows.selected[0], 0x3333U);
  EXPECT_EQ(rows.selected[1], 0x333CU);
  uint16_t stored[16][8], dense[16][16];
  for (auto& row : stored)
    for (uint16_t i = 0; i < 8; ++i) row[i] = static_cast<uint16_t>(i + 1);
  expand_sparse_rows(reinterpret_cast<const uint8_t*>(stored), 16, shape, rows,
                     reinterpret_cast<uint8_t*>(dense), 32);
  EXPECT_THAT(dense[0], ::testing::ElementsAre(1, 2, 0, 0, 3, 4, 0, 0, 5, 6, 0, 0, 7, 8, 0, 0));
  EXPECT_THAT(dense[1], ::testing::ElementsAre(0, 0, 1, 2, 3, 4, 0, 0, 5, 6, 0, 0, 7, 8, 0, 0));
}

}  // namespace
}  // namespace palladion::sim
