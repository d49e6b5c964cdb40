#include "sim/machine/async/tcgen05_operands.h"

namespace palladion::sim {

void read_tcgen05_matrix(const CtaState& cta, const SharedMatrix& m, RawTile& tile) {
  const auto rows = static_cast<size_t>(m.rows), size = static_cast<size_t>(m.element_bytes);
  tile.stride = m.transpose ? rows * size : m.row_bytes;
  tile.bytes.resize(rows * m.row_bytes);
  uint8_t* to = tile.bytes.data();
  for_each_tcgen05_chunk(m, [&](uint32_t address) {
    if (address + 16 <= cta.shared.size())
      std::memcpy(to, cta.shared.data() + address, 16);
    else
      std::memset(to, 0, 16);
    to += 16;
  });
}

namespace {

void spread_nibbles(const uint8_t* from, uint8_t* to) {
  for (int i = 0; i < 16; ++i) to[i] = static_cast<uint8_t>(from[i / 2] >> (4 * (i % 2)) & 0xF);
}

void spread_six_bits(const uint8_t* from, uint8_t* to) {
  for (int i = 0; i < 16; ++i) {
    const int bit = 6 * i, byte = bit / 8;
    const unsigned two = from[byte] | static_cast<unsigned>(from[byte + 1]) << 8;
    to[i] = static_cast<uint8_t>(two >> (bit % 8) & 0x3F);
  }
}

}  // namespace

void spread_narrow_elements(isa::Type type, std::vector<uint8_t>& bytes) {
  const bool four = type == isa::Type::e2m1;
  if (!four && type != isa::Type::e2m3 && type != isa::Type::e3m2) return;
  for (size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    uint8_t group[17] = {};
    std::memcpy(group, bytes.data() + at, 16);
    if (four)
      spread_nibbles(group, bytes.data() + at);
    else
      spread_six_bits(group, bytes.data() + at);
  }
}

void read_tensor_rows(const CtaState& cta, uint32_t address, isa::DataPath path, int rows, RawTile& tile) {
  constexpr size_t row_bytes = 32;
  const isa::TensorPlace at = isa::tensor_place(address);
  tile.stride = row_bytes;
  tile.bytes.resize(static_cast<size_t>(rows) * row_bytes);
  for (int r = 0; r < rows; ++r) {
    const auto lane = static_cast<uint32_t>(at.lane + isa::lane_of_row(path, r));
    std::memcpy(tile.bytes.data() + static_cast<size_t>(r) * row_bytes, cta.tensor.row(lane) + at.column,
                row_bytes);
  }
}

void append_tensor_pieces(std::vector<Piece>& pieces, uint32_t rank, uint32_t lane, uint32_t lanes,
                          uint32_t column, uint32_t columns) {
  for (uint32_t c = 0; c < columns; ++c)
    append(pieces, {isa::Space::tensor, tensor_byte(rank, lane, column + c), lanes * 4});
}

}  // namespace palladion::sim
