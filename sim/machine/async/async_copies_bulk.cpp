// Linear bulk copies and reductions: cp.async.bulk, cp.reduce.async.bulk (PTX, "Bulk copy").
#include <fmt/format.h>

#include "sim/machine/async/async_copies.h"
#include "sim/machine/exec/atomics.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/values.h"

namespace palladion::sim {
namespace {

constexpr uint64_t bulk_alignment = 16;

// A range of global memory (host bytes) or of shared memory of one CTA or more.
struct Range {
  uint8_t* global = nullptr;
  uint64_t address = 0;  // of `global`
  uint32_t shared = 0;
};

class LinearCopy final : public AsyncOp::Body {
 public:
  LinearCopy(const AsyncOrigin& origin, Range source, Range target, uint32_t bytes)
      : origin_(origin), source_(source), target_(target), bytes_(bytes) {}

  void reduce_with(ReduceFn fn, size_t element_bytes) { reduce_ = fn, count_ = bytes_ / element_bytes; }
  // The CTAs that receive, and the mbarrier's address, the same offset in each.
  void signal(uint32_t ctas, uint32_t mbarrier) { ctas_ = ctas, mbarrier_ = mbarrier; }

  void leave_out() { moves_ = false; }

  void read(ClusterState& cluster) override {
    if (!moves_) return;
    staging_ = std::make_unique_for_overwrite<uint8_t[]>(bytes_);
    const uint8_t* from = source_.global != nullptr ? source_.global : shared_bytes(cluster, source_.shared);
    std::memcpy(staging_.get(), from, bytes_);
  }
  void land(ClusterState& cluster) override {
    if (!moves_ && target_.global != nullptr) return cluster.memory->note(target_.address, bytes_, false);
    if (target_.global != nullptr) return put(target_.global);
    for_each_rank(ctas_, [&](uint32_t rank) {
      if (moves_)
        put(shared_bytes(cluster, at_rank(target_.shared, rank)));
      else
        note_shared(cluster, at_rank(target_.shared, rank), bytes_, false);
      complete_tx(cluster, origin_, at_rank(mbarrier_, rank), bytes_);
    });
  }
  bool at_edge() const override { return reduce_ != nullptr && target_.global != nullptr; }
  const char* name() const override { return reduce_ != nullptr ? "cp.reduce.async.bulk" : "cp.async.bulk"; }
  void describe(Traffic& t) const override {
    using Kind = Traffic::Kind;
    const bool load = source_.global != nullptr, store = target_.global != nullptr;
    t.kind = load        ? Kind::tma_load
             : !store    ? Kind::cluster_copy
             : at_edge() ? Kind::tma_reduce
                         : Kind::tma_store;
    t.bytes = bytes_;
    t.rows = 1;
    t.ctas = ctas_;
    if (load || store) t.global.push_back({false, load ? source_.address : target_.address, bytes_});
  }
  void announce(const Exec& x, uint64_t id, uint64_t source, uint64_t target) const;

 private:
  void put(uint8_t* to) const {
    if (reduce_ != nullptr)
      reduce_(to, staging_.get(), count_);
    else
      std::memcpy(to, staging_.get(), bytes_);
  }

