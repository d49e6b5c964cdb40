#pragma once
// What a CUDA driver answers to programs, right and wrong ones: statuses of calls, where a fault shows,
// values that the manuals leave open. Each case is a process of its own, so that a fault of one does not
// reach the next. tests/cuda/driver compares our library's answers with those that a device gave
// (answers_h100.txt).
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "cuda/abi/cuda.h"

namespace palladion::answers {

using cuda::Pointer;
using cuda::Status;

// A driver library that a case calls by names, and the words that the case answered.
class Driver {
 public:
  // Opens the library of this path and makes a context on device 0 current.
  // Throws std::runtime_error where it cannot.
  explicit Driver(const char* path);

  template <class... Arguments>
  Status call(const char* name, Arguments... arguments) {
    auto* const f = reinterpret_cast<Status (*)(Arguments...)>(dlsym(library_, name));
    return f != nullptr ? f(arguments...) : -1;  // -1: the library has no such function
  }
  // Calls, and answers "NAME STATUS".
  template <class... Arguments>
  Status ask(const char* name, Arguments... arguments) {
    const Status status = call(name, arguments...);
    say(short_name(name) + " " + std::to_string(status));
    return status;
  }
  void say(const std::string& words) { said_ += (said_.empty() ? "" : ", ") + words; }
  [[nodiscard]] const std::string& said() const { return said_; }

  // Device memory of `bytes`; 0: none.
  Pointer memory(size_t bytes);
  // The kernel `k` of a PTX text, without its head; answers the status where it does not load.
  void* kernel(const std::string& ptx, const char* target = "sm_90a");
  // Launches, and answers the statuses of the launch and of the synchronisation.
  Status launch(void* function, cuda::LaunchConfig config, void** params);

 private:
  static std::string short_name(const std::string& name);
  void* library_;
  std::string said_;
};

struct Case {
  std::string name;
  std::function<void(Driver&)> run;
};

// The cases of each file, in its order.
std::vector<Case> kernel_cases();
std::vector<Case> launch_cases();
std::vector<Case> call_cases();
std::vector<Case> all_cases();

// What the library of this path answers, asked in a child process: its words, "signal N" where it died, or
// "no answer" after 20 seconds.
std::string answer(const Case& asked, const char* library);

}  // namespace palladion::answers
