#pragma once
// The matrices of tcgen05.mma and the rows of tcgen05.cp, as they lie in shared and tensor memory.
#include "isa/formats/matrix_descriptor.h"
#include "isa/formats/tcgen05_descriptor.h"
#include "isa/formats/tensor_memory.h"
#include "sim/machine/async/async_copies.h"

namespace palladion::sim {

// A or B in one CTA's shared memory.
struct SharedMatrix {
  uint64_t descriptor = 0;
  int rows = 0;          // of M or N
  size_t row_bytes = 0;  // of K
  bool transpose = false;
  int element_bytes = 1;  // sub-byte elements lie in groups of 16 bytes: 1
};

// Calls visit(offset in the CTA's shared memory) for each 16 bytes, in the order of the tile's bytes: rows of
// K, or where M or N runs along the rows, one row of it for each k.
template <class Visit>
void for_each_tcgen05_chunk(const SharedMatrix& m, Visit&& visit) {
  const isa::MatrixDescriptor d = isa::decode_tcgen05_matrix(m.descriptor);
  if (!m.transpose) {
    const isa::MatrixLayout layout(d, isa::Major::k, m.element_bytes);
    const auto chunks = static_cast<uint32_t>(m.row_bytes / 16);
    for (int r = 0; r < m.rows; ++r)
      for (uint32_t c = 0; c < chunks; ++c) visit(layout.k_chunk_address(static_cast<uint32_t>(r), c));
    return;
  }
  const isa::MatrixLayout layout(d, isa::Major::mn, m.element_bytes);
  const auto k = static_cast<uint32_t>(m.row_bytes) / static_cast<uint32_t>(m.element_bytes),
             chunks = static_cast<uint32_t>(m.rows * m.element_bytes / 16);
  for (uint32_t i = 0; i < k; ++i)
    for (uint32_t c = 0; c < chunks; ++c) visit(layout.mn_chunk_address(c, i));
}

// Appends the matrix' rows to the tile.
void read_tcgen05_matrix(const CtaState& cta, const SharedMatrix& m, RawTile& tile);

// Elements of 4 or 6 bits, 16 of them in 16 bytes that they do not fill, to a byte each (PTX, "Packing
// formats").
void spread_narrow_elements(isa::Type type, std::vector<uint8_t>& bytes);

// A of tensor memory: `rows` lanes of 32 bytes.
void read_tensor_rows(const CtaState& cta, uint32_t address, isa::DataPath path, int rows, RawTile& tile);

// A rectangle of tensor memory, for observers.
void append_tensor_pieces(std::vector<Piece>& pieces, uint32_t rank, uint32_t lane, uint32_t lanes,
                          uint32_t column, uint32_t columns);

}  // namespace palladion::sim
