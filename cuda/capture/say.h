#pragma once
// Messages to the user of `palladion capture`, on the standard error stream.
#include <cstdio>

#include "cuda/capture/codes.h"

namespace palladion::cuda::capture {

template <class... Args>
void say(const char* format, Args... args) {
  std::fprintf(stderr, "palladion capture: ");
  std::fprintf(stderr, format, args...);
  std::fputc('\n', stderr);
}

// "palladion capture: unsupported[PLD8104]: ...": `severity` is error, warning or unsupported; `palladion
// explain` has the codes' texts (report/explain/capture_codes.cpp).
template <class... Args>
void say_code(const char* severity, Code code, const char* format, Args... args) {
  std::fprintf(stderr, "palladion capture: %s[PLD%d]: ", severity, static_cast<int>(code));
  std::fprintf(stderr, format, args...);
  std::fputc('\n', stderr);
}

}  // namespace palladion::cuda::capture
