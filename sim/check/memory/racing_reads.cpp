#include "sim/check/memory/racing_reads.h"

#include <bit>
#include <cstring>

#include "isa/formats/matrix_descriptor.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

constexpr uint32_t rows_of_a_warp = 16, k_chunks = 2;  // of a wgmma: 32 bytes of k

uint64_t descriptor_of(const ClusterContext& x, const Record& now, int operand) {
  const Program& p = *x.run.program;
  const size_t per_cta = x.cluster.ctas.front().warps.size();
  const CtaState& cta = x.cluster.ctas[now.warp / per_cta];
  const Slot& slot = p.code[now.pc].operands[operand].slot;
  const uint8_t* from = slot.constant ? p.constants.data() : cta.warps[now.warp % per_cta].registers.data();
  uint64_t bits;
  std::memcpy(&bits, from + slot.offset, sizeof bits);
  return bits;
}

bool touches(uint64_t chunk, const Conflict& c) {
  const uint64_t at = c.address & shared_offset_mask;
  return chunk < at + c.bytes && at < chunk + 16;
}

// The warps of a warpgroup whose part of D depends on the bytes: those of the rows of A; of B, all.
uint32_t dependent_warps(const ClusterContext& x, const Record& now, const isa::Wgmma& e, const Conflict& c) {
  constexpr uint32_t all = 0xF;
  const auto is_transposed = [&](int index) {
    return index >= 0 && x.run.program->code[now.pc].operands[index].offset != 0;
  };
  if (e.a_desc < 0 || is_transposed(e.trans_a) || is_transposed(e.trans_b)) return all;
  const isa::MatrixLayout b(isa::decode_matrix_descriptor(descriptor_of(x, now, e.b_desc)), isa::Major::k,
                            isa::bytes(e.b));
  for (uint32_t row = 0; row < static_cast<uint32_t>(e.n); ++row)
    for (uint32_t chunk = 0; chunk < k_chunks * (e.sparse ? 2 : 1); ++chunk)
      if (touches(b.k_chunk_address(row, chunk), c)) return all;
  const isa::MatrixLayout a(isa::decode_matrix_descriptor(descriptor_of(x, now, e.a_desc)), isa::Major::k,
                            isa::bytes(e.a));
  uint32_t warps = 0;
  for (uint32_t row = 0; row < static_cast<uint32_t>(e.m); ++row)
    for (uint32_t chunk = 0; chunk < k_chunks; ++chunk)
      if (touches(a.k_chunk_address(row, chunk), c)) warps |= 1U << row / rows_of_a_warp;
  return warps;
}

}  // namespace

std::optional<RacingRead> racing_read(const ClusterContext& context, const Actor& later,
                                      const Conflict& conflict, const Record& now, const Record& then) {
  // The later one reads alone, or it writes what the earlier one has read.
  if (later.writes == conflict.earlier_wrote) return std::nullopt;
  const Record& read = conflict.earlier_wrote ? now : then;
  if ((read.flags & (Record::summarised | Record::atomic)) != 0) return std::nullopt;
  const Program& program = *context.run.program;
  const isa::Effect* const effect = read.pc < program.code.size() ? program.code[read.pc].effect : nullptr;
  if (effect == nullptr) return std::nullopt;
  if (!read.async && std::holds_alternative<isa::Load>(*effect))
    return RacingRead{
        .pc = read.pc, .cluster = read.cluster, .warp = read.warp, .lanes = read.lanes & conflict.readers};
  const auto* product = std::get_if<isa::Wgmma>(effect);
  if (product == nullptr || !later.reads || !later.shared) return std::nullopt;
  const uint32_t group = program.mma_warps();
  return RacingRead{.pc = read.pc,
                    .cluster = read.cluster,
                    .warp = WarpOfCluster(read.warp / group * group),
                    .lanes = dependent_warps(context, read, *product, conflict)};
}

}  // namespace palladion::sim::check
