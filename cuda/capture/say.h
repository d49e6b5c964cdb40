#pragma once
// What the user of `palladion capture` is told, on the standard error stream.
#include <cstdio>

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
void say_code(const char* severity, const char* code, const char* format, Args... args) {
  std::fprintf(stderr, "palladion capture: %s[%s]: ", severity, code);
  std::fprintf(stderr, format, args...);
  std::fputc('\n', stderr);
}

}  // namespace palladion::cuda::capture
