#pragma once
// ldmatrix and stmatrix: WGMMA fragments of 16-bit elements to and from shared memory.
#include "frontend/arrays/array.h"

namespace palladion::frontend {

// Whether a window can be moved by matrices; `transposed`: its rows lie along the first dimension.
bool matrix_way(const plgpu::Ref& ref, const plgpu::Layout& layout, pl::DType dtype, bool* transposed);
plgpu::Array load_matrices(Recorder& r, const plgpu::Ref& ref, const plgpu::Layout& layout, bool transposed);
void store_matrices(Recorder& r, const plgpu::Ref& ref, const plgpu::Array& value, bool transposed);

}  // namespace palladion::frontend
