// Our library's answers, case by case, against those of a device (answers_h200.txt). Where ours differ on
// purpose, answers_differ.txt says how and why; a line there that no longer holds fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/cuda/driver/answers/answers.h"
#include "tests/cuda/driver/library.h"

namespace palladion::answers {
namespace {

// The lines "NAME | WORDS[ | WHY]" of a file beside this one; lines that begin with # are comments.
std::map<std::string, std::string> lines_of(const std::string& file) {
  std::ifstream in(std::string(PLD_SOURCE_DIR) + "/tests/cuda/driver/answers/" + file);
  EXPECT_TRUE(in) << file;
  std::map<std::string, std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const size_t bar = line.find(" | ");
    EXPECT_NE(bar, std::string::npos) << line;
    lines[line.substr(0, bar)] = line.substr(bar + 3);
  }
  return lines;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Case& c : all_cases()) all.push_back(c.name);
  return all;
}

class Answers : public ::testing::TestWithParam<std::string> {};

TEST_P(Answers, AreThoseOfAnH200) {
  const std::string library = cuda::driver::driver_folder + "/libcuda.so.1";
  if (!std::filesystem::exists(library)) GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  static const auto device = lines_of("answers_h200.txt"), differ = lines_of("answers_differ.txt");
  const auto cases = all_cases();
  const auto asked = std::ranges::find(cases, GetParam(), &Case::name);
  ASSERT_TRUE(device.contains(GetParam())) << "ask the device: bench/device_answers";
  const std::string ours = answer(*asked, library.c_str());
  const auto other = differ.find(GetParam());
  if (other == differ.end()) {
    EXPECT_EQ(ours, device.at(GetParam()));
  } else {
    EXPECT_EQ(ours, other->second.substr(0, other->second.find(" | ")));
    EXPECT_NE(ours, device.at(GetParam())) << "answers_differ.txt has a line too many";
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Answers, ::testing::ValuesIn(names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace palladion::answers
