// Files of NumPy (verify/arrays/npy.h).
#pragma once

#include "isa/host/files.h"
#include "isa/host/outcome.h"
#include "verify/arrays/arrays.h"
#include "verify/arrays/npy.h"

namespace palladion::npy {

// The error names the file, what was expected and what it holds.
Result<Array> read_npy(const std::filesystem::path& path, const Expected& expected = {});
// `data` is row-major. Written aside and renamed.
Result<void> write_npy(const std::filesystem::path& path, std::string_view dtype,
                       std::span<const int64_t> shape, std::span<const std::byte> data);

}  // namespace palladion::npy

namespace palladion {

// "f16[512,256]"
std::string describe(const pl::ShapeDtype& type);
// An array of this type from a .npy file.
host::Outcome<Array> read_array(const std::string& file, const pl::ShapeDtype& type);
// Writes one; bf16 and fp8 as ml_dtypes does.
host::Outcome<void> write_array(const std::string& file, const Array& array);

// Refuses arrays that would not fit this host's memory, before they are made.
host::Outcome<void> check_memory(double bytes);
double bytes_of(const pl::ShapeDtype& type);

}  // namespace palladion
