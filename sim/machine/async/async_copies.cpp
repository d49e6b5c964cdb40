// cp.async, and what all asynchronous copies share (PTX, "Asynchronous copy").
#include "sim/machine/async/async_copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/values.h"
#include "sim/machine/state/mbarrier.h"

namespace palladion::sim {

Site AsyncOrigin::site(const ClusterState& cluster) const {
  return site_at(*program, pc, cluster.ctas[cta_rank].id, warp, lanes);
}

void async_fault(ClusterState& cluster, const AsyncOrigin& origin, std::string code, std::string message,
                 std::string help) {
  if (cluster.faulted) return;
  Finding f;
  f.code = std::move(code);
  f.fatal = true;
  f.message = std::move(message);
  f.help = std::move(help);
  f.sites.push_back(origin.site(cluster));
  cluster.findings.push_back(std::move(f));
  cluster.faulted = true;
}

void complete_tx(ClusterState& cluster, const AsyncOrigin& origin, uint32_t mbarrier, uint32_t bytes) {
  std::string why;
  if (mbarrier_complete_tx(cluster, origin.origin(), mbarrier, bytes, &why)) return;
  async_fault(cluster, origin, "PLD3076",
              fmt::format("the copy's {} bytes cannot be counted at its mbarrier: {}", bytes, why),
              "the mbarrier must stay initialised until every copy that completes on it has landed");
}

bool check_mbarrier(Exec& x, uint64_t mbarrier, uint64_t target, const char* what) {
  if (mbarrier % 8 != 0) {
    x.fault("PLD3074", fmt::format("{} with an mbarrier at shared address 0x{:x}: must be aligned to 8 bytes",
                                   what, mbarrier & shared_offset_mask));
    return false;
  }
  const uint32_t barrier_rank = rank_of(static_cast<uint32_t>(mbarrier)),
                 target_rank = rank_of(static_cast<uint32_t>(target));
  if (barrier_rank != target_rank) {
    x.fault("PLD3074",
            fmt::format("{} to CTA rank {} with an mbarrier in CTA rank {}", what, target_rank, barrier_rank),
            "the mbarrier must be in the shared memory of the CTA that receives the data (mapa)");
    return false;
  }
  return x.shared(mbarrier, 8, "mbarrier of an asynchronous copy") != nullptr;
}

bool check_multicast(Exec& x, uint64_t mask, const char* what) {
  const auto size = static_cast<uint32_t>(x.cluster.ctas.size());
  if (mask >> size == 0) return true;
  x.fault("PLD3073", fmt::format("{} multicast to CTA mask 0x{:x} in a cluster of {}", what, mask, size));
  return false;
}

// --- cp.async -------------------------------------------------------------------------------------
namespace {

// One instruction's copies: 4, 8 or 16 bytes a lane, what the source lacks is zero.
class LaneCopies final : public AsyncOp::Body {
 public:
  LaneCopies(uint32_t lanes, uint32_t bytes, bool moves) : lanes_(lanes), bytes_(bytes), moves_(moves) {}

  void add(int lane, uint32_t target, uint64_t address, const uint8_t* source, uint32_t source_bytes) {
    targets_[lane] = target;
    addresses_[lane] = address;
    sources_[lane] = source;
    source_bytes_[lane] = static_cast<uint8_t>(source_bytes);
  }
  void read(ClusterState&) override {
    for (uint32_t m = moves_ ? lanes_ : 0; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      std::memset(staging_[i], 0, 16);
      if (source_bytes_[i] != 0) std::memcpy(staging_[i], sources_[i], source_bytes_[i]);
    }
  }
  void land(ClusterState& cluster) override {
    for (uint32_t m = lanes_; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      if (moves_)
        std::memcpy(shared_bytes(cluster, targets_[i]), staging_[i], bytes_);
      else
        note_shared(cluster, targets_[i], bytes_, false);
    }
  }
  const char* name() const override { return "cp.async"; }
  void describe(Traffic& t) const override {
    t.kind = Traffic::Kind::lane_copies;
    for (uint32_t m = lanes_; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      t.bytes += bytes_;
      if (source_bytes_[i] != 0) append(t.global, {false, addresses_[i], source_bytes_[i]});
    }
  }
  // The bytes of a lane, for observers.
  Piece target(int lane) const { return {true, targets_[lane], bytes_}; }
  uint32_t source_bytes(int lane) const { return source_bytes_[lane]; }

