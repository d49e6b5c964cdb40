// Any bytes: an array of exactly the size that its shape says, or an error that names the file.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "verify/arrays/npy.h"

namespace npy = palladion::npy;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto array = npy::parse(std::as_bytes(std::span(data, size)), "fuzz.npy");
  if (!array) {
    if (!array.error().starts_with("fuzz.npy: ")) std::abort();
    return 0;
  }
  size_t bytes = npy::size_of(array->dtype);
  for (const int64_t dim : array->shape) bytes *= size_t(dim);
  if (bytes != array->data.size()) std::abort();
  return 0;
}
