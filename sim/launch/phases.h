#pragma once
// What an observer keeps of the newest phases of an mbarrier. The machine numbers the phases
// (MbarrierEvent::phase), observers look them up.
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace palladion::sim {

// The current phase and the one before it: no event names an older one.
template <class T>
class NewestPhases {
 public:
  // What is kept of the phase, a fresh T at first. The phase two before it is dropped.
  T& operator[](int64_t number) {
    Slot& slot = slots_[static_cast<size_t>(number & 1)];
    if (slot.number != number) slot = {number, {}};
    return slot.kept;
  }

 private:
  struct Slot {
    int64_t number = std::numeric_limits<int64_t>::min();
    T kept{};
  };
  std::array<Slot, 2> slots_;
};

}  // namespace palladion::sim
