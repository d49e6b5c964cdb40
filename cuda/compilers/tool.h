#pragma once
// The command lines of ptxas and nvlink.
#include <string>
#include <string_view>
#include <vector>

namespace palladion::cuda::compilers {

struct Said {
  int code = 0;
  std::string out, error;  // for stdout and stderr
};
// `name` is the tool's, as it was called: "ptxas", "nvlink". Options that choose how machine code is made
// have no effect; ptxas has some that it does not tell of, so that unknown ones are none of our errors.
Said run_tool(std::string_view name, const std::vector<std::string>& words);

}  // namespace palladion::cuda::compilers
