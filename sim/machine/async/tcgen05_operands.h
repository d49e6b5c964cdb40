#pragma once
// The operands of tcgen05.mma and the rows of tcgen05.cp, as they lie in shared and tensor memory.
#include <string>

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

// Fills the tile with the matrix' rows.
void read_tcgen05_matrix(const CtaState& cta, const SharedMatrix& m, RawTile& tile);

// Elements of 4 or 6 bits of shared memory, 16 of them in 16 bytes that they do not fill, to a byte each
// (PTX, "Packing formats").
void spread_narrow_elements(isa::Type type, std::vector<uint8_t>& bytes);
// The same elements of tensor memory, where each has a byte: e2m1 in its bits 2 to 5, the others in 0 to 5.
void align_narrow_elements(isa::Type type, std::vector<uint8_t>& bytes);

// What is wrong with the contents of an operand, found when it is read. No code: nothing.
struct OperandFault {
  std::optional<Code> code;
  Statement message, help;
};

// A of tensor memory, 32 bytes of each row. Where the data path divides N over the lanes, each part of the
// lanes holds a copy of A.
OperandFault read_tensor_rows(const CtaState& cta, uint32_t address, isa::DataPath path, int rows,
                              RawTile& tile);

// Scale factors: `count` bytes from byte `id` of each row's word on. `parts`: into how many parts of the
// lanes the rows are divided (2: B of data path b); each quarter of a part's lanes holds a copy.
struct ScaleOperand {
  const char* name = "";
  uint32_t address = 0;
  int rows = 0, count = 1, id = 0, parts = 1;

  int columns() const { return (rows / parts + 31) / 32; }
};
OperandFault read_scales(const CtaState& cta, const ScaleOperand& scales, std::vector<uint8_t>& bytes);

// The metadata of a sparse A of `rows` rows in the CTA.
struct MetadataOperand {
  uint32_t address = 0;
  int rows = 128, element_bits = 16, selector = 0;  // element_bits 4: of pairs

  bool is_narrow() const { return element_bits <= 8; }
  int columns() const { return is_narrow() ? 2 : 1; }
};
// Replaces stored rows of 32 bytes by rows of 64 with zeros where nothing was selected; `selected` gets a
// word for each row with a bit for each k (each pair of packed elements, for which the arithmetic asks for
// two words a row and reads neither).
OperandFault expand_sparse_a(const CtaState& cta, const MetadataOperand& metadata, RawTile& tile,
                             std::vector<uint64_t>& selected);
// Turns rows of m into rows of k.
void turn_tile(RawTile& tile, size_t element_bytes);

// The columns of B that count as zero, a bit each (PTX, "Zero-Column Mask Descriptor").
std::vector<bool> zero_columns(uint64_t descriptor, int m, int n);
void clear_columns(const std::vector<bool>& zero, bool transpose, size_t element_bytes, RawTile& tile);

// A rectangle of tensor memory, for observers.
void append_tensor_pieces(std::vector<Piece>& pieces, CtaRank rank, uint32_t lane, uint32_t lanes,
                          uint32_t column, uint32_t columns);

}  // namespace palladion::sim
