// Files of NumPy (verify/arrays/npy.h).
#pragma once

#include "isa/host/files.h"
#include "verify/arrays/npy.h"

namespace palladion::cli {

// The error names the file, what was expected and what it holds.
Result<npy::Array> read_npy(const std::filesystem::path& path, const npy::Expected& expected = {});
// `data` is row-major. Written aside and renamed.
Result<void> write_npy(const std::filesystem::path& path, std::string_view dtype,
                       std::span<const int64_t> shape, std::span<const std::byte> data);

}  // namespace palladion::cli