  AsyncOrigin origin_;
  Range source_, target_;
  uint32_t bytes_;
  uint32_t ctas_ = 0, mbarrier_ = 0;
  bool moves_ = true;
  ReduceFn reduce_ = nullptr;
  size_t count_ = 0;
  std::unique_ptr<uint8_t[]> staging_;
};

void LinearCopy::announce(const Exec& x, uint64_t id, uint64_t source, uint64_t target) const {
  const Piece read{source_.global == nullptr, source_.global == nullptr ? source_.shared : source, bytes_};
  Piece writes[max_cluster_ctas];
  uint32_t mbarriers[max_cluster_ctas], bytes[max_cluster_ctas];
  size_t n = 0;
  if (target_.global != nullptr) writes[n++] = {false, target, bytes_};
  for_each_rank(ctas_, [&](uint32_t rank) {
    bytes[n] = bytes_;
    mbarriers[n] = at_rank(mbarrier_, rank);
    writes[n++] = {true, at_rank(target_.shared, rank), bytes_};
  });
  const size_t signals = ctas_ != 0 ? n : 0;
  x.emit(AsyncIssue{.origin = origin_.origin(),
                    .id = id,
                    .group = signals == 0 ? GroupKind::bulk : GroupKind::none,
                    .reduces = reduce_ != nullptr,
                    .reads = std::span(&read, 1),
                    .writes = std::span(writes, n),
                    .mbarriers = std::span(mbarriers, signals),
                    .mbarrier_bytes = std::span(bytes, signals),
                    .name = name()});
}

bool resolve(Exec& x, isa::Space space, uint64_t address, uint64_t bytes, const char* what, Range& range) {
  range.address = address;
  if (space == isa::Space::global) return (range.global = x.global(address, bytes, what)) != nullptr;
  range.shared = Exec::shared_address(address);
  return x.shared(address, bytes, what) != nullptr;
}

bool aligned(Exec& x, uint64_t source, uint64_t target, uint64_t bytes) {
  if ((source | target | bytes) % bulk_alignment == 0) return true;
  x.fault(
      "PLD3071",
      fmt::format("bulk copy of {} bytes from address 0x{:x} to address 0x{:x}: the size and both addresses "
                  "must be multiples of {}",
                  bytes, source, target, bulk_alignment));
  return false;
}

// The copy of one lane: every thread that executes the instruction issues one of its own.
Step issue_lane(Exec& x, const MicroOp& op, const isa::BulkCopy& e, int lane) {
  const uint64_t source = x.address_of_lane(op.operands[e.src], lane),
                 target = x.address_of_lane(op.operands[e.dst], lane);
  const auto bytes = static_cast<uint32_t>(x.lane_value(op.operands[e.size], lane));
  Range from, to;
  if (!aligned(x, source, target, bytes)) return Step::fault;
  if (!resolve(x, e.src_space, source, bytes, "bulk copy's read", from)) return Step::fault;
  if (!resolve(x, e.dst_space, target, bytes, "bulk copy's write", to)) return Step::fault;
  const uint32_t self = 1U << lane;
  auto copy = std::make_unique<LinearCopy>(AsyncOrigin(x, self), from, to, bytes);
  if (!op.moves) copy->leave_out();
  if (const auto operation = atomic_op(e.op)) {
    const ReduceFn fn = reduction(*operation, e.type, false);
    if (fn == nullptr) return x.unsupported("a bulk reduction that this type does not have");
    copy->reduce_with(fn, static_cast<size_t>(isa::bytes(e.type)));
  }
  if (e.completion == isa::Completion::mbarrier) {
    const uint64_t mbarrier = x.address_of_lane(op.operands[e.mbar], lane);
    if (!check_mbarrier(x, mbarrier, target, "bulk copy")) return Step::fault;
    const uint64_t ctas =
        e.cta_mask >= 0 ? x.lane_value(op.operands[e.cta_mask], lane) : uint64_t{1} << rank_of(to.shared);
    if (!check_multicast(x, ctas, "bulk copy")) return Step::fault;
    copy->signal(static_cast<uint32_t>(ctas), Exec::shared_address(mbarrier));
  }
  const LinearCopy& issued = *copy;
  const uint64_t id = x.issue(std::move(copy), self);
  if (e.completion == isa::Completion::bulk_group) journal_issue(x.warp->bulk, id, self);
  if (x.wants<AsyncIssue>()) issued.announce(x, id, source, target);
  return Step::next;
}

}  // namespace

Step exec_bulk_copy(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::BulkCopy>(op);
  if (e.prefetch) return Step::next;  // a hint to L2, without an effect on values
  if (e.byte_mask >= 0) return x.unsupported("cp.async.bulk with .cp_mask begins with sm_100");
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (const Step s = issue_lane(x, op, e, std::countr_zero(m)); s != Step::next) return s;
  return Step::next;
}

}  // namespace palladion::sim
