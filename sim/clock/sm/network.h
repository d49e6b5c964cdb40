#pragma once
// An SM's way onto the cluster's network. Everything travels in packets of 32 bytes: an SM puts them on the
// network one after the other, its own requests as well as its answers to others, and takes somewhat more
// from it than it can give.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/sm/queue.h"

namespace palladion::sim::hardware {

// What a warp's access touches: lines, sectors, and packets that carry it away when it is written, or is an
// atomic.
struct Packets {
  uint32_t lines = 0, sectors = 0, written = 0, atomic = 0;
};
Packets packets_of(const uint64_t* addresses, uint32_t lanes, uint32_t bytes);

// When would the network have carried packets?
class NetworkPort {
 public:
  explicit NetworkPort(const isa::ClockParameters& p) : p_(&p) {}

  // Neighbouring SMs use the same ways to the network.
  void share() { shared_ = true; }
  bool is_shared() const { return shared_; }

  // Packets of loads to another SM (or to itself, the same way): when the last has come through.
  Cycles send(NetworkPort& to, Cycles time, double packets) {
    return send(to, time, packets, p_->dsm_contended_load);
  }
  // What is written is acknowledged. Several SMs that write to one fill up the ways to it, then they wait.
  Cycles write(NetworkPort& to, Cycles time, double packets);
  // When it takes a packet of this SM.
  Cycles opens() const { return out_; }

  // Stores wait in a queue until the network takes them; wide ones take two places.
  void queue_store(Cycles leaves, uint32_t bytes);
  void queue(Cycles leaves) { stores_.push(leaves); }
  // When a warp may issue another store.
  Cycles store_opens() const { return stores_.opens(static_cast<size_t>(p_->dsm_queue)); }

  // Bulk copies from shared memory to shared memory: when one that is issued at `now` begins, and when a warp
  // may issue the next.
  Cycles start_copy(Cycles now);
  Cycles copy_opens() const { return copies_.opens(static_cast<size_t>(p_->dsm_copy_queue)); }

  // What this SM has asked of others or written there is done at `time`.
  void ends(Cycles time) { done_ = std::max(done_, time); }
  Cycles done() const { return done_; }

 private:
  Cycles send(NetworkPort& to, Cycles time, double packets, double contention);

  const isa::ClockParameters* p_;
  Cycles out_ = 0, in_ = 0;  // onto the network, from it
  Cycles done_ = 0;
  Cycles copy_free_ = 0;
  Queue stores_, copies_;
  bool shared_ = false;  // all SMs of its CPC work
};

// The last arrival from another CTA at each mbarrier of a cluster: the network brings it when the phase has
// long been over for the machine's state.
class RemoteArrivals {
 public:
  bool empty() const { return arrivals_.empty(); }
  // `mbarrier`: shared address with its CTA's rank.
  void add(ClusterOfGroup cluster, SharedAddress mbarrier, Cycle time);
  // When the one that is on its way at `now` is there; 0 when none is.
  Cycle arrives(ClusterOfGroup cluster, SharedAddress mbarrier, Cycle now) const;
  void remove(ClusterOfGroup cluster);

 private:
  struct Arrival {
    ClusterOfGroup cluster;
    SharedAddress mbarrier;
    Cycle time;
  };
  std::vector<Arrival> arrivals_;
};

}  // namespace palladion::sim::hardware
