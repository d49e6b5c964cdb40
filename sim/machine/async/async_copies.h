#pragma once
// What all asynchronous copies need: their issuers, checked operands, completion at mbarriers.
#include <cstdint>
#include <string>

#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim {

// The most CTAs that a cluster can have, non-portable sizes included.
inline constexpr size_t max_cluster_ctas = 16;

// The issuer of an operation, for observers.
inline Origin origin_of(const ClusterRun& run, const AsyncOp& op) {
  return origin_at(run.program, op.cta_rank, op.warp, op.lanes, op.pc);
}

// Stops the grid because of an operation in flight.
void async_fault(const ClusterRun& run, const AsyncOp& op, Code code, Statement message, Statement help = {});

// Bytes at a shared address that was checked when the operation was issued.
inline uint8_t* shared_bytes(ClusterState& cluster, SharedAddress address) {
  return cluster.ctas[address >> cta_rank_shift].shared.data() + (address & shared_offset_mask);
}
constexpr CtaRank rank_of(SharedAddress address) { return CtaRank(address >> cta_rank_shift); }
constexpr SharedAddress at_rank(SharedAddress address, CtaRank rank) {
  return SharedAddress((address & shared_offset_mask) | uint32_t{rank} << cta_rank_shift);
}

// A piece of shared memory; the address carries its CTA's rank.
constexpr Piece shared_piece(SharedAddress address, uint32_t bytes) {
  return {isa::Space::shared_cluster, address, bytes};
}
constexpr Piece global_piece(Address address, uint32_t bytes) { return {isa::Space::global, address, bytes}; }

// Completes `bytes` at the mbarrier; a fault when the address holds no mbarrier, or its count leaves the
// range.
void complete_tx(const ClusterRun& run, const AsyncOp& op, SharedAddress mbarrier, uint32_t bytes);

// What an operation reads and writes, for AsyncIssue.
AsyncIssue issue_of(const ClusterRun& run, const AsyncOp& op);

// The mbarrier operand of a copy to shared address `target`: aligned, in shared memory, in the CTA
// that receives. False after a fault.
bool check_mbarrier(Exec& x, uint64_t mbarrier, uint64_t target, const char* what, bool pairs = false);

// The CTAs of a multicast's mask; each must exist. False after a fault.
bool check_multicast(Exec& x, uint64_t mask, const char* what);

// Calls visit(rank) for every CTA of a mask.
template <class Visit>
void for_each_rank(uint32_t mask, Visit&& visit) {
  for (; mask != 0; mask &= mask - 1) visit(CtaRank(std::countr_zero(mask)));
}

// Element k of a vector operand, or the operand itself.
inline const DecodedOperand& vector_element(const DecodedOperand& o, int k) {
  return o.kind == DecodedOperand::Kind::vector ? o.elements[static_cast<size_t>(k)] : o;
}

}  // namespace palladion::sim
