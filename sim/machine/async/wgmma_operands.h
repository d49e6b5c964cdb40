#pragma once
// The operands of a wgmma in flight: A and B in shared memory, A and its metadata in registers.
#include "sim/machine/async/accumulators.h"
#include "sim/machine/async/async_copies.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/sparse.h"

namespace palladion::sim {

// The parameters that an operation's instruction states.
struct StatedWgmma {
  StatedWgmma(const ClusterRun& run, const AsyncOp& op)
      : micro(run.program.code[op.pc]), wgmma(effect<isa::Wgmma>(micro)) {}
  const std::vector<DecodedOperand>& accumulators() const { return micro.operands[wgmma.acc].elements; }

  const MicroOp& micro;
  const isa::Wgmma& wgmma;
};

inline uint32_t warpgroup_of(const ClusterRun& run, const AsyncOp& op) {
  return op.warp / run.program.mma_warps();
}
// The register blocks of its warps.
WarpgroupRegisters registers_of(const ClusterRun& run, const AsyncOp& op);

SparseShape sparse_shape(const DecodedOperand* operands, const isa::Wgmma& e);

// The A fragment of one warp into the tile of the warpgroup.
void read_fragment(const std::vector<DecodedOperand>& regs, const uint8_t* registers, size_t warp,
                   RawTile& tile);
// A and B as they are now into the product's tiles.
void read_operands(WarpgroupProduct& p, const ClusterRun& run, const AsyncOp& op);

// Records that this warp has issued it; when all four have, announces what it reads.
void announce(const Exec& x, const AsyncOp& op, const WarpgroupProduct& p);

}  // namespace palladion::sim
