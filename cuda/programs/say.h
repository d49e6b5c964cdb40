// A line on standard error of the process that starts, or becomes, another program.
#pragma once

#include <unistd.h>

#include <string_view>

#include "isa/core/visible.h"

namespace palladion::cuda::programs {

inline void say(std::string_view line) {
  const std::string text = isa::visible(line);
  (void)!::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace palladion::cuda::programs
