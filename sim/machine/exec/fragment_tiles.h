#pragma once
// Fragments of mma.sync (isa/formats/fragments.h) between the registers of a warp and rows in memory, of B
// columns. Four lanes hold neighbours of one row, so that a register moves in eight pieces of four lanes.
// Accumulators of one element a register alternate between two registers.
#include <cstring>

#include "isa/formats/fragments.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim {

// Calls `one(register, row, byte)` for a register whose lanes 4g to 4g + 3 lie at that byte of row + g, or
// `two(register, row, byte)` for two registers that alternate there. `width`: bytes of a register of a lane.
void for_each_register(const isa::FragmentLayout& f, size_t width, auto one, auto two) {
  const int halves = f.row_halves(), together = f.pairs_of_registers ? 2 : 1;
  for (int step = 0; step < f.registers / together; ++step) {
    const size_t byte = static_cast<size_t>(step / halves * 4 * together) * width;
    f.pairs_of_registers ? two(2 * step, step % halves * 8, byte) : one(step, step % halves * 8, byte);
  }
}

// `row(r)`: the bytes of row r. Register: uint32_t, of elements of 64 bits uint64_t.
template <class Register>
void collect_registers(const Exec& x, const DecodedOperand& o, int first, const isa::FragmentLayout& f,
                       auto row) {
  constexpr size_t width = sizeof(Register);
  for_each_register(
      f, width,
      [&](int r, int to, size_t byte) {
        const auto* lanes = x.lanes<Register>(o.element(first + r));
        for (int g = 0; g < 8; ++g) std::memcpy(row(to + g) + byte, lanes + 4 * g, 4 * width);
      },
      [&](int r, int to, size_t byte) {
        const auto* even = x.lanes<Register>(o.element(first + r));
        const auto* odd = x.lanes<Register>(o.element(first + r + 1));
        for (int g = 0; g < 8; ++g) {
          Register piece[8];
          for (int i = 0; i < 4; ++i) {
            piece[2 * i] = even[4 * g + i];
            piece[2 * i + 1] = odd[4 * g + i];
          }
          std::memcpy(row(to + g) + byte, piece, sizeof piece);
        }
      });
}

template <class Register>
void spread_registers(const Exec& x, const DecodedOperand& o, int first, const isa::FragmentLayout& f,
                      auto row) {
  constexpr size_t width = sizeof(Register);
  for_each_register(
      f, width,
      [&](int r, int from, size_t byte) {
        auto* lanes = x.lanes<Register>(o.element(first + r));
        for (int g = 0; g < 8; ++g) std::memcpy(lanes + 4 * g, row(from + g) + byte, 4 * width);
      },
      [&](int r, int from, size_t byte) {
        auto* even = x.lanes<Register>(o.element(first + r));
        auto* odd = x.lanes<Register>(o.element(first + r + 1));
        for (int g = 0; g < 8; ++g) {
          Register piece[8];
          std::memcpy(piece, row(from + g) + byte, sizeof piece);
          for (int i = 0; i < 4; ++i) {
            even[4 * g + i] = piece[2 * i];
            odd[4 * g + i] = piece[2 * i + 1];
          }
        }
      });
}

// Registers `first` and following of an operand; `bits` of an element.
void collect_tile(const Exec& x, const DecodedOperand& o, int first, const isa::FragmentLayout& f, int bits,
                  auto row) {
  bits == 64 ? collect_registers<uint64_t>(x, o, first, f, row)
             : collect_registers<uint32_t>(x, o, first, f, row);
}
void spread_tile(const Exec& x, const DecodedOperand& o, int first, const isa::FragmentLayout& f, int bits,
                 auto row) {
  bits == 64 ? spread_registers<uint64_t>(x, o, first, f, row)
             : spread_registers<uint32_t>(x, o, first, f, row);
}

}  // namespace palladion::sim
