#include "sim/machine/exec/place.h"

#include "isa/text/print.h"

namespace palladion::sim {

Origin origin_at(const Program& program, CtaRank cta_rank, WarpOfCta warp, uint32_t lanes, Pc pc) {
  const MicroOp& op = program.code[pc];
  return {.cta_rank = cta_rank,
          .warp = warp,
          .lanes = lanes,
          .pc = pc,
          .instruction = op.instruction,
          .effect = op.effect};
}

Site site_at(const Program& program, Pc pc, const isa::Dim3& cta, WarpOfCta warp, uint32_t lanes) {
  Site s;
  s.cta = cta;
  s.warp = warp;
  s.lanes = lanes;
  const MicroOp& op = program.code[pc];
  if (op.instruction == nullptr) return s;
  s.ptx_line = op.instruction->origin.ptx_line;
  if (const isa::SourceLoc* loc = program.module->source(*op.instruction)) s.source = *loc;
  s.frames = program.module->frames_of(*op.instruction);
  s.instruction = isa::print(*program.module, program.module->functions[op.function], *op.instruction);
  return s;
}

}  // namespace palladion::sim