 private:
  uint32_t lanes_, bytes_;
  bool moves_;
  uint32_t targets_[32];
  uint64_t addresses_[32];  // in GMEM
  const uint8_t* sources_[32];
  uint8_t source_bytes_[32];
  uint8_t staging_[32][16];
};

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
    x.fault("PLD3072", fmt::format("cp.async of {} bytes with a source size of {}", bytes, wanted));
    return false;
  }
  if (target % bytes != 0 || source % bytes != 0) {
    x.fault(
        "PLD3070",
        fmt::format("cp.async of {} bytes from global address 0x{:x} to shared address 0x{:x}: both must be "
                    "multiples of {}",
                    bytes, source, target & shared_offset_mask, bytes));
    return false;
  }
  if (x.shared(target, bytes, "cp.async write") == nullptr) return false;
  const uint8_t* from = nullptr;
  if (wanted != 0 && (from = x.global(source, wanted, "cp.async read")) == nullptr) return false;
  copies.add(lane, Exec::shared_address(target), source, from, static_cast<uint32_t>(wanted));
  return true;
}

void announce(const Exec& x, const LaneCopies& copies, uint64_t id) {
  const MicroOp& op = x.op_at(x.pc);
  const DecodedOperand& source = op.operands[effect<isa::CpAsync>(op).src];
  Piece reads[32], writes[32];
  size_t n = 0, n_reads = 0;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    writes[n++] = copies.target(i);
    if (copies.source_bytes(i) != 0)
      reads[n_reads++] = {false, x.address_of_lane(source, i), copies.source_bytes(i)};
  }
  x.emit(AsyncIssue{.origin = x.origin(),
                    .id = id,
                    .group = GroupKind::cp_async,
                    .reads = std::span(reads, n_reads),
                    .writes = std::span(writes, n),
                    .mbarriers = {},
                    .mbarrier_bytes = {},
                    .name = copies.name()});
}

}  // namespace

Step exec_cp_async(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::CpAsync>(op);
  auto copies = std::make_unique<LaneCopies>(x.active, static_cast<uint32_t>(e.bytes), op.moves);
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (!add_lane(x, op, e, std::countr_zero(m), *copies)) return Step::fault;
  const LaneCopies& issued = *copies;
  const uint64_t id = x.issue(std::move(copies), x.active);
  journal_issue(x.warp->cp_async, id, x.active);
  if (x.wants<AsyncIssue>()) announce(x, issued, id);
  return Step::next;
}

namespace {

// Behind an empty journal a commit would make an empty group that is complete from the start.
void commit(Journal& journal, uint32_t lanes) {
  journal_prune(journal);
  if (!journal.empty()) journal_commit(journal, lanes);
}

}  // namespace

Step exec_cp_async_commit(Exec& x, const MicroOp&) {
  commit(x.warp->cp_async, x.active);
  if (x.wants<GroupCommitted>()) x.emit(GroupCommitted{x.origin(), GroupKind::cp_async});
  return Step::next;
}

// wait_all is a commit and a wait for every group.
Step exec_cp_async_wait(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::CpAsyncWait>(op);
  const uint64_t allowed = e.all ? 0 : static_cast<uint64_t>(e.n);
  const bool resumed = x.take_resumed();
  if (e.all && !resumed) exec_cp_async_commit(x, op);
  if (!resumed && !journal_satisfied(x.warp->cp_async, x.active, allowed, false))
    return x.wait(Wait::Kind::cp_async_group, 0, allowed);
  if (x.wants<GroupWaited>()) x.emit(GroupWaited{x.origin(), GroupKind::cp_async, allowed, false});
  return Step::next;
}

