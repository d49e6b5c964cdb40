// Stores and reductions to the shared memory of the cluster that land later: st.async, red.async.
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/async_copies.h"
#include "sim/machine/exec/atomics.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/values_checked.h"

namespace palladion::sim {

void RemoteStores::land(const ClusterRun& run, const AsyncOp& op) {
  for (const Store& s : stores) {
    uint8_t* const to = shared_bytes(run.cluster, s.target);
    if (moves && reduce != nullptr)
      reduce(to, s.value.data(), 1);
    else if (moves)
      std::memcpy(to, s.value.data(), bytes);
    if (!moves || reduce == nullptr) note_shared(run.cluster, s.target, bytes, moves);
    complete_tx(run, op, s.mbarrier, bytes);
  }
}

void RemoteStores::describe(const AsyncOp&, Traffic& t) const {
  t.destination = isa::Space::shared_cluster;
  t.reduces = reduce != nullptr;
  t.bytes = bytes * static_cast<uint32_t>(stores.size());
  if (!stores.empty()) t.ctas = 1U << rank_of(stores.front().target);
}

namespace {

void announce(const Exec& x, const AsyncOp& op, const RemoteStores& payload) {
  Piece writes[32];
  SharedAddress mbarriers[32];
  uint32_t bytes[32];
  size_t n = 0;
  for (const RemoteStores::Store& s : payload.stores) {
    bytes[n] = payload.bytes;
    mbarriers[n] = s.mbarrier;
    writes[n++] = shared_piece(s.target, payload.bytes);
  }
  AsyncIssue issue = issue_of(x, op);
  issue.reduces = payload.reduce != nullptr;
  issue.writes = std::span(writes, n);
  issue.mbarriers = std::span(mbarriers, n);
  issue.mbarrier_bytes = std::span(bytes, n);
  x.emit(issue);
}

struct Operands {
  int address, src, mbar;
  isa::Type type;
  int elements;
};

Step issue_values(Exec& x, const MicroOp& op, const Operands& o, ReduceFn reduce) {
  const auto size = static_cast<size_t>(isa::bytes(o.type));
  const size_t bytes = size * static_cast<size_t>(o.elements);
  RemoteStores stores;
  stores.bytes = static_cast<uint32_t>(bytes);
  stores.reduce = reduce;
  stores.moves = op.moves;
  stores.stores.reserve(static_cast<size_t>(std::popcount(x.active)));
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t target = x.address_of_lane(op.operands[o.address], i),
                   mbarrier = x.address_of_lane(op.operands[o.mbar], i);
    if (target % bytes != 0)
      return x.fault(Code::misaligned_copy, say<Phrase::misaligned_to_shared>(
                                                stores.name(), bytes, target & shared_offset_mask, bytes));
    if (x.shared(target, bytes, "asynchronous write") == nullptr) return Step::fault;
    if (!check_mbarrier(x, mbarrier, target, stores.name())) return Step::fault;
    auto& store = stores.stores.emplace_back();
    store.target = Exec::shared_address(target);
    store.mbarrier = Exec::shared_address(mbarrier);
    for (int k = 0; k < o.elements; ++k) {
      const uint64_t v = x.lane_value(vector_element(op.operands[o.src], k), i);
      std::memcpy(store.value.data() + size * static_cast<size_t>(k), &v, size);
    }
  }
  const AsyncOp& issued = x.issue(std::move(stores), x.active);
  if (x.wants<AsyncIssue>()) announce(x, issued, std::get<RemoteStores>(issued.payload));
  return Step::next;
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::StoreAsync& e) {
  return issue_values(x, op, {e.address, e.src, e.mbar, e.type, e.elements}, nullptr);
}

Step exec(Exec& x, const MicroOp& op, const isa::ReduceAsync& e) {
  const ReduceFn reduce = reduction(e.op, e.type, false);
  if (reduce == nullptr) return x.unsupported(say<Phrase::operation_of_no_type>("a red.async"));
  return issue_values(x, op, {e.address, e.src, e.mbar, e.type, 1}, reduce);
}

}  // namespace palladion::sim
