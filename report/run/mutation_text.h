// Broken variants of a program and which of them are found, for people and for programs.
#pragma once

#include <string>

#include "report/run/launched.h"
#include "verify/mutate/mutation.h"

namespace palladion::report {

// `seconds`: of wall time.
std::string mutation_text(const Launched& launched, const verify::MutationReport& report, double seconds);

struct Mutated {
  uint64_t seed = 0;
  unsigned threads = 1;
  double seconds = 0;
  int exit_code = 0;
};
std::string mutation_json(const Launched& launched, const verify::MutationReport& report,
                          const Mutated& mutated);

}  // namespace palladion::report
