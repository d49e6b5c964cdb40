#include "sim/machine/async/tcgen05_operands.h"

#include "sim/launch/phrases/phrase.h"

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

bool is_narrow(isa::Type type) {
  return type == isa::Type::e2m1 || type == isa::Type::e2m3 || type == isa::Type::e3m2;
}

}  // namespace

void spread_narrow_elements(isa::Type type, std::vector<uint8_t>& bytes) {
  if (!is_narrow(type)) return;
  for (size_t at = 0; at + 16 <= bytes.size(); at += 16) {
    uint8_t group[17] = {};
    std::memcpy(group, bytes.data() + at, 16);
    if (type == isa::Type::e2m1)
      spread_nibbles(group, bytes.data() + at);
    else
      spread_six_bits(group, bytes.data() + at);
  }
}

void align_narrow_elements(isa::Type type, std::vector<uint8_t>& bytes) {
  if (!is_narrow(type)) return;
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(type == isa::Type::e2m1 ? b >> 2 & 0xF : b & 0x3F);
}

namespace {

// `what` of an operand: "rows", "scales".
OperandFault differing_copies(const char* what, const char* operand, int lane, int other, int column) {
  return {Code::copies_differ, say<Phrase::copies_differ>(what, operand, lane, other, column), {}};
}

}  // namespace

OperandFault read_tensor_rows(const CtaState& cta, uint32_t address, isa::DataPath path, int rows,
                              RawTile& tile) {
  constexpr size_t row_bytes = 32;
  const isa::TensorPlace at = isa::tensor_place(address);
  tile.stride = row_bytes;
  tile.bytes.resize(static_cast<size_t>(rows) * row_bytes);
  for (int r = 0; r < rows; ++r) {
    uint8_t* const to = tile.bytes.data() + static_cast<size_t>(r) * row_bytes;
    for (int part = 0; part < isa::column_parts(path); ++part) {
      const int lane = at.lane + isa::lane_of_row(path, r, part);
      const uint32_t* const from = cta.tensor.row(static_cast<uint32_t>(lane)) + at.column;
      if (part == 0)
        std::memcpy(to, from, row_bytes);
      else if (std::memcmp(to, from, row_bytes) != 0)
        return differing_copies("rows", "A", at.lane + isa::lane_of_row(path, r), lane, at.column);
    }
  }
  return {};
}

namespace {

// `count` bytes of a lane's word.
const uint8_t* scale_bytes(const CtaState& cta, const ScaleOperand& s, int lane, int column) {
  const uint32_t* const word = cta.tensor.row(static_cast<uint32_t>(lane)) + column;
  return reinterpret_cast<const uint8_t*>(word) + s.id;
}

}  // namespace

OperandFault read_scales(const CtaState& cta, const ScaleOperand& s, std::vector<uint8_t>& bytes) {
  const int first = isa::tensor_place(s.address).column, in_part = s.rows / s.parts,
            quarters = 4 / s.parts;  // that hold the same
  const auto count = static_cast<size_t>(s.count);
  bytes.resize(static_cast<size_t>(s.rows) * count);
  for (int row = 0; row < s.rows; ++row) {
    const isa::TensorPlace place = isa::scale_place(row % in_part);
    const int lane = place.lane + 32 * quarters * (row / in_part), column = first + place.column;
    uint8_t* const to = bytes.data() + static_cast<size_t>(row) * count;
    std::memcpy(to, scale_bytes(cta, s, lane, column), count);
    for (int q = 1; q < quarters; ++q)
      if (std::memcmp(to, scale_bytes(cta, s, lane + 32 * q, column), count) != 0)
        return differing_copies("scales", s.name, lane, lane + 32 * q, column);
  }
  return {};
}

std::vector<bool> zero_columns(uint64_t descriptor, int m, int n) {
  std::vector<bool> zero(static_cast<size_t>(n));
  if ((descriptor >> 39 & 1) == 0) return zero;
  const int masks = m == 128 ? 1 : m == 64 ? 2 : 4, width = n / masks;
  const int zeros = static_cast<int>(descriptor >> 40 & 0xFF) + 1,
            used = static_cast<int>(descriptor >> 48 & 0xFF) + 1;
  for (int i = 0; i < n; ++i) {
    const int mask = i / width;
    const auto start = static_cast<int>(descriptor >> (8 * mask) & 0xFF);
    const bool zeros_first = (descriptor >> (32 + mask) & 1) != 0;
    const int at = (i % width + start) % (zeros + used);
    zero[static_cast<size_t>(i)] = zeros_first ? at < zeros : at >= used;
  }
  return zero;
}

void clear_columns(const std::vector<bool>& zero, bool transpose, size_t element_bytes, RawTile& tile) {
  for (size_t n = 0; n < zero.size(); ++n) {
    if (!zero[n]) continue;
    if (!transpose) {
      std::memset(tile.bytes.data() + n * tile.stride, 0, tile.stride);
      continue;
    }
    for (size_t at = n * element_bytes; at < tile.bytes.size(); at += tile.stride)
      std::memset(tile.bytes.data() + at, 0, element_bytes);
  }
}

void append_tensor_pieces(std::vector<Piece>& pieces, CtaRank rank, uint32_t lane, uint32_t lanes,
                          uint32_t column, uint32_t columns) {
  for (uint32_t c = 0; c < columns; ++c) {
    const Piece piece{isa::Space::tensor, tensor_byte(rank, lane, column + c), lanes * 4};
    c == 0 ? pieces.push_back(piece) : append(pieces, piece);  // what lies before is of another operand
  }
}

}  // namespace palladion::sim
