// A of sparse tcgen05.mma: its metadata in tensor memory, and its dense form (PTX, "Sparse Matrices").
#include <cstring>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/tcgen05_operands.h"

namespace palladion::sim {
namespace {

constexpr size_t stored_bytes = 32, dense_bytes = 64;

// Whether the manual defines a nibble: the element of two (tf32), or the two of four in ascending order,
// and 6.
bool is_defined(int bits, uint32_t nibble) {
  constexpr uint32_t pairs =
      1U << 0x4 | 1U << 0x8 | 1U << 0xC | 1U << 0x9 | 1U << 0xD | 1U << 0x6 | 1U << 0xE;
  return bits == 32 ? nibble == 0x4 || nibble == 0xE : (pairs >> nibble & 1) != 0;
}

uint32_t nibble_of(const CtaState& cta, const MetadataOperand& m, int row, int i) {
  const isa::TensorPlace at = isa::tensor_place(m.address);
  const isa::MetadataPlace place = isa::metadata_place(m.element_bits, row, i);
  const uint32_t word =
      cta.tensor.row(static_cast<uint32_t>(place.lane))[at.column + m.selector + place.column];
  return word >> place.bit & 15;
}

OperandFault undefined_nibble(const MetadataOperand& m, int row, int i, uint32_t nibble) {
  const isa::TensorPlace at = isa::tensor_place(m.address);
  const isa::MetadataPlace place = isa::metadata_place(m.element_bits, row, i);
  return {Code::sparse_metadata,
          say<Phrase::undefined_nibble>(row, nibble, place.lane, at.column + m.selector + place.column,
                                        place.bit, place.bit + 3),
          m.element_bits == 32 ? say<Phrase::nibbles_of_tf32>() : say<Phrase::nibbles_of_pairs>()};
}

struct Row {
  const uint8_t* stored;
  uint8_t* dense;
  uint64_t* selected;
};

void place(const Row& row, size_t size, size_t from, size_t to) {
  std::memcpy(row.dense + to * size, row.stored + from * size, size);
  *row.selected |= uint64_t{1} << to;
}

}  // namespace

OperandFault expand_sparse_a(const CtaState& cta, const MetadataOperand& m, RawTile& tile,
                             std::vector<uint64_t>& selected) {
  const auto rows = static_cast<size_t>(m.rows);
  const size_t size = m.is_narrow() ? 1 : static_cast<size_t>(m.element_bits) / 8;
  const bool single = m.element_bits == 32;
  const size_t nibbles = dense_bytes / size / (single ? 2 : 4);
  std::vector<uint8_t> dense(rows * dense_bytes);
  selected.assign(2 * rows, 0);
  for (size_t r = 0; r < rows; ++r) {
    const Row row{tile.bytes.data() + r * stored_bytes, dense.data() + r * dense_bytes, &selected[r]};
    for (size_t i = 0; i < nibbles; ++i) {
      const uint32_t nibble = nibble_of(cta, m, static_cast<int>(r), static_cast<int>(i));
      if (!is_defined(m.element_bits, nibble))
        return undefined_nibble(m, static_cast<int>(r), static_cast<int>(i), nibble);
      if (single) {
        place(row, size, i, 2 * i + (nibble >> 1 & 1));
      } else {
        place(row, size, 2 * i, 4 * i + (nibble & 3));
        place(row, size, 2 * i + 1, 4 * i + (nibble >> 2));
      }
    }
  }
  tile.bytes = std::move(dense);
  tile.stride = dense_bytes;
  return {};
}

void turn_tile(RawTile& tile, size_t size) {
  const size_t k = tile.bytes.size() / tile.stride, m = tile.stride / size;
  std::vector<uint8_t> turned(tile.bytes.size());
  for (size_t i = 0; i < k; ++i)
    for (size_t r = 0; r < m; ++r)
      std::memcpy(turned.data() + (r * k + i) * size, tile.bytes.data() + i * tile.stride + r * size, size);
  tile.bytes = std::move(turned);
  tile.stride = k * size;
}

}  // namespace palladion::sim
