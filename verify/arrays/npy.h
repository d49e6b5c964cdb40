// NumPy's .npy files, versions 1 to 3 (numpy.lib.format), read and written without NumPy. By hand: neither
// Boost nor a Debian package reads them.
//
// Element types go by the names of the command line: f16 f32 f64 bf16 e4m3 e5m2 (and the other one-byte
// formats), i8 i16 i32 i64, u8 u16 u32 u64, pred. NumPy has no names for bf16 and fp8. As ml_dtypes does,
// bf16 is written as '<V2' and one-byte formats as '|V1', and `a.view(ml_dtypes.bfloat16)` brings them back.
// The file does not distinguish opaque formats, so a reader states what it expects; by default, V2 is
// bf16 and V1 is e4m3. Raw bits saved as u1 or u2 are taken for an expected one- or two-byte opaque format as
// well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/support/files.h"

namespace palladion::cli::npy {

using Shape = std::vector<int64_t>;

struct Array {
  std::string dtype;
  Shape shape;                  // empty for a scalar
  std::vector<std::byte> data;  // row-major, little-endian
};

struct Expected {
  std::string dtype = {};           // empty: any
  std::optional<Shape> shape = {};  // none: any
};

// Bytes of one element, 0 for a name that is not known.
size_t size_of(std::string_view dtype);

// "f16[512,256]", as on the command line.
std::string describe(std::string_view dtype, std::span<const int64_t> shape);

// Files in Fortran order are transposed, big-endian ones swapped. The error names the file, what was expected
// and what it holds.
Result<Array> read(const std::filesystem::path& path, const Expected& expected = {});
Result<Array> parse(std::span<const std::byte> file, std::string_view name, const Expected& expected = {});

// `data` is row-major. Written aside and renamed.
Result<void> write(const std::filesystem::path& path, std::string_view dtype, std::span<const int64_t> shape,
                   std::span<const std::byte> data);

// The first bytes of a file up to the data; a multiple of 64 long.
std::string header(std::string_view dtype, std::span<const int64_t> shape);

}  // namespace palladion::cli::npy
