#pragma once
// ldmatrix and stmatrix: fragments of tensor core operands to and from shared memory.
#include <optional>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/refs/access.h"

namespace palladion::frontend {

// A register of such a fragment is the lane's share of a matrix of 8 rows of 16 bytes. An instruction moves
// `group` matrices, 2 or 4, of neighbouring registers. `transposed`: its rows are the columns of the
// fragment.
struct MatrixWay {
  bool transposed = false;
  int64_t group = 4;
  std::vector<ThreadTerm> terms;  // where lane 8 i + r finds row r of matrix i
};

// How a window can be loaded or stored by matrices; none when it cannot.
std::optional<MatrixWay> matrix_load_way(const plgpu::Ref& ref, const plgpu::Layout& layout);
std::optional<MatrixWay> matrix_store_way(const plgpu::Ref& ref, const plgpu::Layout& layout);
plgpu::Array load_matrices(Recorder& r, const plgpu::Ref& ref, const plgpu::Layout& layout,
                           const MatrixWay& way);
void store_matrices(Recorder& r, const plgpu::Ref& ref, const plgpu::Array& value, const MatrixWay& way);

}  // namespace palladion::frontend
