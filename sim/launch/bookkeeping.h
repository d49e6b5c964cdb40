#pragma once
// Values among bytes of the machine's memory, at any alignment: what malloc and the queue of launches keep
// there about themselves. `at` + sizeof(T) must lie inside.
#include <cstdint>
#include <cstring>
#include <span>

namespace palladion::sim {

// The value at byte `at`.
template <class T>
T value_at(std::span<const uint8_t> memory, uint64_t at) {
  T value;
  std::memcpy(&value, memory.data() + at, sizeof value);
  return value;
}
// Stores the value there.
template <class T>
void set_value_at(std::span<uint8_t> memory, uint64_t at, const T& value) {
  std::memcpy(memory.data() + at, &value, sizeof value);
}

}  // namespace palladion::sim
