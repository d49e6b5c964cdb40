#pragma once
// What several tables of calls use.
#include "tests/cuda/driver/answers/answers.h"

namespace palladion::answers {

using Handle = void*;

inline constexpr const char* stores_to_null =
    ".visible .entry k(.param .u64 p) { .reg .b64 %rd<2>; mov.u64 %rd1, 0; st.global.u32 [%rd1], 1; ret; }";
inline constexpr const char* nothing = ".visible .entry k(.param .u64 p) { ret; }";

inline Handle stream(Driver& d, unsigned flags = 0) {
  Handle s = nullptr;
  d.call("cuStreamCreate", &s, flags);
  return s;
}
inline Handle event(Driver& d, unsigned flags = 0) {
  Handle e = nullptr;
  d.call("cuEventCreate", &e, flags);
  return e;
}
inline Status launch_on(Driver& d, Handle f, Handle s) {
  Pointer p = 0;
  void* params[] = {&p};
  return d.ask("cuLaunchKernel", f, 1U, 1U, 1U, 32U, 1U, 1U, 0U, s, static_cast<void**>(params),
               static_cast<void**>(nullptr));
}

std::vector<Case> memory_cases();
std::vector<Case> module_cases();
std::vector<Case> stream_cases();
std::vector<Case> capture_cases();

}  // namespace palladion::answers
