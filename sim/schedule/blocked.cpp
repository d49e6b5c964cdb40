#include "sim/schedule/blocked.h"

#include <algorithm>
#include <cstring>

#include "sim/machine/state/mbarrier.h"

namespace palladion::sim {
namespace {

void set_arrivals(BlockedWait& b, uint64_t arrived, uint64_t expected) {
  b.expected_arrivals = expected;
  b.pending_arrivals = expected - std::min(arrived, expected);
}

void read_mbarrier(BlockedWait& b, const ClusterState& cluster, const Wait& wait) {
  const auto address = static_cast<uint32_t>(wait.object);
  const uint32_t rank = address >> cta_rank_shift, offset = address & shared_offset_mask;
  uint64_t word = 0;
  std::memcpy(&word, cluster.ctas[rank].shared.data() + offset, sizeof(word));
  const MbarrierState s = MbarrierState::decode(word);
  b.object = {.kind = Object::Kind::mbarrier, .ranges = {{offset, offset + sizeof(word)}}};
  if (cluster.ctas.size() > 1) b.object.cta = cluster.ctas[rank].id;
  b.parity = static_cast<uint32_t>(wait.value);
  b.expected_arrivals = std::max(s.expected, s.pending);
  b.pending_arrivals = s.pending;
  b.pending_bytes = s.tx;
}

}  // namespace

BlockedWait blocked_wait(const ClusterState& cluster, const CtaState& cta, const Wait& wait) {
  using K = Wait::Kind;
  using Kind = BlockedWait::Kind;
  BlockedWait b;
  const auto is = [&](Kind kind, Object::Kind object, uint64_t number = 0) {
    b.kind = kind;
    b.object = {.kind = object, .number = number};
  };
  switch (wait.kind) {
    case K::mbarrier:
      b.kind = Kind::mbarrier;
      read_mbarrier(b, cluster, wait);
      break;
    case K::cta_barrier: {
      const NamedBarrier& barrier = cta.barriers[wait.object];
      is(Kind::cta_barrier, Object::Kind::barrier, wait.object);
      set_arrivals(b, barrier.arrived, barrier.expected != 0 ? barrier.expected : cta.alive_threads);
      break;
    }
    case K::cluster_barrier: {
      uint64_t alive = 0;
      for (const CtaState& c : cluster.ctas) alive += c.alive_threads;
      is(Kind::cluster_barrier, Object::Kind::cluster_barrier);
      set_arrivals(b, cluster.barrier.arrived, alive);
      break;
    }
    case K::registers:
      is(Kind::registers, Object::Kind::register_pool);
      b.wanted = wait.object;
      b.limit = wait.value;
      b.free = cta.free_registers;
      break;
    case K::tensor_memory:
      is(Kind::tensor_memory, Object::Kind::tensor_memory);
      b.wanted = wait.value;
      b.by_peer = wait.object == 2 && cluster.ctas[cta.rank ^ 1].tensor.wanted != wait.value;
      break;
    case K::convergence:
      is(Kind::convergence, Object::Kind::lanes, wait.object);
      break;
    case K::wgmma_group:
      is(Kind::wgmma_group, Object::Kind::wgmma_groups);
      break;
    case K::bulk_group:
      is(Kind::bulk_group, Object::Kind::bulk_groups);
      break;
    case K::cp_async_group:
      is(Kind::cp_async_group, Object::Kind::cp_async_groups);
      break;
    default:
      break;
  }
  return b;
}

}  // namespace palladion::sim
