#pragma once
// pl::load and pl::store: an index for each dimension, a mask, and what stands in place of masked elements.
#include <source_location>
#include <variant>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/refs/ref.h"

namespace palladion::pl {

// An index of pl::load and pl::store: a number drops its dimension, a slice or pl::all keeps it, an array of
// s32 or u32 picks elements.
struct MemoryIndex {
  std::variant<plgpu::Indexer, plgpu::Array> value;             // as it was given
  MemoryIndex(const plgpu::Array& indices) : value(indices) {}  // NOLINT: an array is an index
  template <class T>
    requires requires(const T& v) { plgpu::detail::to_indexer(v); } && (!std::same_as<T, plgpu::Array>)
  MemoryIndex(const T& v) : value(plgpu::detail::to_indexer(v)) {}  // NOLINT: implicit on purpose
};

// Elements of GMEM or SMEM, `x_ref[indices]` with a mask: where the bool `mask` (an array, which broadcasts
// to the result's shape, or a number) is false, nothing is read, the index may be out of bounds, and the
// element is `other`. Missing trailing indices are pl::all. Index arrays broadcast together by NumPy's rule,
// stand next to each other, and their dimensions stand in the result where they stand.
//   pl::load(x, {0, pl::ds(2, 3), pl::all})
//   pl::load(x, {i}, i < 5, -INFINITY)      with i = plgpu::broadcasted_iota(pl::s32, {8}, 0)
// Errors: PLD2001 shapes, PLD2002 a mask that is no bool or another dtype, PLD2101 indices of another kind,
// PLD2107 neither GMEM nor SMEM.
plgpu::Array load(const plgpu::Ref& ref, const std::vector<MemoryIndex>& indices,
                  const plgpu::ArrayArg& mask = true, const plgpu::ArrayArg& other = 0,
                  std::source_location loc = std::source_location::current());
// The whole window.
plgpu::Array load(const plgpu::Ref& ref, std::source_location loc = std::source_location::current());
// Writes `value`, which broadcasts, where the mask holds.
void store(const plgpu::Ref& ref, const std::vector<MemoryIndex>& indices, const plgpu::ArrayArg& value,
           const plgpu::ArrayArg& mask = true, std::source_location loc = std::source_location::current());

}  // namespace palladion::pl
