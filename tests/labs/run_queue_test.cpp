#include "labs/engine/run_queue.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace palladion::labs {
namespace {

using namespace std::chrono_literals;

// Ends with the test, and with what it started.
class Process {
 public:
  explicit Process(auto run) : number_(::fork()) {
    if (number_ == 0) {
      ::setpgid(0, 0);
      run();
      ::_exit(0);
    }
  }
  ~Process() {
    ::kill(-number_, SIGKILL);
    ::kill(number_, SIGKILL);
    ::waitpid(number_, nullptr, 0);
  }
  pid_t number() const { return number_; }

 private:
  pid_t number_;
};

void spin_on_first_processor() {
  cpu_set_t allowed, one;
  ::sched_getaffinity(0, sizeof allowed, &allowed);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &allowed)) CPU_SET(i, &one);
  ::sched_setaffinity(0, sizeof one, &one);
  for (;;) ::getppid();
}

bool counts_run_delay() {
  int64_t ran = 0, queued = 0;
  return bool(std::ifstream("/proc/self/schedstat") >> ran >> queued);
}

TEST(RunQueue, CountsTheWaitOfADescendant) {
  if (!counts_run_delay()) GTEST_SKIP() << "this kernel does not count the wait in the run queue (schedstat)";
  const Process rival(spin_on_first_processor), other(spin_on_first_processor);
  const Process parent([] {
    if (::fork() == 0) spin_on_first_processor();
    ::pause();
  });
  RunQueue queue(parent.number());
  queue.waited();
  // Three that spin on one processor: each waits for two thirds of the time.
  std::chrono::nanoseconds waited{};
  const auto begin = std::chrono::steady_clock::now();
  while (waited < 100ms && std::chrono::steady_clock::now() - begin < 30s) {
    std::this_thread::sleep_for(50ms);
    waited += queue.waited();
  }
  EXPECT_GE(waited, 100ms);
}

TEST(RunQueue, KnowsAllDescendants) {
  const Process parent([] {
    if (::fork() == 0) {
      if (::fork() == 0) ::pause();
      ::pause();
    }
    ::pause();
  });
  const auto begin = std::chrono::steady_clock::now();
  while (descendants(parent.number()).size() < 2 && std::chrono::steady_clock::now() - begin < 30s)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(descendants(parent.number()).size(), 2);
}

TEST(WallLimit, IsExtendedByTimeInTheRunQueueToFourTimesItsLength) {
  WallLimit limit(10s);
  EXPECT_FALSE(limit.is_reached(9s));
  EXPECT_TRUE(limit.is_reached(10s));
  limit.extend(5s);
  EXPECT_FALSE(limit.is_reached(14s));
  EXPECT_TRUE(limit.is_reached(15s));
  limit.extend(100s);
  EXPECT_FALSE(limit.is_reached(39s));
  EXPECT_TRUE(limit.is_reached(40s));
}

}  // namespace
}  // namespace palladion::labs
