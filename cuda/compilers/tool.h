#pragma once
// The command lines of ptxas and nvlink.
#include <string>
#include <string_view>
#include <vector>

#include "cuda/compilers/assemble.h"

namespace palladion::cuda::compilers {

struct Said {
  int code = 0;
  std::string out, error;  // for stdout and stderr
};
// `name` is the tool's, as it was called: "ptxas", "nvlink". Options that choose how machine code is made
// have no effect; ptxas has some that it does not tell of, so that unknown ones are none of our errors.
// What of them has an effect; or what is wrong with them.
tl::expected<Options, std::string> options_of(const std::vector<std::string>& words);
Said run_tool(std::string_view name, const std::vector<std::string>& words);

}  // namespace palladion::cuda::compilers
