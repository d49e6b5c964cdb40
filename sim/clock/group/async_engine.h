#pragma once
// The asynchronous engine: bulk copies, tensor copies, copies of lanes, matrix products. A warp issues them,
// they land on their own.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/sm/requests.h"
#include "sim/clock/sm/sm.h"
#include "sim/launch/event.h"
#include "sim/machine/state/async_op.h"

namespace palladion::sim::hardware {

// When would an asynchronous operation land?
class AsyncEngine {
 public:
  explicit AsyncEngine(const isa::ClockParameters& p) : p_(&p) {}

  struct Started {
    Cycle read = never;              // its sources have been read; `never`: nothing waits for that alone
    Cycle land = never;              // `never`: L2's answer says when
    std::optional<UnitWorked> work;  // of the unit that is occupied
  };
  // An instruction issues the operations that are started from now on: lanes may issue one store together.
  void begin() { store_.reset(); }
  // Operation `id` of warp `w`, which may not issue its next instruction at once.
  Started start(Warp& w, uint64_t id, const Traffic& t, Cycle now, std::span<Sm> sms, Requests& requests);

  // L2 has answered a copy's request at `time`.
  Cycle landed(const Pending& copy, Cycle time, std::span<const Sm> sms) const;

 private:
  Started copy_lanes(const Warp& w, uint64_t id, const Traffic& t, Cycle now, Sm& sm, Requests& requests);
  Started copy_to_cluster(Warp& w, const Traffic& t, Cycle now, std::span<Sm> sms);
  Cycles take(Sm& sm, TmaUnit::Direction direction, const Traffic& t, Cycle issued, Cycles cycles,
              UnitWorked& work) const;
  Started load(const Warp& w, uint64_t id, const Traffic& t, Cycle now, Sm& sm, Requests& requests);
  Started store(const Warp& w, uint64_t id, const Traffic& t, Cycle now, Sm& sm, Requests& requests);
  Started join_store(const Warp& w, uint64_t id, Requests& requests) const;
  Started multiply(const Warp& w, uint64_t id, const Traffic& t, Cycle now, Sm& sm) const;
  Started use_tensor_memory(uint64_t id, const Traffic& t, Cycle now, std::span<Sm> sms) const;

  // The last store of the instruction.
  struct Store {
    uint64_t tensor_map = 0;
    uint32_t bytes = 0;
    std::vector<Piece> global;
    Cycle read, done;
    std::optional<uint32_t> request;  // none: all of it lies outside the tensor
    bool is(const Traffic& t) const;
  };

  const isa::ClockParameters* p_;
  std::optional<Store> store_;
};

}  // namespace palladion::sim::hardware
