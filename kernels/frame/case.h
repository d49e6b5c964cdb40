#pragma once
// A kernel with its choices as one line of text: "matmul_ws m=512 n=512 k=512 cluster=m seed=3".
#include <string>
#include <string_view>
#include <vector>

#include "kernels/frame/registry.h"

namespace palladion::kernels {

struct Case {
  std::string text;
  const KernelSpec* spec = nullptr;
  Choice choice;
  uint64_t seed = 0;
};

// Throws isa::Error when the kernel, a size or a setting does not exist.
Case parse_case(std::string_view line);
// One case a line; '#' starts a comment.
std::vector<Case> read_cases(const std::string& path);

}  // namespace palladion::kernels
