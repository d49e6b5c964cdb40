// cp.async, and what all asynchronous copies share (PTX, "Asynchronous copy").
#include "sim/machine/async/async_copies.h"

#include <algorithm>
#include <vector>

#include "sim/launch/fault.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/values_checked.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::sim {

void async_fault(const ClusterRun& run, const AsyncOp& op, Code code, Statement message, Statement help) {
  ClusterState& cluster = run.cluster;
  if (cluster.faulted) return;
  Finding f = fault(code, std::move(message), std::move(help));
  f.sites.push_back(site_at(run.program, op.pc, cluster.ctas[op.cta_rank].id, op.warp, op.lanes));
  cluster.findings.push_back(std::move(f));
  cluster.faulted = true;
}

void complete_tx(const ClusterRun& run, const AsyncOp& op, SharedAddress mbarrier, uint32_t bytes) {
  Statement why;
  if (mbarrier_complete_tx(run, origin_of(run, op), mbarrier, bytes, &why)) return;
  async_fault(run, op, Code::mbarrier_bytes, say<Phrase::copy_not_counted>(bytes, std::move(why)));
}

AsyncIssue issue_of(const ClusterRun& run, const AsyncOp& op) {
  const isa::AsyncFamily family = op.family();
  return {.origin = origin_of(run, op),
          .id = op.id,
          .family = family,
          .participants = traits(family).participants,
          .group = op.group,
          .reads = {},
          .writes = {},
          .fills = {},
          .mbarriers = {},
          .mbarrier_bytes = {},
          .name = std::visit([](const auto& payload) { return payload.name(); }, op.payload)};
}

bool check_mbarrier(Exec& x, uint64_t mbarrier, uint64_t target, const char* what, bool pairs) {
  if (mbarrier % 8 != 0) {
    x.fault(Code::copy_mbarrier, say<Phrase::copy_mbarrier_misaligned>(what, mbarrier_at(mbarrier)));
    return false;
  }
  const CtaRank barrier_rank = rank_of(SharedAddress(mbarrier)), target_rank = rank_of(SharedAddress(target));
  if (pairs ? barrier_rank >> 1 != target_rank >> 1 : barrier_rank != target_rank) {
    x.fault(Code::copy_mbarrier, say<Phrase::copy_mbarrier_elsewhere>(what, target_rank, barrier_rank),
            pairs ? say<Phrase::mbarrier_of_the_pair>() : say<Phrase::mbarrier_of_the_receiver>());
    return false;
  }
  return x.shared(mbarrier, 8, "mbarrier of an asynchronous copy") != nullptr;
}

bool check_multicast(Exec& x, uint64_t mask, const char* what) {
  const auto size = static_cast<uint32_t>(x.cluster.ctas.size());
  if (mask >> size == 0) return true;
  x.fault(Code::multicast_mask, say<Phrase::multicast_beyond_cluster>(what, mask, size));
  return false;
}

// --- cp.async -------------------------------------------------------------------------------------
void LaneCopies::read(const ClusterRun& run, const AsyncOp&) {
  if (!moves) return;
  for (Copy& c : copies) {
    if (c.source_bytes == 0) continue;
    uint8_t copy[sizeof c.staging];
    std::memcpy(c.staging.data(), run.seen(Address(c.source), c.source_bytes, copy), c.source_bytes);
  }
}

void LaneCopies::land(const ClusterRun& run, const AsyncOp&) {
  for (const Copy& c : copies) {
    if (moves)
      std::memcpy(shared_bytes(run.cluster, SharedAddress(c.target)), c.staging.data(), bytes);
    else
      note_shared(run.cluster, c.target, bytes, false);
  }
}

void LaneCopies::describe(const AsyncOp&, Traffic& t) const {
  t.source = isa::Space::global;
  t.destination = isa::Space::shared_cta;
  t.bytes = bytes * static_cast<uint32_t>(copies.size());
  for (const Copy& c : copies)
    if (c.source_bytes != 0) append(t.global, global_piece(Address(c.source), c.source_bytes));
}

