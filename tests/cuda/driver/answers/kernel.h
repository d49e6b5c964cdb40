#pragma once
// A kernel of one case: `k`, of which a case states the body.
#include <string>

#include "tests/cuda/driver/answers/answers.h"

namespace palladion::answers {

struct Kernel {
  const char* name;
  std::string body;  // %rd0: 1 MiB of memory, %rd1: `argument`, %r0: %tid.x
  unsigned block = 32;
  unsigned grid = 1;
  unsigned cluster = 1;
  unsigned shared = 0;        // dynamic bytes
  unsigned words = 0;         // of the memory's first words, to be answered
  std::string declared = {};  // in front of the kernel
  Pointer argument = 0;
};

// Runs it, and answers the statuses and the words.
Case case_of(const Kernel& kernel);

std::vector<Kernel> asynchronous();
std::vector<Kernel> remote_shared_memory();
std::vector<Kernel> values();

}  // namespace palladion::answers