// --- cp.async.mbarrier.arrive ---------------------------------------------------------------------
namespace {

// Arrives at an mbarrier, once a lane, when the operations it awaits have landed.
class DeferredArrival final : public AsyncOp::Body {
 public:
  DeferredArrival(const Exec& x, uint32_t mbarrier, uint32_t lanes) : origin_(x, lanes), mbarrier_(mbarrier) {
    for (const AsyncOp& o : x.cluster.pending) {
      const bool ours = o.cta_rank == origin_.cta_rank && o.warp == origin_.warp && (o.lanes & lanes) != 0;
      if (ours && dynamic_cast<const LaneCopies*>(o.body.get()) != nullptr) awaited_.push_back(o.id);
    }
  }
  bool ready(ClusterState& cluster) const override {
    return std::ranges::none_of(awaited_, [&](uint64_t id) {
      return std::ranges::binary_search(cluster.pending, id, {},
                                        &AsyncOp::id);  // pending is in order of issue
    });
  }
  void land(ClusterState& cluster) override {
    std::string why;
    const auto count = static_cast<uint32_t>(std::popcount(origin_.lanes));
    if (!mbarrier_arrive(cluster, origin_.origin(), mbarrier_, count, 0, &why))
      async_fault(
          cluster, origin_, "PLD3044", why,
          "without .noinc the phase must not count these arrivals in its expected ones; with .noinc it must");
  }
  const char* name() const override { return "cp.async.mbarrier.arrive"; }
  void describe(Traffic& t) const override { t.kind = Traffic::Kind::arrival; }
  const std::vector<uint64_t>& awaited() const { return awaited_; }

 private:
  AsyncOrigin origin_;
  uint32_t mbarrier_;
  std::vector<uint64_t> awaited_;
};

// One arrival more is awaited in this phase for each of `count` threads.
bool raise_pending(Exec& x, uint8_t* bytes, uint32_t count) {
  uint64_t word;
  std::memcpy(&word, bytes, 8);
  MbarrierState s = MbarrierState::decode(word);
  if (!s.valid || s.pending + count > MbarrierState::max_count) {
    x.fault("PLD3044", s.valid ? "cp.async.mbarrier.arrive: the pending count leaves its range"
                               : "cp.async.mbarrier.arrive on an mbarrier that is not initialised");
    return false;
  }
  s.pending += count;
  word = s.encode();
  std::memcpy(bytes, &word, 8);
  return true;
}

}  // namespace

Step exec_cp_async_mbarrier_arrive(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::CpAsyncMbarrierArrive>(op);
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
    auto arrival = std::make_unique<DeferredArrival>(x, Exec::shared_address(at), same);
    const DeferredArrival& issued = *arrival;
    const uint64_t id = x.issue(std::move(arrival), same);
    if (x.wants<ArrivalDeferred>()) x.emit(ArrivalDeferred{x.origin(same), id, issued.awaited()});
  }
  return Step::next;
}

// --- bulk groups ----------------------------------------------------------------------------------
Step exec_bulk_commit(Exec& x, const MicroOp&) {
  commit(x.warp->bulk, x.active);
  if (x.wants<GroupCommitted>()) x.emit(GroupCommitted{x.origin(), GroupKind::bulk});
  return Step::next;
}

Step exec_bulk_wait(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::BulkWait>(op);
  const auto allowed = static_cast<uint64_t>(e.n);
  if (!x.take_resumed() && !journal_satisfied(x.warp->bulk, x.active, allowed, e.read))
    return x.wait(Wait::Kind::bulk_group, 0, allowed, e.read);
  if (x.wants<GroupWaited>()) x.emit(GroupWaited{x.origin(), GroupKind::bulk, allowed, e.read});
  return Step::next;
}

}  // namespace palladion::sim
