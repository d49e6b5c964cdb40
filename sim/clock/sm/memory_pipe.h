#pragma once
// The memory pipe of an SM: the load-store unit and what lies behind it, which is shared memory, L1, the way
// of stores to L2, the cluster's network, and the fences that wait for them.
#include <cstdint>
#include <optional>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/sm/access.h"
#include "sim/clock/sm/cas_loops.h"
#include "sim/clock/sm/fences.h"
#include "sim/clock/sm/issue.h"
#include "sim/clock/sm/l1.h"
#include "sim/clock/sm/load_store.h"
#include "sim/clock/sm/network.h"
#include "sim/clock/sm/requests.h"
#include "sim/clock/sm/smem_port.h"
#include "sim/clock/sm/tensor_core.h"
#include "sim/clock/sm/usage.h"
#include "sim/clock/sm/warp.h"

namespace palladion::sim::hardware {

// A memory instruction that a warp issues at `now`, and what it meets beside the memory pipe.
struct MemoryInstruction {
  Warp& warp;
  const InstructionCost& cost;
  const LaneAddresses& access;  // of at least one lane
  Cycle now;
  Pipes& pipes;              // of the warp's sub-core
  const TensorCore& tensor;  // reads operands through the port of shared memory
  Usage& usage;
};

// When would a memory instruction be served? Its results' times go to the warp's registers.
class MemoryPipe {
 public:
  MemoryPipe(const isa::ClockParameters& p, Cycles fence_interval, uint64_t l1_bytes);

  // The queues in front of it hold an instruction up.
  void hold_up(const InstructionCost& cost, Opening& opening) const;
  // A shuffle goes through it, too.
  void shuffle(Cycle now, Cycles cycles) { lsu_.take(time_of(now), cycles); }
  // Of the SM's own shared memory; of any space but a peer's shared memory; of the cluster.
  void shared(const MemoryInstruction& i);
  void global(const MemoryInstruction& i, Requests& requests);
  void cluster(const MemoryInstruction& i, MemoryPipe& peer);
  // A strong access of GMEM that issued at `now`.
  void strong(const MemoryInstruction& i, Requests& requests);
  // When others see it.
  Cycle visible(const InstructionCost& cost, Cycle now) const;
  // st.async, red.async: from registers, as stores. When it lands.
  Cycle store_async(const MemoryInstruction& i, MemoryPipe& peer);
  // cp.async: when so many lines are asked for.
  Cycles copy_lanes(Cycle now, uint32_t lines) {
    return lsu_.take(time_of(now), p_->smem_lsu_interval * std::max(1U, lines));
  }
  // An arrival at an mbarrier that is named by its place in the cluster; when it is there, if that is another
  // CTA's.
  std::optional<Cycle> arrive(Warp& w, SharedAddress mbarrier, Cycle now);

  // When a fence of the warp that begins now is done.
  Cycle fence(const Warp& w, uint32_t latency, Cycle now);
  // A release at cluster scope stands behind a fence. Whether it has to be looked at again at `at`.
  bool release(Warp& w, uint32_t latency, Cycle& at);
  // Nothing that L1 holds may be read any more.
  void acquire() { l1_.drop(); }

  // Copies use these, too.
  NetworkPort& network() { return network_; }
  Fences& fences() { return fences_; }

  // L2 has served the quantum's requests; one of a store, which is far `behind`.
  void answered(const Batch& batch) { l1_.answered(batch); }
  void written(const Request& r, Cycles behind) {
    lsu_.hold(r.kind == Request::Kind::atomic ? r.accepted : behind);
  }
  // A cluster has left: its loops have ended.
  void end_loops() { cas_loops_.clear(); }

 private:
  uint32_t passes_of(const InstructionCost& cost, const LaneAddresses& access) const;
  void spin(const MemoryInstruction& i);
  void load(const MemoryInstruction& i, Cycles start, uint32_t first, Requests& requests);
  void store(std::span<const LineAccess> lines, bool atomic, Cycles start);
  Cycles store_to(const MemoryInstruction& i, MemoryPipe& peer);
  void ask_peer(const MemoryInstruction& i, MemoryPipe& peer, bool loads);

  const isa::ClockParameters* p_;
  LoadStoreUnit lsu_;
  StorePath stores_;
  SmemPort smem_;
  CasLoops cas_loops_;
  L1 l1_;
  NetworkPort network_;
  Fences fences_;
};

// The rank of the CTA that a shared address of the cluster names.
inline uint32_t rank_at(uint64_t address) { return static_cast<uint32_t>(address) >> cta_rank_shift; }

}  // namespace palladion::sim::hardware
