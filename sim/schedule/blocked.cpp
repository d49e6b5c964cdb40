#include "sim/schedule/blocked.h"

#include <fmt/format.h>

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
  b.object = fmt::format("mbarrier at shared address 0x{:x} of CTA rank {}", offset, rank);
  b.parity = static_cast<uint32_t>(wait.value);
  b.expected_arrivals = std::max(s.expected, s.pending);
  b.pending_arrivals = s.pending;
  b.pending_bytes = s.tx;
}

}  // namespace

BlockedWait blocked_wait(const ClusterState& cluster, const CtaState& cta, const Wait& wait) {
  using K = Wait::Kind;
  BlockedWait b;
  const auto is = [&](const char* kind, std::string object) {
    b.kind = kind;
    b.object = std::move(object);
  };
  switch (wait.kind) {
    case K::mbarrier:
      b.kind = "mbarrier";
      read_mbarrier(b, cluster, wait);
      break;
    case K::cta_barrier: {
      const NamedBarrier& barrier = cta.barriers[wait.object];
      is("cta_barrier", fmt::format("barrier {}", wait.object));
      set_arrivals(b, barrier.arrived, barrier.expected != 0 ? barrier.expected : cta.alive_threads);
      break;
    }
    case K::cluster_barrier: {
      uint64_t alive = 0;
      for (const CtaState& c : cluster.ctas) alive += c.alive_threads;
      is("cluster_barrier", "the cluster barrier");
      set_arrivals(b, cluster.barrier.arrived, alive);
      break;
    }
    case K::registers:
      is("registers", "the CTA's registers");
      break;
    case K::tensor_memory:
      is("tensor_memory", "the CTA's tensor memory");
      break;
    case K::convergence:
      is("convergence", fmt::format("lanes {:08x} of its warp", wait.object));
      break;
    case K::wgmma_group:
      is("wgmma_group", "its wgmma groups");
      break;
    case K::bulk_group:
      is("bulk_group", "its bulk async-groups");
      break;
    case K::cp_async_group:
      is("cp_async_group", "its cp.async groups");
      break;
    default:
      is("memory", "a value in memory");
  }
  return b;
}

}  // namespace palladion::sim
