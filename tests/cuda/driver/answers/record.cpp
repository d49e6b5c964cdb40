// Prints what the CUDA driver of this machine answers to every case: `record [LIBRARY [CASE...]]`.
#include <algorithm>
#include <cstdio>

#include "tests/cuda/driver/answers/answers.h"

int main(int argc, char** argv) {
  const char* const library = argc > 1 ? argv[1] : "libcuda.so.1";
  for (const auto& c : palladion::answers::all_cases())
    if (argc < 3 || std::any_of(argv + 2, argv + argc, [&](const char* name) { return c.name == name; }))
      std::printf("%s | %s\n", c.name.c_str(), palladion::answers::answer(c, library).c_str()),
          std::fflush(stdout);
}
