#pragma once
// Between the accumulator registers of a warpgroup and a dense tile of rows.
#include <array>
#include <cstdint>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim {

inline constexpr int tile_stride = 256;  // 32-bit words (or halves) between rows of a dense tile

// The register blocks of the warps, in warp order: each has fragments of 16 of D's 64 rows (PTX, "Register
// Fragments").
using WarpgroupRegisters = std::array<uint8_t*, 4>;

// 32-bit D (f32, s32): n/2 registers; 16-bit D (f16): n/4 registers of two halves.
void gather_accumulators(const std::vector<DecodedOperand>& regs, const WarpgroupRegisters& warps, int n,
                         bool halves, void* tile);
void scatter_accumulators(const std::vector<DecodedOperand>& regs, const WarpgroupRegisters& warps, int n,
                          bool halves, const void* tile);

}  // namespace palladion::sim
