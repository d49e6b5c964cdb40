// Linear bulk copies and reductions: cp.async.bulk, cp.reduce.async.bulk (PTX, "Bulk copy").
#include <algorithm>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/async_copies.h"
#include "sim/machine/exec/atomics.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/values_checked.h"

namespace palladion::sim {

void LinearCopy::read(const ClusterRun& run, const AsyncOp&) {
  if (!moves) return;
  staging.resize(bytes);
  const uint8_t* from = source.space == isa::Space::global
                            ? run.seen(Address(source.address), bytes, staging.data())
                            : shared_bytes(run.cluster, SharedAddress(source.address));
  if (from != staging.data() && bytes != 0) std::memcpy(staging.data(), from, bytes);
}

void LinearCopy::land_in_global(const ClusterRun& run) const {
  run.count_stores(bytes);
  if (!moves) return run.memory.note(Address(target.address), bytes, false);
  uint8_t* const to = run.memory.find(Address(target.address), bytes);
  if (reduce != nullptr) return reduce(to, staging.data(), bytes / element_bytes);
  if (byte_mask == 0xFFFF) return run.store(Address(target.address), to, staging.data(), bytes);
  for (uint32_t i = 0; i < bytes; ++i)
    if ((byte_mask >> i % 16 & 1) != 0) run.store(Address(target.address + i), to + i, &staging[i], 1);
}

// The byte mask is for targets in GMEM alone.
void LinearCopy::land(const ClusterRun& run, const AsyncOp& op) {
  if (target.space == isa::Space::global) return land_in_global(run);
  const auto put = [&](uint8_t* to) {
    if (reduce != nullptr)
      reduce(to, staging.data(), bytes / element_bytes);
    else
      std::copy_n(staging.data(), bytes, to);
  };
  for_each_rank(ctas, [&](CtaRank rank) {
    const uint32_t address = at_rank(SharedAddress(target.address), rank);
    if (moves)
      put(shared_bytes(run.cluster, SharedAddress(address)));
    else
      note_shared(run.cluster, address, bytes, false);
    complete_tx(run, op, at_rank(mbarrier, rank), bytes);
  });
}

void LinearCopy::describe(const AsyncOp&, Traffic& t) const {
  t.source = source.space;
  t.destination = target.space;
  t.reduces = reduce != nullptr;
  t.bytes = bytes;
  t.rows = 1;
  t.ctas = ctas;
  if (t.from_global() || t.to_global())
    t.global.push_back(global_piece(Address(t.from_global() ? source.address : target.address), bytes));
}

namespace {

constexpr uint64_t bulk_alignment = 16;

// What a copy with a byte mask writes.
std::vector<Piece> masked_pieces(const LinearCopy& copy) {
  std::vector<Piece> pieces;
  for (uint32_t i = 0; copy.byte_mask != 0xFFFF && i < copy.bytes; ++i)
    if ((copy.byte_mask >> i % 16 & 1) != 0)
      append(pieces, global_piece(Address(copy.target.address + i), 1));
  return pieces;
}

void announce(const Exec& x, const AsyncOp& op, const LinearCopy& copy) {
  const Piece read{copy.source.space, copy.source.address, copy.bytes};
  Piece writes[max_cluster_ctas];
  SharedAddress mbarriers[max_cluster_ctas];
  uint32_t bytes[max_cluster_ctas];
  size_t n = 0;
  if (copy.target.space == isa::Space::global)
    writes[n++] = global_piece(Address(copy.target.address), copy.bytes);
  for_each_rank(copy.ctas, [&](CtaRank rank) {
    bytes[n] = copy.bytes;
    mbarriers[n] = at_rank(copy.mbarrier, rank);
    writes[n++] = shared_piece(at_rank(SharedAddress(copy.target.address), rank), copy.bytes);
  });
  const size_t signals = copy.ctas != 0 ? n : 0;
  const std::vector<Piece> masked = masked_pieces(copy);
  AsyncIssue issue = issue_of(x, op);
  issue.reduces = copy.reduce != nullptr;
  issue.reads = std::span(&read, 1);
  issue.writes = copy.byte_mask == 0xFFFF ? std::span<const Piece>(writes, n) : masked;
  issue.mbarriers = std::span(mbarriers, signals);
  issue.mbarrier_bytes = std::span(bytes, signals);
  x.emit(issue);
}

bool resolve(Exec& x, isa::Space space, uint64_t address, uint64_t bytes, const char* what,
             LinearCopy::Place& place) {
  if (space == isa::Space::global) {
    place = {space, address};
    return x.global(Address(address), bytes, what) != nullptr;
  }
  place = {space, Exec::shared_address(address)};
  return x.shared(address, bytes, what) != nullptr;
}

bool aligned(Exec& x, uint64_t source, uint64_t target, uint64_t bytes) {
  if ((source | target | bytes) % bulk_alignment == 0) return true;
  x.fault(Code::bulk_copy_size, say<Phrase::misaligned_bulk_copy>(bytes, source, target, bulk_alignment));
  return false;
}

// The copy of one lane: every thread that executes the instruction issues one of its own.
Step issue_lane(Exec& x, const MicroOp& op, const isa::BulkCopy& e, int lane) {
  const uint64_t source = x.address_of_lane(op.operands[e.src], lane),
                 target = x.address_of_lane(op.operands[e.dst], lane);
  const auto bytes = static_cast<uint32_t>(x.lane_value(op.operands[e.size], lane));
  LinearCopy copy;
  copy.bytes = bytes;
  copy.moves = op.moves;
  if (!aligned(x, source, target, bytes)) return Step::fault;
  if (!resolve(x, e.src_space, source, bytes, "bulk copy's read", copy.source)) return Step::fault;
  if (!resolve(x, e.dst_space, target, bytes, "bulk copy's write", copy.target)) return Step::fault;
  if (const auto operation = atomic_op(e.op)) {
    copy.reduce = reduction(*operation, e.type, false);
    if (copy.reduce == nullptr) return x.unsupported(say<Phrase::operation_of_no_type>("a bulk reduction"));
    copy.element_bytes = static_cast<uint32_t>(isa::bytes(e.type));
  }
  if (e.byte_mask >= 0) copy.byte_mask = static_cast<uint16_t>(x.lane_value(op.operands[e.byte_mask], lane));
  if (e.completion == isa::Completion::mbarrier) {
    const uint64_t mbarrier = x.address_of_lane(op.operands[e.mbar], lane);
    if (!check_mbarrier(x, mbarrier, target, "bulk copy")) return Step::fault;
    const uint64_t ctas = e.cta_mask >= 0 ? x.lane_value(op.operands[e.cta_mask], lane)
                                          : uint64_t{1} << rank_of(SharedAddress(copy.target.address));
    if (!check_multicast(x, ctas, "bulk copy")) return Step::fault;
    copy.ctas = static_cast<uint32_t>(ctas);
    copy.mbarrier = Exec::shared_address(mbarrier);
  }
  const bool grouped = e.completion == isa::Completion::bulk_group;
  const AsyncOp& issued =
      x.issue(std::move(copy), 1U << lane, grouped ? isa::AsyncGroup::bulk : isa::AsyncGroup::none);
  if (x.wants<AsyncIssue>()) announce(x, issued, std::get<LinearCopy>(issued.payload));
  return Step::next;
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::BulkCopy& e) {
  if (e.prefetch) return Step::next;  // a hint to L2, without an effect on values
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (const Step s = issue_lane(x, op, e, std::countr_zero(m)); s != Step::next) return s;
  return Step::next;
}

}  // namespace palladion::sim
