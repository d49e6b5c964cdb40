// What a command's KERNEL is: "matmul_ws", "zoo/NAME", or a file of kernels, "add.cpp" or "kernels.cpp:add".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace palladion::cli {

struct KernelFileWord {
  std::string file;    // "kernels.cpp", "kernels.so"
  std::string kernel;  // empty: the only one
};

// Nothing for a kernel by name.
std::optional<KernelFileWord> kernel_file_word(std::string_view word);

}  // namespace palladion::cli
