#pragma once
// The place of an execution: CTA, warp, lanes and instruction, for observers and findings.
#include "sim/program/program.h"

namespace palladion::sim {

Origin origin_at(const Program& program, CtaRank cta_rank, WarpOfCta warp, uint32_t lanes, Pc pc);
// With the instruction's text and lines.
Site site_at(const Program& program, Pc pc, const isa::Dim3& cta, WarpOfCta warp, uint32_t lanes);

}  // namespace palladion::sim
