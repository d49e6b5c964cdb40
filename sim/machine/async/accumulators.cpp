// The accumulators of wgmma, eight columns of a row at a time: four lanes of two registers of 32 bits, or of
// one register of two halves (isa/formats/fragments.h).
#include "sim/machine/async/accumulators.h"

#include <immintrin.h>

#include <cstring>

#include "isa/formats/fragments.h"

namespace palladion::sim {
namespace {

constexpr isa::FragmentLayout words = isa::wgmma_d(8, 32), halves_of_8 = isa::wgmma_d(8, 16);

// The row that lanes 4 g to 4 g + 3 of warp w hold in the registers of row half `half`: rows[w][half][g].
constexpr auto rows = [] {
  std::array<std::array<std::array<int, 8>, 2>, 4> all{};
  for (int w = 0; w < 4; ++w)
    for (int half = 0; half < 2; ++half)
      for (int g = 0; g < 8; ++g) all[w][half][g] = words.element(32 * w + 4 * g, 2 * half, 0).row;
  return all;
}();

// What the loops below rely on.
constexpr bool eight_columns_are_four_lanes() {
  for (int lane = 0; lane < 128; ++lane) {
    for (int half = 0; half < 2; ++half) {
      const int row = rows[lane / 32][half][lane % 32 / 4], column = 2 * (lane % 4);
      for (int odd = 0; odd < 2; ++odd) {
        const isa::MatrixIndex at{row, column + odd};
        if (words.element(lane, 2 * half + odd, 0) != at || halves_of_8.element(lane, half, odd) != at)
          return false;
      }
      const isa::MatrixIndex next{row, column + 8};
      if (words.element(lane, 4 + 2 * half, 0) != next || halves_of_8.element(lane, 2 + half, 0) != next)
        return false;
    }
  }
  return true;
}
static_assert(eight_columns_are_four_lanes());

float* lanes(uint8_t* registers, const DecodedOperand& o) {
  return reinterpret_cast<float*>(registers + o.slot.offset);
}

void gather_words(const std::vector<DecodedOperand>& regs, const WarpgroupRegisters& warps, int n,
                  float* tile) {
  for (size_t w = 0; w < warps.size(); ++w) {
    for (int j = 0; j < n / 8; ++j) {
      for (int half = 0; half < 2; ++half) {
        const size_t r = static_cast<size_t>(4 * j + 2 * half);
        const float *even = lanes(warps[w], regs[r]), *odd = lanes(warps[w], regs[r + 1]);
        for (int g = 0; g < 8; ++g) {
          const __m128 a = _mm_load_ps(even + 4 * g), b = _mm_load_ps(odd + 4 * g);
          float* row = tile + rows[w][half][g] * tile_stride + 8 * j;
          _mm_storeu_ps(row, _mm_unpacklo_ps(a, b));
          _mm_storeu_ps(row + 4, _mm_unpackhi_ps(a, b));
        }
      }
    }
  }
}

void scatter_words(const std::vector<DecodedOperand>& regs, const WarpgroupRegisters& warps, int n,
                   const float* tile) {
  for (size_t w = 0; w < warps.size(); ++w) {
    for (int j = 0; j < n / 8; ++j) {
      for (int half = 0; half < 2; ++half) {
        const size_t r = static_cast<size_t>(4 * j + 2 * half);
        float *even = lanes(warps[w], regs[r]), *odd = lanes(warps[w], regs[r + 1]);
        for (int g = 0; g < 8; ++g) {
          const float* row = tile + rows[w][half][g] * tile_stride + 8 * j;
          const __m128 a = _mm_loadu_ps(row), b = _mm_loadu_ps(row + 4);
          _mm_store_ps(even + 4 * g, _mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
          _mm_store_ps(odd + 4 * g, _mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
        }
      }
    }
  }
}

// Halves: four lanes of one register are eight neighbouring columns.
template <bool to_tile, class Tile>
void move_halves(const std::vector<DecodedOperand>& regs, const WarpgroupRegisters& warps, int n,
                 Tile* tile) {
  for (size_t w = 0; w < warps.size(); ++w) {
    for (int j = 0; j < n / 8; ++j) {
      for (int half = 0; half < 2; ++half) {
        float* reg = lanes(warps[w], regs[static_cast<size_t>(2 * j + half)]);
        for (int g = 0; g < 8; ++g) {
          auto* row = tile + rows[w][half][g] * tile_stride + 8 * j;
          if constexpr (to_tile)
            std::memcpy(row, reg + 4 * g, 16);
          else
            std::memcpy(reg + 4 * g, row, 16);
        }
      }
    }
  }
}

}  // namespace

void gather_accumulators(const std::vector<DecodedOperand>& regs, const WarpgroupRegisters& warps, int n,
                         bool halves, void* tile) {
  if (halves)
    move_halves<true>(regs, warps, n, static_cast<uint16_t*>(tile));
  else
    gather_words(regs, warps, n, static_cast<float*>(tile));
}

void scatter_accumulators(const std::vector<DecodedOperand>& regs, const WarpgroupRegisters& warps, int n,
                          bool halves, const void* tile) {
  if (halves)
    move_halves<false>(regs, warps, n, static_cast<const uint16_t*>(tile));
  else
    scatter_words(regs, warps, n, static_cast<const float*>(tile));
}

}  // namespace palladion::sim
