#pragma once
// Gathers and scatters of whole rows by TMA (sm_100): matrix.at(rows) names rows of a matrix in GMEM by an
// array of their numbers.
#include <source_location>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/memory/copies.h"
#include "frontend/refs/ref.h"

namespace palladion::plgpu {

// Rows of a matrix: what copies take, and nothing else.
class PickedRows {
 public:
  // `rows`: s32 or u32 array of one dimension in Layout::TMA_INDICES (a multiple of 16) or TMA_INDICES_4 (of
  // 4).
  PickedRows(const Ref& matrix, Array rows, const std::vector<Indexer>& columns, std::source_location loc);
  const Ref& matrix() const { return matrix_; }  // all rows, the columns that are copied
  const Array& rows() const { return rows_; }
  Shape shape() const { return {rows_.shape(0), matrix_.shape(1)}; }

 private:
  Ref matrix_;
  Array rows_;
};

template <class... Rest>
PickedRows Ref::at(detail::RowNumbers rows, const Rest&... columns) const {
  return {*this, rows.rows, {detail::to_indexer(columns)...}, rows.loc};
}

// Row i of `dst`, SMEM of the shape (rows, columns), becomes row rows[i] of the matrix, or zeros where the
// matrix has no such row. TilingTransform({8, n}) or none. The barrier gets one arrival when all bytes are
// there.
void copy_gmem_to_smem(const PickedRows& src, const Ref& dst, const BarrierRef& barrier,
                       std::source_location loc = std::source_location::current());
// Row i of `src` becomes row rows[i] of the matrix; rows that it has not are left out. A row that stands
// twice gets either. One group for wait_smem_to_gmem.
void copy_smem_to_gmem(const Ref& src, const PickedRows& dst,
                       std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
