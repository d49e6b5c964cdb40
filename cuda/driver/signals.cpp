#include "cuda/driver/signals.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cuda/driver/session.h"
#include "cuda/driver/state.h"

namespace palladion::cuda::driver {
namespace {

struct Heeded {
  int signal;
  bool of_clock = false;  // a program that handles it may ask for it as often as it likes
  struct sigaction before{};
  bool caught = false;
  std::atomic<int> came = 0;  // while launches wait
};
Heeded heeded[] = {{SIGINT}, {SIGTERM}, {SIGHUP}, {SIGQUIT}, {SIGALRM, true}, {SIGXCPU, true}};

// What the handler, which may call almost nothing, asks of the thread.
sem_t asked, answered;
std::atomic<int> fatal = 0;    // this signal is to end the process
std::atomic<int> handled = 0;  // the program has handled this one, and may come to its end
std::atomic<int> leaving = 0;  // `_exit` waits
std::atomic<bool> again = false;
std::atomic<pid_t> owner = 0;  // the process whose thread listens: not one that was forked

std::atomic<bool> launches_wait = false;
std::atomic<uint64_t> rounds = 0;  // of waiting that are over

bool is_left_to_system(const struct sigaction& a) {
  return (a.sa_flags & SA_SIGINFO) == 0 && a.sa_handler == SIG_DFL;
}
bool is_ignored(const struct sigaction& a) {
  return (a.sa_flags & SA_SIGINFO) == 0 && a.sa_handler == SIG_IGN;
}

void end_by(int signal) {
  ::signal(signal, SIG_DFL);
  sigset_t one;
  ::sigemptyset(&one);
  ::sigaddset(&one, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(signal);
}

void ask(std::atomic<int>& how, int signal) {
  how = signal;
  ::sem_post(&asked);
}

void take(int signal, siginfo_t* info, void* context) {
  const int kept = errno;
  auto* const h = std::ranges::find(heeded, signal, &Heeded::signal);
  const struct sigaction& before = h->before;
  const bool listens = ::getpid() == owner;
  if (is_left_to_system(before)) {
    if (listens && h->caught)
      ask(fatal, signal);
    else
      end_by(signal);
  } else {
    if (listens && h->caught) {
      if (h->came++ > 0) again = true;
      ask(handled, signal);
    }
    errno = kept;
    if ((before.sa_flags & SA_SIGINFO) != 0)
      before.sa_sigaction(signal, info, context);
    else if (!is_ignored(before))
      before.sa_handler(signal);
  }
  errno = kept;
}

bool is_ours(const struct sigaction& a) { return (a.sa_flags & SA_SIGINFO) != 0 && a.sa_sigaction == take; }

// `_exit` is called, which no library hears of otherwise. Not for ever: it may be called anywhere.
void wait_for_the_end_of_launches() {
  if (!launches_wait || ::getpid() != owner) return;
  constexpr time_t most = 3;
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += most;
  ask(leaving, 1);
  while (::sem_timedwait(&answered, &until) != 0 && errno == EINTR) continue;
}

// ---- the thread ----------------------------------------------------------------------------------

using Lock = std::unique_lock<std::recursive_mutex>;

// Not held where another thread stays in a kernel.
Lock taken_lock() {
  constexpr int most = 200;
  constexpr auto pause = std::chrono::milliseconds(10);
  Lock lock(state().lock, std::try_to_lock);
  for (int tries = 0; tries < most && !lock; ++tries) {
    std::this_thread::sleep_for(pause);
    if (lock.try_lock()) break;
  }
  return lock;
}

void say(const std::string& text) {
  if (prints_findings()) fmt::print(stderr, "palladion exec: {}\n", text);
}

std::string waiting_text(const std::string& one = "waits", const std::string& several = "wait") {
  const std::vector<std::string> kernels = waiting_kernels();
  return fmt::format("{} {} for memory that no running kernel writes", fmt::join(kernels, ", "),
                     kernels.size() == 1 ? one : several);
}

// What kernels have printed: not through stdio, whose lock a thread that waits may hold.
void write_printed(State& s) {
  for (size_t at = 0; at < s.printed.size();) {
    const ssize_t put = ::write(STDOUT_FILENO, s.printed.data() + at, s.printed.size() - at);
    if (put <= 0) break;
    at += static_cast<size_t>(put);
  }
  s.printed.clear();
}

// `why`: "Terminated (signal 15) ends the program".
void report_waiting(const Lock& lock, const std::string& why) {
  if (!lock || !some_launch_waits()) return;
  say(fmt::format("{} while {}", why, waiting_text()));
  end_waiting_launches();
  write_printed(state());
}

std::string name_of(int signal) { return fmt::format("{} (signal {})", ::strsignal(signal), signal); }

// The lock stays held: no other thread goes on with what has failed.
void end_process(int signal) {
  const Lock lock = taken_lock();
  report_waiting(lock, name_of(signal) + " ends the program");
  end_by(signal);
}

void end_launches(int signal) {
  const Lock lock = taken_lock();
  if (!lock || !some_launch_waits()) return;
  say(fmt::format("{} came again while {}: ended", name_of(signal), waiting_text()));
  end_all_operations();
}

void tell_of_signal(int signal) {
  constexpr auto time_of_program = std::chrono::milliseconds(500);
  std::this_thread::sleep_for(time_of_program);
  const Lock lock(state().lock, std::try_to_lock);
  if (lock && some_launch_waits() && !again)
    say(fmt::format("{}; {} once more ends it, with a report of what it waits for", waiting_text(),
                    name_of(signal)));
}

// Once, when they have waited for this long, or up to twice as long.
bool tell_of_waiting(time_t seconds) {
  const Lock lock(state().lock, std::try_to_lock);
  if (!lock || !some_launch_waits()) return false;
  say(fmt::format(
      "{}; the end of the program (Ctrl-C, SIGTERM) brings a report of it",
      waiting_text(fmt::format("has waited {} s", seconds), fmt::format("have waited {} s", seconds))));
  return true;
}

// False: nothing was asked for within the time.
bool wait_until_asked(bool for_ever, time_t seconds) {
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += seconds;
  for (;;) {
    if ((for_ever ? ::sem_wait(&asked) : ::sem_timedwait(&asked, &until)) == 0) return true;
    if (errno == ETIMEDOUT) return false;
  }
}

[[noreturn]] void listen() {
  constexpr time_t long_wait = 10;
  bool told = false;
  for (uint64_t before = 0;;) {
    if (!wait_until_asked(told, long_wait)) {
      if (launches_wait && std::exchange(before, rounds.load()) == rounds) told = tell_of_waiting(long_wait);
      continue;
    }
    if (const int signal = fatal.exchange(0); signal != 0) end_process(signal);
    if (leaving.exchange(0) != 0) {
      report_waiting(taken_lock(), "the program ends");
      ::sem_post(&answered);
    }
    const int signal = handled.exchange(0);
    if (signal == 0) continue;
    if (again.exchange(false))
      end_launches(signal);
    else
      tell_of_signal(signal);
  }
}

// Signals are the program's threads' own.
bool start_listening() {
  if (owner == ::getpid()) return true;
  ::sem_init(&asked, 0, 0);
  ::sem_init(&answered, 0, 0);
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread(listen).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) return false;
  owner = ::getpid();
  using SetBeforeExit = void (*)(void (*)());  // cuda/driver/preload/exit.cpp, under exec
  if (auto* const set = reinterpret_cast<SetBeforeExit>(::dlsym(RTLD_DEFAULT, "palladion_before_exit")))
    set(wait_for_the_end_of_launches);
  return true;
}

}  // namespace

void heed_signals() {
  if (!start_listening()) return;
  launches_wait = true;
  for (Heeded& h : heeded) {
    if (h.caught) continue;
    h.came = 0;
    struct sigaction now{};
    ::sigaction(h.signal, nullptr, &now);
    if (!is_ours(now)) h.before = now;  // else the program has put back what it found
    if (is_ignored(h.before) || (h.before.sa_flags & SA_RESETHAND) != 0) continue;
    if (h.of_clock && !is_left_to_system(h.before)) continue;
    struct sigaction ours = h.before;
    if (is_left_to_system(h.before)) {
      ::sigemptyset(&ours.sa_mask);
      ours.sa_flags = SA_RESTART | SA_ONSTACK;
    }
    ours.sa_sigaction = take;
    ours.sa_flags |= SA_SIGINFO;
    h.caught = ::sigaction(h.signal, &ours, nullptr) == 0;
  }
}

void leave_signals() {
  if (!launches_wait.exchange(false)) return;
  ++rounds;
  for (Heeded& h : heeded) {
    if (!std::exchange(h.caught, false)) continue;
    struct sigaction now{};
    ::sigaction(h.signal, nullptr, &now);
    if (is_ours(now)) ::sigaction(h.signal, &h.before, nullptr);
  }
}

}  // namespace palladion::cuda::driver
