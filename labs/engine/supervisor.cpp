#include "labs/engine/supervisor.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "labs/engine/control_group.h"
#include "labs/engine/namespaces.h"
#include "labs/engine/run_queue.h"
#include "verify/arrays/words.h"

namespace palladion::labs {
namespace {

namespace fs = std::filesystem;

// 128 + N of one that signal N ended: the first process of a namespace cannot end itself by a signal.
int code_of(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

[[noreturn]] void end_as(int code) {
  if (code <= 128) ::_exit(code);
  const int number = code - 128;
  std::signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  ::raise(number);
  ::sigprocmask(SIG_UNBLOCK, &one, nullptr);
  ::_exit(code);  // a signal that ends nobody
}

sigset_t watched_signals() {
  sigset_t out;
  sigemptyset(&out);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGPIPE}) sigaddset(&out, number);
  return out;
}

void end_process(pid_t process) {
  ::kill(process, SIGKILL);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
}

// The first process of the namespace: the namespace ends with it.
[[noreturn]] void wait_for_payload(pid_t payload) {
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended == payload) ::_exit(code_of(status));
    if (ended < 0 && errno != EINTR) ::_exit(127);
  }
}

// Signals wake it; the run queue is read once a second.
[[noreturn]] void watch(pid_t first, const Orders& orders, unsigned wall_seconds, ControlGroup& group) {
  using namespace std::chrono;
  const sigset_t signals = watched_signals();
  const auto begin = steady_clock::now();
  WallLimit limit{seconds(wall_seconds)};
  RunQueue queue(first);
  int code = -1;
  while (code < 0) {
    const timespec wait{.tv_sec = 1, .tv_nsec = 0};
    const int number = ::sigtimedwait(&signals, nullptr, &wait);
    int status = 0;
    if (::waitpid(first, &status, WNOHANG) == first) {
      code = code_of(status);
    } else if (number > 0 && number != SIGCHLD && number != SIGPIPE) {
      code = 128 + number;
    } else {
      limit.extend(queue.waited());
      if (limit.is_reached(steady_clock::now() - begin)) code = 128 + SIGALRM;
    }
  }
  end_process(first);
  // A subreaper gets the children of those that ended.
  for (auto left = descendants(::getpid()); !left.empty(); left = descendants(::getpid()))
    std::ranges::for_each(left, end_process);
  group.remove();
  std::error_code none;
  const bool from_outside = code == 128 + SIGTERM || code == 128 + SIGINT || code == 128 + SIGHUP;
  if (from_outside && !orders.temporary.empty()) fs::remove_all(orders.temporary, none);
  end_as(code);
}

// Files that whoever asked had open.
void close_others() {
  constexpr unsigned first = STDERR_FILENO + 1;
  if (::syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
  for (int file = int(first); file < 4096; ++file) ::close(file);
}

}  // namespace

std::vector<std::string> Orders::words() const {
  return {std::to_string(asker), temporary.string(), unconfined ? "unconfined" : "confined"};
}

Orders take_orders(std::vector<std::string>& words) {
  if (words.size() < 3) return {};
  const Orders orders{.asker = number_in<pid_t>(words[0]).value_or(0),
                      .temporary = words[1],
                      .unconfined = words[2] == "unconfined"};
  words.erase(words.begin(), words.begin() + 3);
  return orders;
}

Confined supervise(const Orders& orders, const Limits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != orders.asker) ::_exit(128 + SIGTERM);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  close_others();
  std::signal(SIGCHLD, SIG_DFL);
  const sigset_t signals = watched_signals();
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  ControlGroup group(limits);
  Confined held = own_namespaces(limits);
  const pid_t first = ::fork();
  if (first > 0) watch(first, orders, limits.wall_seconds, group);
  const Confined limited = group.enter();
  held.insert(held.end(), limited.begin(), limited.end());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!limits.is_ours) ::setsid();  // without a terminal
  const pid_t payload = first < 0 ? -1 : ::fork();
  if (payload < 0) ::_exit(127);
  if (payload > 0) wait_for_payload(payload);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ}) std::signal(number, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return held;
}

}  // namespace palladion::labs
