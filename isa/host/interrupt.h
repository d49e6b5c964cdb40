// Ctrl-C and SIGTERM: the program ends with what is known, and leaves no half-written file.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>

namespace palladion::host {

inline constexpr int interrupted_code = 130;  // the exit code of a program that a user ended

// From here on SIGINT and SIGTERM end the program with `interrupted_code`: at once, or, while a Polled
// exists, by setting a flag that the run polls. The second one ends it at once in any case.
void install_interrupt_handler();

// While one exists, the program polls `interrupted()` and ends by itself, with a report.
class Polled {
 public:
  Polled();
  ~Polled();
  Polled(const Polled&) = delete;
  Polled& operator=(const Polled&) = delete;
};

const std::atomic<bool>& interrupt_flag();
inline bool interrupted() { return interrupt_flag().load(std::memory_order_relaxed); }

// A file that is removed when the program is ended before the end of this scope.
class Unfinished {
 public:
  explicit Unfinished(const std::filesystem::path& file);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  int slot_;  // -1: too many files, or too long a name
};

// A process that gets SIGTERM when the program is ended before the end of this scope. One at a time.
class Child {
 public:
  explicit Child(pid_t process);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
};

}  // namespace palladion::host
