#pragma once
// NumPy's .npy files, versions 1 to 3 (numpy.lib.format), as bytes: read and made without NumPy. By hand:
// neither Boost nor a Debian package reads them.
//
// Element types go by the names of the command line: f16 f32 f64 bf16 e4m3 e5m2 (and the other one-byte
// formats), i8 i16 i32 i64, u8 u16 u32 u64, pred. NumPy has no names for bf16 and fp8. As ml_dtypes does,
// bf16 is written as '<V2' and one-byte formats as '|V1', and `a.view(ml_dtypes.bfloat16)` brings them back.
// The file does not distinguish opaque formats, so a reader states what it expects; by default, V2 is
// bf16 and V1 is e4m3. Raw bits saved as u1 or u2 are taken for an expected one- or two-byte opaque format as
// well.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace palladion::npy {

// A value, or what is wrong with the file.
template <class T>
using Result = tl::expected<T, std::string>;
// Elements along each dimension, the outermost first.
using Shape = std::vector<int64_t>;

struct Array {                  // what a file holds
  std::string dtype;            // "f16", as above
  Shape shape;                  // empty for a scalar
  std::vector<std::byte> data;  // row-major, little-endian
};

struct Expected {                   // what a reader asks for
  std::string dtype = {};           // empty: any
  std::optional<Shape> shape = {};  // none: any
};

// Bytes of one element, 0 for a name that is not known.
size_t size_of(std::string_view dtype);

// "f16[512,256]", as on the command line.
std::string describe(std::string_view dtype, std::span<const int64_t> shape);

// "; expected f16[512,256]", to end a message with; empty when anything is.
std::string expectation(const Expected& expected);
// No file of what is expected has more.
uint64_t most_bytes(const Expected& expected);

// Files in Fortran order are transposed, big-endian ones swapped. The error begins with `name`, the file's,
// and says what was expected and what it holds.
Result<Array> parse(std::span<const std::byte> file, std::string_view name, const Expected& expected = {});

// Whether so many bytes are the data of such an array.
Result<void> check_data(std::string_view dtype, std::span<const int64_t> shape, size_t bytes);
// The first bytes of a file up to the data; a multiple of 64 long.
std::string header(std::string_view dtype, std::span<const int64_t> shape);

}  // namespace palladion::npy
