// isa/num against an H200: arithmetic and conversions on special operands, and hashes over millions of
// operands.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "tests/device/special/record/operands.h"
#include "tests/sim/numerics/special_instructions.h"

namespace palladion::isa::num::device_tests {
namespace {

using operands::mix64;

/// Which of several NaN operands survives in f64 depends on the operand order that ptxas chooses, kernel by
/// kernel: a recorded hash over operands that include such cases says nothing.
const std::set<std::string> undetermined_hashes = {
    "add.rn.f64", "add.rz.f64", "add.rm.f64", "add.rp.f64", "mul.rn.f64", "mul.rz.f64", "mul.rm.f64",
    "mul.rp.f64", "fma.rn.f64", "fma.rz.f64", "fma.rm.f64", "fma.rp.f64", "min.f64",    "max.f64"};

bool has_several_f64_nans(const std::vector<std::string>& row) {
  if (!row[0].ends_with(".f64")) return false;
  int nans = 0;
  for (int k = 1; k <= 3; ++k) nans += !row[k].empty() && is_nan<F64>(std::stoull(row[k], nullptr, 16));
  return nans > 1;
}

std::vector<std::vector<std::string>> read_csv(const std::string& name) {
  std::ifstream file(std::string(PLD_SOURCE_DIR) + "/tests/device/special/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::stringstream stream(line);
    auto& row = rows.emplace_back();
    for (std::string field; std::getline(stream, field, ',');) row.push_back(field);
  }
  return rows;
}

Word parse(const std::string& hex) { return hex.empty() ? 0 : std::stoull(hex, nullptr, 16); }

TEST(SpecialValues, OfArithmeticAndConversionsAsOnTheDevice) {
  const Instructions instructions = all_instructions();
  int compared = 0;
  for (const char* kind : {"f32", "f64", "f16", "bf16", "cvt"}) {
    const auto rows = read_csv(std::string("special_values_") + kind + ".csv");
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const auto& row = rows[i];
      if (has_several_f64_nans(row)) continue;
      const auto found =
          instructions.find(row[0]);  // packed operands are compared through their scalar forms
      if (found == instructions.end()) continue;
      const Word got = found->second(parse(row[1]), parse(row[2]), parse(row[3]));
      EXPECT_EQ(got, parse(row[4])) << row[0] << " " << row[1] << " " << row[2] << " " << row[3];
      ++compared;
    }
  }
  EXPECT_GT(compared, 13000);
}

/// The formats of the operands, by the last word of the instruction.
operands::Triple operands_of(const std::string& instruction, Word index) {
  const std::string type = instruction.substr(instruction.rfind('.') + 1);
  if (type == "f64") return operands::triple(11, 52, index);
  if (type == "f16") return operands::triple(5, 10, index);
  if (type == "bf16") return operands::triple(8, 7, index);
  return operands::triple(8, 23, index);
}

TEST(Hashes, OfOperandTriplesAsOnTheDevice) {
  const Instructions instructions = all_instructions();
  const auto rows = read_csv("arithmetic_h200_hashes.csv");
  ASSERT_EQ(rows.size(), 65u);
  constexpr Word bucket = 7;
  for (std::size_t column = 1; column < rows[0].size(); ++column) {
    const std::string& name = rows[0][column];
    if (undetermined_hashes.contains(name)) continue;
    const auto found = instructions.find(name);
    ASSERT_NE(found, instructions.end()) << name;
    Word hash = 0;
    for (Word i = bucket << 18; i < (bucket + 1) << 18; ++i) {
      const operands::Triple x = operands_of(name, i);
      hash += mix64(i ^ mix64(found->second(x.a, x.b, x.c)));
    }
    EXPECT_EQ(hash, parse(rows[bucket + 1][column])) << name;
  }
}

TEST(Hashes, OfPairsOfHalvesAsOnTheDevice) {
  const Instructions instructions = all_instructions();
  const auto rows = read_csv("pairs16_h200_hashes.csv");
  ASSERT_EQ(rows.size(), 513u);
  for (std::size_t column = 1; column < rows[0].size(); ++column) {
    const std::string& name = rows[0][column];
    const Instruction& instruction = instructions.at(name);
    const Word bucket = mix64(column) % 512;
    Word hash = 0;
    for (Word i = bucket << 23; i < (bucket + 1) << 23; ++i) {
      hash += mix64(i << 32 | instruction(i >> 16, i & 0xffff, 0));
    }
    EXPECT_EQ(hash, parse(rows[bucket + 1][column])) << name << ", bucket " << bucket;
  }
}

TEST(Hashes, OfConversionsOfF32AsOnTheDevice) {
  const Instructions instructions = all_instructions();
  const auto rows = read_csv("cvt_h200_hashes.csv");
  ASSERT_EQ(rows.size(), 513u);
  for (std::size_t column = 1; column < rows[0].size(); ++column) {
    const std::string& name = rows[0][column];
    const Instruction& instruction = instructions.at(name);
    const bool packing = name.find("x2.") != std::string::npos;
    // Subnormals, some binade, infinity and NaN.
    for (Word bucket : {Word{0x000}, 0x070 + column, Word{0x0ff}}) {
      Word hash = 0;
      for (Word i = bucket << 23; i < (bucket + 1) << 23; ++i) {
        hash += mix64(i << 32 | (packing ? instruction(0, i, 0) : instruction(i, 0, 0)));
      }
      EXPECT_EQ(hash, parse(rows[bucket + 1][column])) << name << ", bucket " << std::hex << bucket;
    }
  }
}

}  // namespace
}  // namespace palladion::isa::num::device_tests
