#pragma once
// Programs that compile with NVRTC take its machine code and leave the PTX: it is asked for at the same time.
#include <optional>
#include <string>
#include <string_view>

namespace palladion::cuda::capture {

// What dlsym answers for nvrtcGetCUBIN of this library.
void* nvrtc_hook(void* library);
// The PTX from which NVRTC made these bytes.
std::optional<std::string> nvrtc_ptx_of(std::string_view cubin);

}  // namespace palladion::cuda::capture
