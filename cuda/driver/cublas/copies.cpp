// Vectors and matrices between the host and the device.
#include <algorithm>

#include "cuda/abi/cuda.h"
#include "cuda/driver/cublas/handle.h"

extern "C" int cuMemcpy2DUnaligned_v2(const palladion::cuda::Memcpy2D* copy);
extern "C" int cuMemcpy2DAsync_v2(const palladion::cuda::Memcpy2D* copy, void* stream);

namespace palladion::cuda::cublas {
namespace {

constexpr Status mapping_error = 11;

enum class To { device, host };

// `columns` runs of `rows` elements, as they lie on each side.
Status copy(To to, int64_t rows, int64_t columns, int64_t element, const void* from, int64_t from_leading,
            void* into, int64_t into_leading, void* const* stream) {
  if (rows < 0 || columns < 0 || element <= 0 || from_leading < rows || into_leading < rows ||
      from_leading <= 0 || into_leading <= 0)
    return invalid_value;
  if (rows == 0 || columns == 0) return success;
  Memcpy2D c{};
  c.width = static_cast<size_t>(rows * element);
  c.height = static_cast<size_t>(columns);
  c.src_pitch = static_cast<size_t>(from_leading * element);
  c.dst_pitch = static_cast<size_t>(into_leading * element);
  if (c.src_pitch == c.width && c.dst_pitch == c.width) {  // as one row: it has no limit of its width
    c.width *= c.height;
    c.src_pitch = c.dst_pitch = c.width;
    c.height = 1;
  }
  c.src_type = to == To::device ? memory_host : memory_device;
  c.dst_type = to == To::device ? memory_device : memory_host;
  c.src_host = from, c.src_device = reinterpret_cast<Pointer>(from);
  c.dst_host = into, c.dst_device = reinterpret_cast<Pointer>(into);
  const int done = stream == nullptr ? cuMemcpy2DUnaligned_v2(&c) : cuMemcpy2DAsync_v2(&c, *stream);
  return done == 0 ? success : mapping_error;
}

// Elements that lie `step` apart are columns of one row.
Status copy_vector(To to, int64_t n, int64_t element, const void* from, int64_t from_step, void* into,
                   int64_t into_step, void* const* stream) {
  return copy(to, std::min<int64_t>(n, 1), n, element, from, from_step, into, into_step, stream);
}

}  // namespace
}  // namespace palladion::cuda::cublas

using namespace palladion::cuda::cublas;

#define PLD_VECTOR(NAME, INT, TO)                                                                            \
  PLD_STAND_IN Status NAME(INT n, INT element, const void* from, INT from_step, void* into, INT into_step) { \
    return copy_vector(To::TO, n, element, from, from_step, into, into_step, nullptr);                       \
  }
#define PLD_VECTOR_ASYNC(NAME, INT, TO)                                                                    \
  PLD_STAND_IN Status NAME(INT n, INT element, const void* from, INT from_step, void* into, INT into_step, \
                           void* stream) {                                                                 \
    return copy_vector(To::TO, n, element, from, from_step, into, into_step, &stream);                     \
  }
#define PLD_MATRIX(NAME, INT, TO)                                                                  \
  PLD_STAND_IN Status NAME(INT rows, INT columns, INT element, const void* from, INT from_leading, \
                           void* into, INT into_leading) {                                         \
    return copy(To::TO, rows, columns, element, from, from_leading, into, into_leading, nullptr);  \
  }
#define PLD_MATRIX_ASYNC(NAME, INT, TO)                                                            \
  PLD_STAND_IN Status NAME(INT rows, INT columns, INT element, const void* from, INT from_leading, \
                           void* into, INT into_leading, void* stream) {                           \
    return copy(To::TO, rows, columns, element, from, from_leading, into, into_leading, &stream);  \
  }
#define PLD_TO_BOTH(MAKE, NAME, TO) \
  MAKE(NAME, int, TO)               \
  MAKE(NAME##_64, int64_t, TO)

PLD_TO_BOTH(PLD_VECTOR, cublasSetVector, device)
PLD_TO_BOTH(PLD_VECTOR, cublasGetVector, host)
PLD_TO_BOTH(PLD_VECTOR_ASYNC, cublasSetVectorAsync, device)
PLD_TO_BOTH(PLD_VECTOR_ASYNC, cublasGetVectorAsync, host)
PLD_TO_BOTH(PLD_MATRIX, cublasSetMatrix, device)
PLD_TO_BOTH(PLD_MATRIX, cublasGetMatrix, host)
PLD_TO_BOTH(PLD_MATRIX_ASYNC, cublasSetMatrixAsync, device)
PLD_TO_BOTH(PLD_MATRIX_ASYNC, cublasGetMatrixAsync, host)
