#include "isa/core/footprint.h"

#include <algorithm>

namespace palladion::isa {

using Object = Sync::Object;
using Role = Async::Role;

Footprint Pure::footprint() const {
  return {.values = Values::lane_wise, .reads_carry = reads_carry, .writes_carry = writes_carry};
}
Footprint Approx::footprint() const { return {.values = Values::lane_wise}; }
Footprint Unsupported::footprint() const { return {.next = Control::traps}; }

Footprint footprint(const Effect& effect) {
  return std::visit([](const auto& e) { return e.footprint(); }, effect);
}

namespace {
// Tensor memory has no generic addresses.
bool may_mean(Space stated, Space space) {
  return stated == space || (stated == Space::generic && space != Space::tensor);
}
}  // namespace

const MemoryUse* Footprint::read() const {
  const auto* found = std::ranges::find_if(memory, &MemoryUse::reads);
  return found == memory.end() ? nullptr : found;
}
const MemoryUse* Footprint::written() const {
  const auto* found = std::ranges::find_if(memory, &MemoryUse::writes);
  return found == memory.end() ? nullptr : found;
}
bool Footprint::writes_memory() const { return written() != nullptr; }

bool Footprint::reads(Space space) const {
  return std::ranges::any_of(memory, [&](const MemoryUse& m) { return m.reads && may_mean(m.space, space); });
}
bool Footprint::writes(Space space) const {
  return std::ranges::any_of(memory,
                             [&](const MemoryUse& m) { return m.writes && may_mean(m.space, space); });
}

bool Footprint::uses(Proxy proxy) const {
  return std::ranges::any_of(memory, [&](const MemoryUse& m) { return m.proxy == proxy; });
}

bool Footprint::registers_only() const {
  const auto is_constant = [](const MemoryUse& m) {
    return !m.writes && (m.space == Space::param || m.space == Space::const_);
  };
  const bool orders_nothing =
      at(Object::none) || at(Object::registers) || at(Object::grid);  // of one grid at a time
  return orders_nothing && async.role == Role::none && next != Control::calls && next != Control::traps &&
         std::ranges::all_of(memory, is_constant);
}

bool Footprint::acquires() const {
  return (order == Order::acquire || order == Order::acq_rel || order == Order::sc) &&
         (at(Object::none) || at(Object::fence) || sync.waits);
}
bool Footprint::releases() const {
  return (order == Order::release || order == Order::acq_rel || order == Order::sc) &&
         (at(Object::none) || at(Object::fence) || sync.arrives);
}

}  // namespace palladion::isa