namespace {

// The bytes that a lane copies before the zeros begin.
uint64_t source_bytes(const Exec& x, const MicroOp& op, const isa::CpAsync& e, int lane) {
  if (e.src_size >= 0) return x.lane_value(op.operands[e.src_size], lane);
  if (e.ignore_src >= 0 && x.lane_value(op.operands[e.ignore_src], lane) != 0) return 0;
  return static_cast<uint64_t>(e.bytes);
}

// Adds one lane's copy; false after a fault.
bool add_lane(Exec& x, const MicroOp& op, const isa::CpAsync& e, int lane, LaneCopies& copies) {
  const auto bytes = static_cast<uint64_t>(e.bytes);
  const uint64_t target = x.address_of_lane(op.operands[e.dst], lane),
                 source = x.address_of_lane(op.operands[e.src], lane);
  const uint64_t wanted = source_bytes(x, op, e, lane);
  if (wanted > bytes) {
    x.fault(Code::cp_async_size, say<Phrase::source_beyond_copy>(bytes, wanted));
    return false;
  }
  if (target % bytes != 0 || source % bytes != 0) {
    x.fault(Code::misaligned_copy,
            say<Phrase::misaligned_cp_async>(bytes, source, target & shared_offset_mask, bytes));
    return false;
  }
  if (x.shared(target, bytes, "cp.async write") == nullptr) return false;
  if (wanted != 0 && x.global(Address(source), wanted, "cp.async read") == nullptr) return false;
  copies.copies.push_back({.target = Exec::shared_address(target),
                           .source_bytes = static_cast<uint32_t>(wanted),
                           .source = source,
                           .staging = {}});
  return true;
}

void announce(const Exec& x, const AsyncOp& op, const LaneCopies& payload) {
  Piece reads[32], writes[32];
  size_t n = 0, n_reads = 0;
  uint32_t read_lanes = 0, left = op.lanes;
  for (const LaneCopies::Copy& c : payload.copies) {
    writes[n++] = shared_piece(SharedAddress(c.target), payload.bytes);
    if (c.source_bytes != 0) {
      reads[n_reads++] = global_piece(Address(c.source), c.source_bytes);
      read_lanes |= left & (0 - left);
    }
    left &= left - 1;
  }
  AsyncIssue issue = issue_of(x, op);
  issue.reads = std::span(reads, n_reads);
  issue.read_lanes = read_lanes;
  issue.writes = std::span(writes, n);
  x.emit(issue);
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::CpAsync& e) {
  LaneCopies copies;
  copies.bytes = static_cast<uint32_t>(e.bytes);
  copies.moves = op.moves;
  copies.copies.reserve(static_cast<size_t>(std::popcount(x.active)));
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (!add_lane(x, op, e, std::countr_zero(m), copies)) return Step::fault;
  const AsyncOp& issued = x.issue(std::move(copies), x.active, isa::AsyncGroup::cp_async);
  if (x.wants<AsyncIssue>()) announce(x, issued, std::get<LaneCopies>(issued.payload));
  return Step::next;
}

namespace {

// With an empty journal a commit makes an empty group, which is complete at once: no entry is needed.
void commit(Journal& journal, uint32_t lanes) {
  journal_prune(journal);
  if (!journal.empty()) journal_commit(journal, lanes);
}

}  // namespace

Step exec(Exec& x, const MicroOp&, const isa::CpAsyncCommit&) {
  commit(x.warp->cp_async, x.active);
  if (x.wants<GroupCommitted>()) x.emit(GroupCommitted{x.origin(), isa::AsyncGroup::cp_async});
  return Step::next;
}

// wait_all is a commit and a wait for every group.
Step exec(Exec& x, const MicroOp& op, const isa::CpAsyncWait& e) {
  const uint64_t allowed = e.all ? 0 : static_cast<uint64_t>(e.n);
  const bool resumed = x.take_resumed();
  if (e.all && !resumed) exec(x, op, isa::CpAsyncCommit{});
  if (!resumed && !journal_satisfied(x.warp->cp_async, x.active, allowed, false))
    return x.wait(Wait::Kind::cp_async_group, 0, allowed);
  if (x.wants<GroupWaited>()) x.emit(GroupWaited{x.origin(), isa::AsyncGroup::cp_async, allowed, false});
  return Step::next;
}

// --- cp.async.mbarrier.arrive ---------------------------------------------------------------------
bool DeferredArrival::ready(const ClusterRun& run, const AsyncOp&) const {
  return std::ranges::none_of(awaited, [&](uint64_t id) { return is_pending(run.cluster, id); });
}

void DeferredArrival::land(const ClusterRun& run, const AsyncOp& op) {
  Statement why;
  const auto count = static_cast<uint32_t>(std::popcount(op.lanes));
  if (!mbarrier_arrive(run, origin_of(run, op), mbarrier, count, 0, &why))
    async_fault(run, op, Code::mbarrier_range, std::move(why), say<Phrase::count_deferred_arrivals>());
}

namespace {

// The cp.async operations of these lanes that have not landed.
std::vector<uint64_t> copies_under_way(const Exec& x, uint32_t lanes) {
  std::vector<uint64_t> ids;
  for (const AsyncOp& o : x.cluster.pending) {
    const bool ours = o.cta_rank == x.cta->rank && o.warp == x.warp->id && (o.lanes & lanes) != 0;
    if (ours && o.family() == isa::AsyncFamily::cp_async) ids.push_back(o.id);
  }
  return ids;
}

// The phase expects one more arrival for each of `count` threads.
bool raise_pending(Exec& x, uint8_t* bytes, uint32_t count) {
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  MbarrierState s = MbarrierState::decode(word);
  if (!s.valid || s.pending + count > MbarrierState::max_count) {
    const char* const what = "cp.async.mbarrier.arrive";
    x.fault(Code::mbarrier_range,
            s.valid ? say<Phrase::pending_beyond_range>(what) : say<Phrase::arrive_not_initialised>(what));
    return false;
  }
  s.pending += count;
  word = s.encode();
  std::memcpy(bytes, &word, 8);
  return true;
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::CpAsyncMbarrierArrive& e) {
  const DecodedOperand& address = op.operands[e.address];
  for (uint32_t left = x.active; left != 0;) {  // lanes that name the same mbarrier together
    const uint64_t at = x.address_of_lane(address, std::countr_zero(left));
    uint32_t same = 0;
    for (uint32_t m = left; m != 0; m &= m - 1)
      same |= static_cast<uint32_t>(x.address_of_lane(address, std::countr_zero(m)) == at)
              << std::countr_zero(m);
    left &= ~same;
    if (!check_mbarrier(x, at, at, "cp.async.mbarrier.arrive")) return Step::fault;
    if (!e.noinc &&
        !raise_pending(x, x.shared(at, 8, "mbarrier access"), static_cast<uint32_t>(std::popcount(same))))
      return Step::fault;
    DeferredArrival arrival;
    arrival.mbarrier = Exec::shared_address(at);
    arrival.awaited = copies_under_way(x, same);
    const AsyncOp& issued = x.issue(std::move(arrival), same);
    if (x.wants<ArrivalDeferred>())
      x.emit(ArrivalDeferred{x.origin(same), issued.id, std::get<DeferredArrival>(issued.payload).awaited});
  }
  return Step::next;
}

// --- bulk groups ----------------------------------------------------------------------------------
Step exec(Exec& x, const MicroOp&, const isa::BulkCommit&) {
  commit(x.warp->bulk, x.active);
  if (x.wants<GroupCommitted>()) x.emit(GroupCommitted{x.origin(), isa::AsyncGroup::bulk});
  return Step::next;
}

Step exec(Exec& x, const MicroOp&, const isa::BulkWait& e) {
  const auto allowed = static_cast<uint64_t>(e.n);
  if (!x.take_resumed() && !journal_satisfied(x.warp->bulk, x.active, allowed, e.read))
    return x.wait(Wait::Kind::bulk_group, 0, allowed, e.read);
  if (x.wants<GroupWaited>()) x.emit(GroupWaited{x.origin(), isa::AsyncGroup::bulk, allowed, e.read});
  return Step::next;
}

}  // namespace palladion::sim
