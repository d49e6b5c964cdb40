// exec --schedules: launches judged under several schedules, of which the program sees the first alone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {
namespace {

class Schedules : public testing::Test {
 protected:
  struct Done {
    int code;
    std::string err, json;
  };
  void SetUp() override {
    if (toolkit().empty()) GTEST_SKIP() << "the CUDA toolkit is absent";
    if (!std::filesystem::exists(driver_folder + "/libpalladion_exec.so"))
      GTEST_SKIP() << "NOT TESTED: libpalladion_exec.so is not built";
    const std::string source = PLD_SOURCE_DIR "/tests/cuda/driver/programs/ring.cpp";
    const std::string compile = "g++ -I" + toolkit() + "/include -o " + program_ + " " + source + " " +
                                driver_folder + "/libcuda.so.1";
    ASSERT_EQ(std::system(compile.c_str()), 0);
  }
  void TearDown() override {
    for (const char* const ending : {"", ".err", ".json"}) std::filesystem::remove(program_ + ending);
  }
  Done execute(const std::string& options, const std::string& which) {
    const std::string err = program_ + ".err", json = program_ + ".json";
    const std::string command = std::string(PLD_BINARY_DIR) + "/palladion exec --json " + json + " " +
                                options + " -- " + program_ + " " + which + " 2> " + err;
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), text_of_file(err), text_of_file(json)};
  }
  static std::string text_of_file(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(name).rdbuf();
    return text.str();
  }
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  // Tests run beside each other.
  const std::string program_ = testing::TempDir() + "/schedules_ring" + std::to_string(::getpid());
};

TEST_F(Schedules, OneIsJudgedUnlessMoreAreAskedFor) {
  EXPECT_TRUE(has(execute("", "right").err, "not checked"));
  const Done one = execute("--check all", "broken");
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_TRUE(has(one.err, "1 schedule ")) << one.err;
  EXPECT_TRUE(has(one.json, "\"judged\": \"1 schedule\"")) << one.json;
}

TEST_F(Schedules, ARightRingIsDecided) {
  for (const char* const asked : {"", "--schedules 5", "--schedules all"}) {
    const Done done = execute(std::string("--check all ") + asked, "right");
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_TRUE(has(done.err, "decided for all schedules")) << done.err;
  }
}

TEST_F(Schedules, ABrokenRingIsFoundUnderAnotherSchedule) {
  const Done done = execute("--check all --schedules all", "broken");
  EXPECT_EQ(done.code, 1) << "the program ends with 0: its memory is that of the first schedule\n"
                          << done.err;
  EXPECT_TRUE(has(done.err, "[PLD4115]")) << done.err;
  EXPECT_TRUE(has(done.json, "\"exploration\"") || has(done.json, "\"seeded:")) << done.json;
}

// For code hosts, which want a file of the repository: the PTX of this program has none.
TEST_F(Schedules, FindingsAreWrittenAsSarif) {
  const std::string sarif = program_ + ".sarif";
  EXPECT_EQ(execute("--check all --schedules all --sarif " + sarif, "broken").code, 1);
  const std::string log = text_of_file(sarif);
  std::filesystem::remove(sarif);
  for (const std::string& part : {std::string(R"("ruleId": "PLD4115")"), std::string(R"("exitCode": 1)"),
                                  "\"uri\": \"file://" + program_ + "\"", program_ + " broken\""})
    EXPECT_TRUE(has(log, part)) << part << "\n" << log;
}

TEST_F(Schedules, WithoutChecksOutputsAreCompared) {
  const Done done = execute("--schedules 3", "right");
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(has(done.err, "3 schedules tried ")) << done.err;
}

TEST_F(Schedules, AreANumberOrAll) {
  for (const char* const wrong : {"0", "-1", "some", "3x", "''"})
    EXPECT_EQ(execute(std::string("--schedules ") + wrong, "right").code, 2) << wrong;
}

}  // namespace
}  // namespace palladion::cuda::driver
