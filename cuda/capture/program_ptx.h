#pragma once
// The PTX of a kernel, out of what the program gave to the driver.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace palladion::cuda::capture {

// Bytes that the program loaded. Those of the program's own files stay where they are and are not copied.
struct LoadedImage {
  const void* data = nullptr;
  uint64_t bytes = 0;
  std::string copy;
};

struct FoundPtx {
  std::string text;
  std::string source;  // "fatbin, PTX for compute_90; the fatbin also has machine code for sm_90"
  std::vector<std::string> linked;  // the PTX with which it was linked
};
// The newest PTX that is not newer than the chip (`compute`: 90) and has this entry.
std::optional<FoundPtx> ptx_of(const LoadedImage& image, const std::string& entry, uint32_t compute);
// The machine code for that chip, when there is no such PTX.
std::string cubin_of(const LoadedImage& image, uint32_t compute);

// Names of the module's .global and .const variables: of its PTX, or of its machine code.
std::vector<std::string> variables_of(std::string_view ptx);
std::vector<std::string> variables_of_cubin(std::string_view cubin);

}  // namespace palladion::cuda::capture
