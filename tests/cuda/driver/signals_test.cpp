// The host waits where no call of the driver is, for a kernel that waits for ever: a signal that ends the
// program has the deadlock reported first.
#include <signal.h>

#include <chrono>
#include <thread>

#include "tests/cuda/driver/order_program.h"

namespace palladion::cuda::driver {
namespace {

using P = OrderProgram;
constexpr const char* without_checks = "v1;check=none";

class Signals : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
      GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  }
  static void* wait_for_ever(P& p) {
    void* const s = p.stream();
    p.launch("await_and_consume", s, p.memory(), p.memory(), p.memory());
    return s;
  }
  static bool is_default(int signal) {
    struct sigaction now{};
    ::sigaction(signal, nullptr, &now);
    return now.sa_handler == SIG_DFL;
  }
  // Up to 10 s.
  template <class F>
  static bool comes(F&& f) {
    constexpr auto pause = std::chrono::milliseconds(20);
    constexpr int most = 500;
    for (int i = 0; i < most; ++i, std::this_thread::sleep_for(pause))
      if (f()) return true;
    return false;
  }
};

TEST_F(Signals, OneThatEndsTheProgramReportsTheDeadlock) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM}) {
    const std::string text = output_of(
        [&](P& p) {
          wait_for_ever(p);
          ::kill(::getpid(), signal);
          comes([] { return false; });
        },
        false, without_checks);
    EXPECT_NE(text.find("PLD3080"), std::string::npos) << text;
    EXPECT_NE(
        text.find("(signal " + std::to_string(signal) + ") ends the program while await_and_consume waits"),
        std::string::npos)
        << text;
    constexpr int core = 128;  // a core was written, or might have been
    const auto ended = [&](int status) {
      return text.ends_with("ended with status " + std::to_string(status));
    };
    EXPECT_TRUE(ended(signal) || ended(signal | core)) << text;
  }
}

volatile uint32_t* flag_of_handler = nullptr;

// The kernel goes on, as on a GPU.
TEST_F(Signals, AProgramThatHandlesItSignalsTheKernel) {
  const std::string text = output_of(
      [](P& p) {
        void* const s = p.stream();
        flag_of_handler = p.pinned();
        flag_of_handler[0] = 0;
        ::signal(SIGTERM, [](int) { flag_of_handler[0] = 1; });
        p.launch("await_and_consume", s, p.memory(), p.memory(), reinterpret_cast<Pointer>(flag_of_handler));
        ::kill(::getpid(), SIGTERM);
        p.synchronize(s);
      },
      false, without_checks);
  EXPECT_EQ(text, "");
}

TEST_F(Signals, OneThatTheProgramHandlesReportsWhenItComesAgain) {
  const std::string text = output_of(
      [](P& p) {
        static volatile int came = 0;
        ::signal(SIGINT, [](int) { came = came + 1; });
        void* const s = wait_for_ever(p);
        ::kill(::getpid(), SIGINT);
        std::this_thread::sleep_for(std::chrono::milliseconds(1200));
        p.see(static_cast<uint32_t>(p.ask("cuStreamQuery", s)), not_ready);
        ::kill(::getpid(), SIGINT);
        p.see(comes([&] { return p.ask("cuStreamQuery", s) == launch_failed; }) ? 1 : 0, 1);
        p.see(static_cast<uint32_t>(came), 2);
      },
      false, without_checks);
  EXPECT_NE(text.find("once more ends it"), std::string::npos) << text;
  EXPECT_NE(text.find("PLD3080"), std::string::npos) << text;
  EXPECT_EQ(text.find("UNEXPECTED"), std::string::npos) << text;
}

// It comes as often as the program asks for it.
TEST_F(Signals, AClockOfTheProgramEndsNothing) {
  const std::string text = output_of(
      [](P& p) {
        ::signal(SIGALRM, [](int) {});
        void* const s = p.stream();
        volatile uint32_t* const flag = p.pinned();
        flag[0] = 0;
        p.launch("await_and_consume", s, p.memory(), p.memory(), reinterpret_cast<Pointer>(flag));
        for (int i = 0; i < 5; ++i) ::kill(::getpid(), SIGALRM);
        std::this_thread::sleep_for(std::chrono::milliseconds(700));
        p.see(static_cast<uint32_t>(p.ask("cuStreamQuery", s)), not_ready);
        flag[0] = 1;
        p.synchronize(s);
      },
      false, without_checks);
  EXPECT_EQ(text, "");
}

TEST_F(Signals, TheyAreTheProgramsAgainWhenNoLaunchWaits) {
  const std::string text = output_of(
      [](P& p) {
        void* const s = p.stream();
        volatile uint32_t* const flag = p.pinned();
        flag[0] = 0;
        p.launch("await_and_consume", s, p.memory(), p.memory(), reinterpret_cast<Pointer>(flag));
        p.see(is_default(SIGTERM) ? 1 : 0, 0);
        flag[0] = 1;
        p.synchronize(s);
        p.see(is_default(SIGTERM) ? 1 : 0, 1);
      },
      false, without_checks);
  EXPECT_EQ(text, "");
}

TEST_F(Signals, AProcessThatWasForkedIsEndedAlone) {
  const std::string text = output_of(
      [](P& p) {
        void* const s = p.stream();
        volatile uint32_t* const flag = p.pinned();
        flag[0] = 0;
        p.launch("await_and_consume", s, p.memory(), p.memory(), reinterpret_cast<Pointer>(flag));
        const pid_t child = ::fork();
        if (child == 0) {
          ::kill(::getpid(), SIGTERM);
          ::_exit(3);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        p.see(static_cast<uint32_t>(status), SIGTERM);
        flag[0] = 1;
        p.synchronize(s);
      },
      false, without_checks);
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace palladion::cuda::driver
