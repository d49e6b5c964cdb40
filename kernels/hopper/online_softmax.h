#pragma once
// For the files that record kernels of attention: rows of scores in a warpgroup's registers, and their
// softmax a step of columns after the other.
#include <cmath>
#include <limits>

#include "frontend/plgpu.h"

namespace palladion::kernels {

inline constexpr int64_t group_rows = 64;  // of a wgmma, of a warpgroup
inline const plgpu::Layout& score_layout = plgpu::Layout::WGMMA;
inline constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

// A number for each row.
inline plgpu::Array per_row(float value) {
  return plgpu::layout_cast(plgpu::full({group_rows}, value, pl::f32), score_layout.reduce(1));
}
// Each row's number in all of its columns.
inline plgpu::Array over(const plgpu::Array& rows, int64_t columns) {
  return plgpu::broadcast_in_dim(rows, {group_rows, columns}, {0}, score_layout);
}

// Weights of a step of columns, not yet divided by their sum; the largest score so far; by what earlier sums
// shrink.
struct OnlineSoftmax {
  plgpu::Array p, largest, shrink;
};

// What stands for the largest score: 0 for rows that have seen nothing so far, where -inf - -inf is NaN.
inline plgpu::Array shift_of(const plgpu::Array& largest) {
  return plgpu::where(largest == minus_infinity, 0.0F, largest);
}

// Of scores `s`, times 1 / sqrt(head_dim), in powers of two. `may_be_empty`: rows that have seen nothing so
// far have no largest score.
inline OnlineSoftmax online_softmax(const plgpu::Array& s, const plgpu::Array& before, int64_t head_dim,
                                    bool may_be_empty) {
  const float scale = static_cast<float>(M_LOG2E / std::sqrt(static_cast<double>(head_dim)));
  const plgpu::Array largest = plgpu::maximum(before, s.max(1) * scale);
  const plgpu::Array shift = may_be_empty ? shift_of(largest) : largest;
  return {plgpu::exp2(plgpu::fma(s, scale, -over(shift, s.shape().back()))), largest,
          plgpu::exp2(before - shift)};
}

}  // namespace palladion::kernels
