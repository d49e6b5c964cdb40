#include "labs/engine/control_group.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>

#include "isa/host/files.h"
#include "tests/labs/submissions.h"

namespace palladion::labs {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t mebibyte = uint64_t{1} << 20;

constexpr std::string_view mounts_of_version_1 =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
    "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(ControllerPlaces, AreBelowTheGroupOfVersion1) {
  EXPECT_THAT(controller_places("8:pids:/\n4:memory:/users/7\n0::/\n", mounts_of_version_1),
              ElementsAre(ControllerPlace{"memory", 1, "/sys/fs/cgroup/memory/users/7"},
                          ControllerPlace{"pids", 1, "/sys/fs/cgroup/pids"}));
}

TEST(ControllerPlaces, OfAContainerAreBelowTheRootThatItIsShown) {
  constexpr std::string_view mounts =
      "35 31 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n"
      "36 31 0:33 /docker/ab /sys/fs/cgroup/cpu,pids ro - cgroup cgroup rw,cpu,pids\n";
  EXPECT_THAT(controller_places("4:memory:/docker/ab/x\n3:cpu,pids:/docker/abc\n", mounts),
              ElementsAre(ControllerPlace{"memory", 1, "/sys/fs/cgroup/memory/x"}));
}

TEST(ControllerPlaces, AreNoneWithoutMounts) {
  EXPECT_THAT(controller_places("4:memory:/\n0::/\n", ""), IsEmpty());
  EXPECT_THAT(controller_places("", mounts_of_version_1), IsEmpty());
  EXPECT_THAT(controller_places("4:memory\n:\n\n", "35 31 - cgroup\n - \n"), IsEmpty());
}

// A group of version 2 makes its children's controllers, which its `cgroup.subtree_control` lists.
TEST(ControllerPlaces, OfVersion2AreWhereTheControllersArePassedOn) {
  const host::TemporaryFolder mount;
  const fs::path user = mount.path() / "user", terminal = user / "terminal";
  fs::create_directories(terminal);
  const std::string mounts = fmt::format("41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n", mount.path().string());
  const auto passes_on = [](const fs::path& folder, const std::string& controllers) {
    std::ofstream(folder / "cgroup.subtree_control") << controllers << "\n";
  };
  const auto places = [&] { return controller_places("0::/user/terminal\n", mounts); };
  passes_on(terminal, "");
  passes_on(user, "cpu memory pids");
  EXPECT_THAT(places(), ElementsAre(ControllerPlace{"memory", 2, user}, ControllerPlace{"pids", 2, user}));
  passes_on(terminal, "pids");
  EXPECT_THAT(places(),
              ElementsAre(ControllerPlace{"memory", 2, user}, ControllerPlace{"pids", 2, terminal}));
  passes_on(user, "memorypids");
  EXPECT_THAT(places(), ElementsAre(ControllerPlace{"pids", 2, terminal}));
}

// Folders of groups that this process made.
std::vector<fs::path> made_by(pid_t process) {
  const auto text = [](const char* file) {
    std::ifstream in(file);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  std::vector<fs::path> out;
  for (const ControllerPlace& place :
       controller_places(text("/proc/self/cgroup"), text("/proc/self/mountinfo")))
    if (const fs::path made = place.folder / fmt::format("palladion-{}", process); fs::exists(made))
      out.push_back(made);
  return out;
}

bool is_offered(const std::string& controller) {
  const pid_t child = ::fork();
  if (child == 0) {
    ControlGroup group({.memory = 64 * mebibyte, .processes = 8});
    const pid_t inner = ::fork();
    if (inner == 0) {
      const Confined held = group.enter();
      ::_exit(std::ranges::find(held, controller) != held.end() ? 0 : 1);
    }
    int status = 0;
    ::waitpid(inner, &status, 0);
    group.remove();
    ::_exit(WEXITSTATUS(status));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0;
}

// Runs `payload`, whose result is at most 127, in the group of `limits`; -9 where the group ended it.
int in_group(const Limits& limits, auto payload) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // of what the payload started, which has to end before the group
  ControlGroup group(limits);
  const pid_t child = ::fork();
  if (child == 0) {
    group.enter();
    ::setpgid(0, 0);
    ::_exit(payload());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::kill(-child, SIGKILL);
  while (::waitpid(-child, nullptr, 0) > 0) continue;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

// How many of four processes, each of which touches 32 MiB, were ended.
int four_with_32_mebibytes() {
  int ended = 0, pipes[2];
  if (::pipe(pipes) != 0) return 127;
  for (int i = 0; i < 4; ++i) {
    if (::fork() != 0) continue;
    const std::unique_ptr<char[]> bytes(new char[32 * mebibyte]);
    for (size_t at = 0; at < 32 * mebibyte; at += 4096) static_cast<volatile char&>(bytes[at]) = 1;
    ::close(pipes[1]);
    char end;
    ::_exit(int(::read(pipes[0], &end, 1)));  // keeps its memory until the others have theirs
  }
  ::usleep(500'000);
  ::close(pipes[1]);
  ::close(pipes[0]);
  for (int status = 0; ::wait(&status) > 0;) ended += WIFSIGNALED(status) ? 1 : 0;
  return ended;
}

TEST(ControlGroup, LimitsTheMemoryOfAllProcessesTogether) {
  if (!is_offered("memory")) GTEST_SKIP() << "this host offers no control group of memory";
  EXPECT_EQ(in_group({.memory = 512 * mebibyte, .processes = 32}, four_with_32_mebibytes), 0);
  EXPECT_NE(in_group({.memory = 64 * mebibyte, .processes = 32}, four_with_32_mebibytes), 0);
  EXPECT_THAT(made_by(::getpid()), IsEmpty());
}

TEST(ControlGroup, LimitsTheNumberOfProcesses) {
  if (!is_offered("pids")) GTEST_SKIP() << "this host offers no control group of processes";
  const auto started = [] {
    int count = 0;
    for (int i = 0; i < 32; ++i) {
      const pid_t child = ::fork();
      if (child == 0) ::pause();
      count += child > 0 ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(in_group({.memory = 512 * mebibyte, .processes = 64}, started), 32);
  EXPECT_EQ(in_group({.memory = 512 * mebibyte, .processes = 8}, started), 7);
  EXPECT_THAT(made_by(::getpid()), IsEmpty());
}

TEST(ControlGroup, IsNotMadeUnlessItIsAskedFor) {
  const ControlGroup group({.memory = 64 * mebibyte});
  EXPECT_THAT(made_by(::getpid()), IsEmpty());
}

TEST(ControlGroup, OfAProcessThatWasKilledIsRemovedByTheNextOne) {
  if (!is_offered("pids")) GTEST_SKIP() << "this host offers no control group of processes";
  const pid_t child = ::fork();
  if (child == 0) {
    const ControlGroup left({.memory = 64 * mebibyte, .processes = 8});
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  ASSERT_FALSE(made_by(child).empty());
  const ControlGroup next({.memory = 64 * mebibyte, .processes = 8});
  EXPECT_FALSE(made_by(::getpid()).empty());
  EXPECT_THAT(made_by(child), IsEmpty());
}

TEST(ControlGroup, HoldsASubmissionWhereThisHostOffersIt) {
  const auto file = written("grouped", "parity.cpp", "int parity;\n");
  const auto verdict = judge(*find_lab("parity"), file);
  ASSERT_TRUE(verdict);
  for (const std::string controller : {"memory", "pids"})
    EXPECT_EQ(std::ranges::count(verdict->confined, controller), is_offered(controller) ? 1 : 0)
        << controller;
}

}  // namespace
}  // namespace palladion::labs
