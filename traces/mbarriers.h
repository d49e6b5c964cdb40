#pragma once
// Each mbarrier with its phases: what arrived, how many bytes landed, what completed it and which warps
// observed that.
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "traces/operations.h"
#include "traces/warps.h"

namespace palladion::traces {

class Mbarriers {
 public:
  Mbarriers(ClusterTrace& trace, Warps& warps, Operations& operations)
      : trace_(trace), warps_(warps), operations_(operations) {}

  void happened(const sim::MbarrierEvent& e);
  // The name and the current phase of the mbarrier at this shared address, if it has had an event.
  std::optional<std::pair<std::string_view, uint64_t>> at(sim::SharedAddress address) const;
  void flush();

 private:
  // The first warp of a warpgroup that saw a phase complete.
  struct Seen {
    sim::Origin origin;
    uint64_t at = 0;
  };
  // The end of a phase, until its waiters are known.
  struct Completion {
    uint64_t at = 0;
    int64_t phase = 0;
    std::vector<uint64_t> causes;  // arrows to it
    std::vector<Seen> seen;
  };
  struct Object {
    ClusterTrace::LocalTrack track = ClusterTrace::no_track;
    std::string_view name;
    int64_t phase = 0;  // the current one, as the last event stated it
    uint64_t since = 0, arrivals = 0, bytes = 0;
    bool used = false;             // the phase has events, or a warp waits for it
    uint64_t word = 0;             // its state after the last event
    std::vector<uint64_t> causes;  // operations that completed bytes or arrived in this phase
    std::optional<Completion> last;
  };

  Object& object_at(sim::SharedAddress address);
  void completes(const sim::MbarrierEvent& e, Object& object);
  void waits(const sim::MbarrierEvent& e, Object& object);
  void write_phase(Object& object, bool complete);
  void write_completion(Object& object);
  void close(Object& object);

  ClusterTrace& trace_;
  Warps& warps_;
  Operations& operations_;
  std::map<sim::SharedAddress, Object> objects_;
};

}  // namespace palladion::traces
