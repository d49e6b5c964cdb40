#include "cuda/driver/order/call_site.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace palladion::cuda::driver {
namespace {

constexpr size_t most_frames = 12;

// Or the C library's, which the program calls as well.
bool is_ours(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return name.starts_with("libcuda.so") || name.starts_with("libcudart.so") ||
         name.starts_with("libcublas") || name.starts_with("libpalladion") || name.starts_with("libc.so");
}

std::string function_name(const char* symbol) {
  int failed = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &failed),
                                                    std::free);
  return failed == 0 ? name.get() : symbol;
}

}  // namespace

std::vector<void*> call_stack(const void* from) {
  std::array<void*, most_frames> frames{};
  const auto end = frames.begin() + backtrace(frames.data(), most_frames);
  const auto first = std::find(frames.begin(), end, from);
  return std::vector<void*>(first != end ? first : frames.begin(), end);
}

std::string call_site(const std::vector<void*>& calls) {
  for (void* const at : calls) {
    Dl_info info{};
    if (dladdr(at, &info) == 0 || info.dli_fname == nullptr || is_ours(info.dli_fname)) continue;
    const std::string_view file = info.dli_fname;
    const auto offset = [&](const void* from) {
      return reinterpret_cast<uintptr_t>(at) - reinterpret_cast<uintptr_t>(from);
    };
    const std::string place =
        fmt::format("{}+0x{:x}", file.substr(file.rfind('/') + 1), offset(info.dli_fbase));
    if (info.dli_sname == nullptr) return place;
    return fmt::format("{}+0x{:x} ({})", function_name(info.dli_sname), offset(info.dli_saddr), place);
  }
  return {};
}

}  // namespace palladion::cuda::driver
