#pragma once
// The ways between the SMs and L2.
#include <cstdint>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/memory/port.h"
#include "sim/clock/memory/request.h"
#include "sim/clock/memory/sites.h"

namespace palladion::sim::hardware {

// When does a request get to L2, whose answer its SMs have room for? When has a store left its SM?
class Ways {
 public:
  Ways(const isa::ClockParameters& p, std::vector<Site> sites, Partitions partitions);

  const std::vector<Site>& sites() const { return sites_; }
  const Site& site(uint32_t sm) const { return sites_[sm]; }
  // Cycles more from where the line is: its partition of L2, and its slice's place in it.
  Cycles distance(uint32_t sm, uint64_t line) const;
  // A request that would be at L2 at `time`, and whose answer comes from so far. `merged`: the answer is one
  // that takes the way into the GPC already.
  Cycles pass(const Request& r, Cycles time, Cycles distance, uint32_t bytes, bool merged);

  struct Sent {
    Cycles from = 0, to = 0;
  };
  // So many sectors of a store.
  Sent send(uint32_t sm, Cycles time, uint32_t pieces);

 private:
  Cycles receive(const Request& r, Cycles time, uint32_t bytes);

  const isa::ClockParameters& p_;
  std::vector<Site> sites_;
  Partitions partitions_;
  std::vector<Port> ports_;         // into an SM
  std::vector<Cycles> gpc_free_;    // into a GPC
  std::vector<Cycles> store_free_;  // out of an SM
};

}  // namespace palladion::sim::hardware
