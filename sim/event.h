#pragma once
// The seam between the machine and those who watch it: checkers, traces, the clock's reports.
// An observer may not change the machine; with none attached nothing is built.
#include <cstdint>

#include "isa/effects.h"
#include "isa/instruction.h"

namespace palladion::sim {

struct ThreadId {
  uint32_t cluster = 0;   // linear id of the cluster in the grid
  uint16_t cta_rank = 0;  // in the cluster
  uint16_t warp = 0;      // in the CTA
};

struct Event {
  enum class Kind : uint8_t {
    instruction,  // a warp executed an instruction with `lanes`
    access,       // lanes touched memory: address[i], size bytes each
    async_issue,  // an asynchronous operation `async_id` was issued
    async_read,   // it has read its sources
    async_land,   // its results are visible
    barrier_arrive,
    barrier_complete,
    barrier_wait,
    cta_begin,
    cta_end,
  };
  Kind kind = Kind::instruction;
  ThreadId who;
  uint32_t lanes = 0;
  const isa::Instruction* instruction = nullptr;
  isa::Space space = isa::Space::generic;
  bool write = false;
  uint32_t size = 0;                    // bytes a lane, or of the async range
  const uint64_t* addresses = nullptr;  // 32, valid where `lanes` says so
  uint64_t async_id = 0;
  uint64_t object = 0;  // barrier: address or id
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on(const Event& event) = 0;
};

}  // namespace palladion::sim
