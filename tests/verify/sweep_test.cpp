// The words of `sweep --set`, and the file that keeps what is done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <utility>

#include "tests/support/toolkit.h"
#include "verify/sweep/axes.h"
#include "verify/sweep/state.h"

namespace palladion::verify {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> values_of(const std::vector<std::string>& texts) {
  const auto axes = axes_in(texts);
  EXPECT_TRUE(axes) << axes.error();
  EXPECT_EQ(axes->size(), 1u);
  return axes->front().values;
}

TEST(SweepAxes, ValuesAreListsAndRanges) {
  EXPECT_THAT(values_of({"tile_m=64,128"}), ElementsAre("64", "128"));
  EXPECT_THAT(values_of({"stages=2..6"}), ElementsAre("2", "3", "4", "5", "6"));
  EXPECT_THAT(values_of({"sms=64..132:32"}), ElementsAre("64", "96", "128"));
  EXPECT_THAT(values_of({"stages=2..3,8"}), ElementsAre("2", "3", "8"));
  EXPECT_THAT(values_of({"cluster_axis=,m,n"}), ElementsAre("", "m", "n")) << "an empty word is a value";
  EXPECT_THAT(values_of({"stages=3", "stages=2..3"}), ElementsAre("3", "2")) << "none twice";
}

TEST(SweepAxes, SeveralSettingsInOneOption) {
  const auto axes = axes_in({"tile_m=64,128,stages=2..3", "cluster=none"});
  ASSERT_TRUE(axes);
  ASSERT_EQ(axes->size(), 3u);
  EXPECT_EQ((*axes)[1].name, "stages");
  EXPECT_THAT((*axes)[1].values, ElementsAre("2", "3"));
  EXPECT_EQ(combinations(*axes), 4u);
}

TEST(SweepAxes, CombinationsAreTheProductTheLastAxisFastest) {
  const auto axes = axes_in({"a=1,2", "b=x,y"});
  ASSERT_TRUE(axes);
  const std::vector<std::map<std::string, std::string>> wanted = {
      {{"a", "1"}, {"b", "x"}}, {{"a", "1"}, {"b", "y"}}, {{"a", "2"}, {"b", "x"}}, {{"a", "2"}, {"b", "y"}}};
  for (uint64_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(combination(*axes, i), wanted[i]);
}

TEST(SweepAxes, WhatIsNoListIsRefused) {
  for (const char* text :
       {"64", "=4", "stages=6..2", "stages=2..6:0", "stages=a..b", "stages=2..", "stages=0..99999"})
    EXPECT_FALSE(axes_in({text})) << text;
}

Timed some(uint64_t key, uint64_t cycles) {
  Timed t;
  t.key = key;
  t.settings = {{"stages", "4"}, {"cluster", "none"}};
  t.cycles = cycles;
  if (cycles == 0) {
    t.code = "PLD3108";
    t.reason = "300000 bytes of \"shared\" memory\na CTA";
  } else {
    t.microseconds = 0.1;
    t.tflops = 512.25;
    t.critical = "tensor core";
    t.busy = 0.75;
    t.limit = "tensor core";
    t.values = sim::Values::full;
    t.slow = {{"PLD6205", "8 bytes are \"spilled\": more registers"}, {"PLD6206", "wgmma is serialised"}};
  }
  t.done = true;
  return t;
}

TEST(SweepState, ALineIsReadBackAsItWasWritten) {
  for (const uint64_t cycles : {uint64_t{0}, uint64_t{123456789012}}) {
    const Timed before = some(0xFEDCBA9876543210, cycles);
    const std::string line = state_line(before);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    Timed after;
    ASSERT_TRUE(read_state_line(line, after)) << line;
    EXPECT_EQ(after.key, before.key);
    EXPECT_EQ(after.settings, before.settings);
    EXPECT_EQ(after.cycles, cycles);
    EXPECT_EQ(after.microseconds, before.microseconds);
    EXPECT_EQ(after.tflops, before.tflops);
    EXPECT_EQ(after.limit, before.limit);
    EXPECT_EQ(after.values, before.values);
    EXPECT_EQ(after.code, before.code);
    EXPECT_EQ(after.reason, before.reason);
    EXPECT_EQ(after.slow, before.slow);
    EXPECT_TRUE(after.done);
  }
}

std::string contents(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SweepFile : public testing::Test {
 protected:
  std::string file() const { return (folder_.path() / "sweep.jsonl").string(); }
  void write(const std::string& text) const { std::ofstream(file(), std::ios::binary) << text; }
  std::vector<std::string> notes_;
  toolkit::TemporaryFolder folder_;
};

TEST_F(SweepFile, WhatIsDoneIsFoundAgain) {
  {
    auto state = SweepState::open(file(), false, notes_);
    ASSERT_TRUE(state);
    EXPECT_EQ(state->find(1), nullptr);
    EXPECT_TRUE(state->append(some(1, 100)));
    EXPECT_TRUE(state->append(some(2, 0)));
  }
  auto state = SweepState::open(file(), true, notes_);
  ASSERT_TRUE(state);
  ASSERT_NE(state->find(1), nullptr);
  EXPECT_EQ(state->find(1)->cycles, 100u);
  ASSERT_NE(state->find(2), nullptr);
  EXPECT_EQ(state->find(2)->code, "PLD3108");
  EXPECT_EQ(state->find(3), nullptr);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(SweepFile, ALastLineThatWasCutShortIsDoneAgain) {
  const std::string whole = state_line(some(1, 100)) + "\n", cut = state_line(some(2, 200));
  for (const std::string& end : {cut.substr(0, cut.size() / 2), cut.substr(0, 30) + "\n"}) {
    write(whole + end);
    notes_.clear();
    {
      auto state = SweepState::open(file(), true, notes_);
      ASSERT_TRUE(state);
      EXPECT_THAT(notes_, ElementsAre(HasSubstr("sweep.jsonl:2: the last line was cut short")));
      EXPECT_NE(state->find(1), nullptr);
      EXPECT_EQ(state->find(2), nullptr);
      EXPECT_TRUE(state->append(some(3, 300)));
    }
    EXPECT_EQ(contents(file()), whole + state_line(some(3, 300)) + "\n") << "nothing is left of the cut line";
  }
}

TEST_F(SweepFile, AKilledSweepCanAlwaysBeResumed) {
  std::mt19937 random(1);
  uint64_t lines = 0;
  for (int round = 0; round < 40 || lines <= 100; ++round) {  // a slow disk needs more rounds
    const pid_t sweep = ::fork();
    if (sweep == 0) {
      auto state = SweepState::open(file(), false, notes_);
      for (uint64_t key = lines + 1; state && state->append(some(key, key)); ++key) continue;
      ::_exit(1);
    }
    ::usleep(random() % 4000);
    ::kill(sweep, SIGKILL);
    int status = 0;
    ::waitpid(sweep, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "nothing else ended it";
    auto state = SweepState::open(file(), false, notes_);
    ASSERT_TRUE(state) << state.error().text;
    for (uint64_t key = 1; key <= lines; ++key) ASSERT_NE(state->find(key), nullptr) << key;
    while (state->find(lines + 1) != nullptr) ++lines;
  }
  const auto entries = std::filesystem::directory_iterator(folder_.path());
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1) << "and no other file";
}

TEST_F(SweepFile, ALineThatTheDiskCannotTakeIsTakenBack) {
  const pid_t sweep = ::fork();
  if (sweep == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    auto state = SweepState::open(file(), false, notes_);
    bool good = state && state->append(some(1, 100));
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t most = std::exchange(limit.rlim_cur, std::filesystem::file_size(file()) + 10);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    good = good && !state->append(some(2, 200));
    limit.rlim_cur = most;
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::_exit(good && state->append(some(3, 300)) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(sweep, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(contents(file()), state_line(some(1, 100)) + "\n" + state_line(some(3, 300)) + "\n");
}

TEST_F(SweepFile, AFileThatIsSomethingElseIsLeftAsItIs) {
  const std::string line = state_line(some(1, 1)) + "\n";
  for (const std::string& text : {std::string("my diary\n"), std::string("{}"), "{\"key\": 1}\n" + line}) {
    write(text);
    const auto state = SweepState::open(file(), false, notes_);
    ASSERT_FALSE(state);
    EXPECT_EQ(state.error().kind, host::Failure::Kind::mistake);
    EXPECT_THAT(state.error().text, HasSubstr("sweep.jsonl:1: this is no line of a sweep's state"));
    EXPECT_EQ(contents(file()), text);
  }
}

TEST_F(SweepFile, ANameThatIsTooLongIsAnError) {
  const auto state = SweepState::open(std::string(300, 'A'), false, notes_);
  ASSERT_FALSE(state);
  EXPECT_THAT(state.error().text, HasSubstr("File name too long"));
}

TEST_F(SweepFile, ResumingNeedsAFile) {
  EXPECT_FALSE(SweepState::open(file(), true, notes_));
  EXPECT_FALSE(std::filesystem::exists(file()));
  const auto none = SweepState::open("", false, notes_);
  EXPECT_TRUE(none) << "a sweep without a file keeps nothing";
}

}  // namespace
}  // namespace palladion::verify
