// `_exit` ends a process at once: the limit of a test does, and os._exit. What waits then is reported first.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace {

std::atomic<void (*)()> before_exit = nullptr;  // cuda/driver/signals.cpp, when launches wait

[[noreturn]] void leave(int code) {
  if (auto* const report = before_exit.load()) report();
  for (;;) ::syscall(SYS_exit_group, code);
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) void palladion_before_exit(void (*report)()) { before_exit = report; }
[[noreturn]] __attribute__((visibility("default"))) void _exit(int code) { leave(code); }
[[noreturn]] __attribute__((visibility("default"))) void _Exit(int code) { leave(code); }
}
