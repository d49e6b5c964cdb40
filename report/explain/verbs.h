// The verbs of kernels for `palladion explain`, read from the headers that kernels include.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace palladion::report {

struct VerbText {
  std::string name;         // "plgpu::barrier_wait"
  std::string header;       // "frontend/sync/barriers.h"
  std::string comment;      // as the header has it
  std::string declaration;  // without the place of the author's line, which the compiler fills in
};

// Every overload of the verb, in the order of the headers below `palladion`/frontend. `word`: "barrier_wait",
// "plgpu::barrier_wait" or "plgpu.barrier_wait".
std::vector<VerbText> find_verbs(std::string_view word, const std::filesystem::path& palladion);

}  // namespace palladion::report
