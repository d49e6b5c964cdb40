// The place of the metadata was measured on an H200, one nibble at a time, for every shape of mma.sp and
// wgmma.sp with elements of 8, 16 and 32 bits; each warp of a wgmma is like a warp of mma.sp. With group =
// lane / 4:
//   16 and 32 bits: a lane has four nibbles of row `group` and then four of row `group + 8`; the next lane
//   has the following k. 8 bits: a lane has eight nibbles of row `group`, the next lane those of row `group +
//   8`; the pair after that has the following k.
// The selector chooses one lane of each four, a pair of them, or nothing, by how many lanes are needed.
#include "sim/machine/exec/sparse.h"

#include <cstring>

namespace palladion::sim {
namespace {

// A nibble stands for 4 elements of which two are stored, or for 2 elements of 32 bits of which one is.
int elements_of_nibble(int bits) { return bits == 32 ? 2 : 4; }

int lanes_needed(const SparseShape& s) {
  const int nibbles = SparseRows::count * s.k / elements_of_nibble(s.bits);
  return nibbles / 8 / 8;  // 8 in a word, 8 groups
}

struct Position {
  int row, nibble;  // of the row
};

Position position(int bits, int lane, int nibble) {
  if (bits == 8) return {lane % 2 * 8, lane / 2 * 8 + nibble};
  return {nibble / 4 * 8, lane * 4 + nibble % 4};
}

bool place_pair(SparseRows& rows, int row, int group, uint32_t nibble) {
  const uint32_t first = nibble & 3, second = nibble >> 2;
  const auto k = static_cast<uint32_t>(4 * group);
  rows.place[row][2 * group] = static_cast<uint8_t>(k + first);
  rows.place[row][2 * group + 1] = static_cast<uint8_t>(k + second);
  rows.selected[row] |= (uint64_t{1} << first | uint64_t{1} << second) << k;
  return first != second;
}

// tf32: 0b0100 is the first of the two, 0b1110 the second.
bool place_single(SparseRows& rows, int row, int group, uint32_t nibble) {
  const int k = 2 * group + static_cast<int>(nibble >> 1 & 1);
  rows.place[row][group] = static_cast<uint8_t>(k);
  rows.selected[row] |= uint64_t{1} << k;
  return nibble == 0x4 || nibble == 0xE;
}

template <size_t size>
void expand(const uint8_t* from, const uint8_t* place, int count, uint8_t* to) {
  for (int i = 0; i < count; ++i)
    std::memcpy(to + place[i] * size, from + static_cast<size_t>(i) * size, size);
}

}  // namespace

bool read_sparse_metadata(const uint32_t* words, const SparseShape& shape, SparseRows& rows) {
  std::memset(rows.selected, 0, sizeof rows.selected);
  bool defined = true;
  const int lanes = lanes_needed(shape);
  for (int group = 0; group < 8; ++group) {
    for (int lane = 0; lane < lanes; ++lane) {
      const uint32_t word = words[4 * group + (shape.selector * lanes + lane) % 4];
      for (int i = 0; i < 8; ++i) {
        const Position at = position(shape.bits, lane, i);
        const uint32_t nibble = word >> (4 * i) & 15;
        defined &= shape.bits == 32 ? place_single(rows, group + at.row, at.nibble, nibble)
                                    : place_pair(rows, group + at.row, at.nibble, nibble);
      }
    }
  }
  return defined;
}

void expand_sparse_rows(const uint8_t* from, size_t from_stride, const SparseShape& shape,
                        const SparseRows& places, uint8_t* to, size_t to_stride) {
  const int stored = shape.k / 2;
  for (int r = 0; r < SparseRows::count; ++r, from += from_stride, to += to_stride) {
    std::memset(to, 0, static_cast<size_t>(shape.k * shape.bits / 8));
    if (shape.bits == 8)
      expand<1>(from, places.place[r], stored, to);
    else if (shape.bits == 16)
      expand<2>(from, places.place[r], stored, to);
    else
      expand<4>(from, places.place[r], stored, to);
  }
}

}  // namespace palladion::sim
