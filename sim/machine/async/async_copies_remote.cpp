// Stores and reductions to the shared memory of the cluster that land later: st.async, red.async.
#include <fmt/format.h>

#include "sim/machine/async/async_copies.h"
#include "sim/machine/exec/atomics.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/values.h"

namespace palladion::sim {
namespace {

// One instruction's values, at most 16 bytes a lane; each lane counts its bytes at its mbarrier.
class RemoteValues final : public AsyncOp::Body {
 public:
  RemoteValues(const AsyncOrigin& origin, uint32_t bytes, ReduceFn reduce, bool moves)
      : origin_(origin), bytes_(bytes), reduce_(reduce), moves_(moves) {}

  void add(int lane, uint32_t target, uint32_t mbarrier) {
    targets_[lane] = target, mbarriers_[lane] = mbarrier;
  }
  uint8_t* value(int lane) { return values_[lane]; }
  void announce(const Exec& x, uint64_t id) const;

  void land(ClusterState& cluster) override {
    for (uint32_t m = origin_.lanes; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      if (moves_) put(shared_bytes(cluster, targets_[i]), i);
      if (!moves_ || reduce_ == nullptr) note_shared(cluster, targets_[i], bytes_, moves_);
      complete_tx(cluster, origin_, mbarriers_[i], bytes_);
    }
  }
  void describe(Traffic& t) const override {
    t.kind = Traffic::Kind::cluster_store;
    t.bytes = bytes_ * static_cast<uint32_t>(std::popcount(origin_.lanes));
    t.ctas = 1U << rank_of(targets_[std::countr_zero(origin_.lanes)]);
  }
  const char* name() const override { return reduce_ != nullptr ? "red.async" : "st.async"; }

 private:
  void put(uint8_t* to, int lane) const {
    if (reduce_ != nullptr)
      reduce_(to, values_[lane], 1);
    else
      std::memcpy(to, values_[lane], bytes_);
  }

  AsyncOrigin origin_;
  uint32_t bytes_;
  ReduceFn reduce_;
  bool moves_;
  uint32_t targets_[32], mbarriers_[32];
  uint8_t values_[32][16];
};

void RemoteValues::announce(const Exec& x, uint64_t id) const {
  Piece writes[32];
  uint32_t mbarriers[32], bytes[32];
  size_t n = 0;
  for (uint32_t m = origin_.lanes; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    bytes[n] = bytes_;
    mbarriers[n] = mbarriers_[i];
    writes[n++] = {true, targets_[i], bytes_};
  }
  x.emit(AsyncIssue{.origin = origin_.origin(),
                    .id = id,
                    .reduces = reduce_ != nullptr,
                    .reads = {},
                    .writes = std::span(writes, n),
                    .mbarriers = std::span(mbarriers, n),
                    .mbarrier_bytes = std::span(bytes, n),
                    .name = name()});
}

struct Operands {
  int address, src, mbar;
  isa::Type type;
  int elements;
};

Step issue_values(Exec& x, const MicroOp& op, const Operands& o, ReduceFn reduce) {
  const auto size = static_cast<size_t>(isa::bytes(o.type));
  const size_t bytes = size * static_cast<size_t>(o.elements);
  auto values = std::make_unique<RemoteValues>(AsyncOrigin(x, x.active), static_cast<uint32_t>(bytes), reduce,
                                               op.moves);
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t target = x.address_of_lane(op.operands[o.address], i),
                   mbarrier = x.address_of_lane(op.operands[o.mbar], i);
    if (target % bytes != 0)
      return x.fault("PLD3070",
                     fmt::format("{} of {} bytes at shared address 0x{:x}: must be a multiple of {}",
                                 values->name(), bytes, target & shared_offset_mask, bytes));
    if (x.shared(target, bytes, "asynchronous write") == nullptr) return Step::fault;
    if (!check_mbarrier(x, mbarrier, target, values->name())) return Step::fault;
    values->add(i, Exec::shared_address(target), Exec::shared_address(mbarrier));
    for (int k = 0; k < o.elements; ++k) {
      const uint64_t v = x.lane_value(vector_element(op.operands[o.src], k), i);
      std::memcpy(values->value(i) + size * static_cast<size_t>(k), &v, size);
    }
  }
  const RemoteValues& issued = *values;
  const uint64_t id = x.issue(std::move(values), x.active);
  if (x.wants<AsyncIssue>()) issued.announce(x, id);
  return Step::next;
}

}  // namespace

Step exec_store_async(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::StoreAsync>(op);
  return issue_values(x, op, {e.address, e.src, e.mbar, e.type, e.elements}, nullptr);
}

Step exec_reduce_async(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::ReduceAsync>(op);
  const ReduceFn reduce = reduction(e.op, e.type, false);
  if (reduce == nullptr) return x.unsupported("a red.async that this type does not have");
  return issue_values(x, op, {e.address, e.src, e.mbar, e.type, 1}, reduce);
}

}  // namespace palladion::sim
