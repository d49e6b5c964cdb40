#include "sim/machine/exec/specials.h"

#include <algorithm>

namespace palladion::sim {
namespace {

using isa::Dim3;
using isa::Special;

uint32_t component(const Dim3& d, int c) { return c == 1 ? d.y : c == 2 ? d.z : c == 3 ? 0 : d.x; }

Dim3 thread_id(const Exec& x, uint32_t linear) {
  const Dim3& b = x.launch.block;
  return {linear % b.x, linear / b.x % b.y, linear / b.x / b.y};
}

Dim3 clusters_in_grid(const LaunchState& l) {
  return {l.grid.x / l.cluster.x, l.grid.y / l.cluster.y, l.grid.z / l.cluster.z};
}

uint64_t lane_mask(Special s, int lane) {
  const uint32_t bit = 1U << lane;
  switch (s) {
    case Special::lanemask_eq:
      return bit;
    case Special::lanemask_lt:
      return bit - 1;
    case Special::lanemask_le:
      return bit | (bit - 1);
    case Special::lanemask_gt:
      return ~(bit | (bit - 1));
    default:
      return ~(bit - 1);
  }
}

// Time without a clock: the instructions that the cluster has executed, a nanosecond each.
uint64_t now(const Exec& x) {
  return x.launch.clock_mhz > 0 ? x.cluster.now : x.cluster.instructions + x.warp->instructions;
}
uint64_t nanoseconds(const Exec& x) {
  return x.launch.clock_mhz > 0
             ? static_cast<uint64_t>(static_cast<double>(x.cluster.now) * 1000 / x.launch.clock_mhz)
             : now(x);
}

// Clocks, and sizes of shared memory.
uint64_t time_or_size(const Exec& x, Special s) {
  switch (s) {
    case Special::clock:
    case Special::clock64:
      return now(x);
    case Special::clock_hi:
      return now(x) >> 32;
    case Special::globaltimer:
    case Special::globaltimer_lo:
      return nanoseconds(x);
    case Special::globaltimer_hi:
      return nanoseconds(x) >> 32;
    case Special::total_smem_size:
    case Special::aggr_smem_size:
      return x.program.static_shared - x.program.reserved_shared + x.launch.dynamic_shared;
    case Special::dynamic_smem_size:
      return x.launch.dynamic_shared;
    case Special::reserved_smem_offset_begin:
    case Special::reserved_smem_offset_0:
    case Special::reserved_smem_offset_1:
      return 0;
    case Special::reserved_smem_offset_end:
    case Special::reserved_smem_offset_cap:
      return x.program.reserved_shared;
    default:
      return 0;
  }
}

// Of one lane; %tid: thread_ids.
uint64_t value_of(const Exec& x, const InitialValue& v, int lane) {
  const LaunchState& l = x.launch;
  const CtaState& cta = *x.cta;
  const Dim3 in_cluster{cta.id.x % l.cluster.x, cta.id.y % l.cluster.y, cta.id.z % l.cluster.z};
  const Dim3 cluster_id{cta.id.x / l.cluster.x, cta.id.y / l.cluster.y, cta.id.z / l.cluster.z};
  switch (v.special) {
    case Special::ntid:
      return component(l.block, v.component);
    case Special::laneid:
      return static_cast<uint64_t>(lane);
    case Special::warpid:
      return x.warp->id;
    case Special::nwarpid:
      return static_cast<uint64_t>(l.arch->max_threads_per_sm) / 32;
    case Special::ctaid:
      return component(cta.id, v.component);
    case Special::nctaid:
      return component(l.grid, v.component);
    case Special::smid:
      return cta.sm;
    case Special::nsmid:
      return static_cast<uint64_t>(l.arch->sm_count);
    case Special::gridid:
      return 1;
    case Special::clusterid:
      return component(cluster_id, v.component);
    case Special::nclusterid:
      return component(clusters_in_grid(l), v.component);
    case Special::cluster_ctaid:
      return component(in_cluster, v.component);
    case Special::cluster_nctaid:
      return component(l.cluster, v.component);
    case Special::cluster_ctarank:
      return cta.rank;
    case Special::cluster_nctarank:
      return l.cluster.count();
    case Special::is_explicit_cluster:
      return l.explicit_cluster ? ~0ULL : 0;
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
      return lane_mask(v.special, lane);
    case Special::envreg:
      return l.environment[static_cast<size_t>(v.component) % l.environment.size()];
    default:
      return time_or_size(x, v.special);
  }
}

// %tid of the warp's lanes, by counting from the first.
void thread_ids(const Exec& x, int which, uint64_t out[32]) {
  const Dim3& b = x.launch.block;
  Dim3 id = thread_id(x, x.warp->id * 32);
  for (int i = 0; i < 32; ++i) {
    out[i] = component(id, which);
    if (++id.x < b.x) continue;
    id.x = 0;
    if (++id.y < b.y) continue;
    id.y = 0;
    ++id.z;
  }
}

void values_of(const Exec& x, const InitialValue& v, uint64_t out[32]) {
  if (v.kind == InitialValue::Kind::shared_address) {
    std::fill_n(out, 32, (uint64_t{x.cta->rank} << cta_rank_shift) + v.value);
    return;
  }
  if (v.kind == InitialValue::Kind::parameter) {
    uint64_t value = 0;
    if (v.value + sizeof value <= x.launch.params.size())
      std::memcpy(&value, x.launch.params.data() + v.value, sizeof value);
    std::fill_n(out, 32, value);
    return;
  }
  switch (v.special) {
    case Special::tid:
      return thread_ids(x, v.component, out);
    case Special::laneid:
    case Special::lanemask_eq:
    case Special::lanemask_le:
    case Special::lanemask_lt:
    case Special::lanemask_ge:
    case Special::lanemask_gt:
      for (int i = 0; i < 32; ++i) out[i] = value_of(x, v, i);
      return;
    default:  // the same for all lanes
      std::fill_n(out, 32, value_of(x, v, 0));
  }
}

void store_lanes(const Exec& x, const InitialValue& v) {
  uint64_t values[32];
  values_of(x, v, values);
  uint8_t* slot = x.registers + v.offset;
  if (v.width == 1) {
    uint32_t mask = 0;
    for (int i = 0; i < 32; ++i) mask |= static_cast<uint32_t>(values[i] != 0) << i;
    std::memcpy(slot, &mask, 4);
    return;
  }
  const size_t bytes = v.width / 8;
  if (bytes == 4) {
    auto* lanes = reinterpret_cast<uint32_t*>(slot);
    for (int i = 0; i < 32; ++i) lanes[i] = static_cast<uint32_t>(values[i]);
    return;
  }
  for (int i = 0; i < 32; ++i)
    std::memcpy(slot + bytes * static_cast<size_t>(i), &values[i], std::min<size_t>(bytes, 8));
}

}  // namespace

void initialise_registers(Exec& x) {
  for (const InitialValue& v : x.program.initial_values) store_lanes(x, v);
}

void refresh_specials(Exec& x) {
  for (const InitialValue& v : x.program.dynamic_values) store_lanes(x, v);
}

}  // namespace palladion::sim
