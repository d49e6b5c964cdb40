#pragma once
// Along one axis of an array: running sums, sorting, the largest elements, another order. All of a
// warpgroup's lanes take part: elements go from lane to lane by shuffles, from warp to warp through the
// scratch of reductions in SMEM.
#include <source_location>
#include <utility>

#include "frontend/arrays/array.h"

namespace palladion::plgpu {

// The options of cumsum, cumprod, cummax and cummin.
struct ScanOptions {
  bool reverse = false;  // from the end: element i is combined with all behind it
};
// Element i of the result combines elements 0 to i of the axis; -1 is the last one. Shape, dtype and layout
// stay. The axis: of an array of one dimension, of any size; of a tiled layout, of any size; the last one, of
// a size that is a power of two, of WG_STRIDED. Floating point: neighbours are added first, then pairs, then
// fours. Errors: PLD2005 no such axis, PLD2003 a layout whose lanes do not hold the axis so, PLD2008 a bool,
// PLD2007 no room in the scratch.
Array cumsum(const Array& x, int axis = -1, const ScanOptions& options = {},
             std::source_location loc = std::source_location::current());
Array cumprod(const Array& x, int axis = -1, const ScanOptions& options = {},
              std::source_location loc = std::source_location::current());
Array cummax(const Array& x, int axis = -1, const ScanOptions& options = {},
             std::source_location loc = std::source_location::current());
Array cummin(const Array& x, int axis = -1, const ScanOptions& options = {},
             std::source_location loc = std::source_location::current());

// The options of sort and argsort.
struct SortOptions {
  bool descending = false;  // the largest one first; equal ones keep their order all the same
};
// Sorted along the axis, as jnp.sort: stable, -0 equals 0, NaN stands behind all numbers (descending: in
// front). Axes as of cumsum; elements of at most 32 bits (PLD2008). Bitonic: log2(n) (log2(n) + 1) / 2 steps
// for an axis of n elements, filled up to a power of two.
Array sort(const Array& x, int axis = -1, const SortOptions& options = {},
           std::source_location loc = std::source_location::current());
// The s32 numbers of the elements in that order.
Array argsort(const Array& x, int axis = -1, const SortOptions& options = {},
              std::source_location loc = std::source_location::current());
// The k largest elements of an array of one dimension, the largest first, and their s32 numbers, as
// lax.top_k: of equal ones the first. Errors: PLD2009 k is not 1 to the size.
std::pair<Array, Array> top_k(const Array& x, int64_t k,
                              std::source_location loc = std::source_location::current());

// Element i along the axis is x's element indices[i], as jnp.take with mode="clip": numbers beyond the ends
// become the ends. `indices`: one dimension, s32 or u32. A permutation of the rows of a matrix is take(x,
// order, 0). The elements go through the scratch (PLD2007 where compiler_params.reduction_scratch_bytes has
// no room for all of x). Of an array of one dimension the result has the layout of the indices; else the
// layout stays, and is the default one where the size changes.
Array take(const Array& x, const Array& indices, int axis = -1,
           std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
