// What a program asks about a pointer.
#include <cstring>
#include <span>

#include "cuda/driver/state.h"
#include "cuda/driver/streams/streams.h"

using namespace palladion::cuda::driver;

// CUpointer_attribute
PLD_CUDA cuPointerGetAttribute(void* out, int attribute, Pointer p) {
  State& s = state();
  const Guard guard(s.lock);
  const Block* b = s.block_of(p);
  const palladion::sim::Allocation* a =
      b == nullptr ? s.machine->memory().lookup(palladion::sim::Address(p)) : nullptr;
  if (out == nullptr || (b == nullptr && a == nullptr)) return invalid_value;
  const Origin origin = b != nullptr ? b->origin : Origin::device;
  const bool host = origin == Origin::host || origin == Origin::registered;
  const auto give = [&](auto value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    return std::memcpy(out, bytes.data(), bytes.size()), success;
  };
  switch (attribute) {
    case 1:  // context
      return give(b != nullptr && b->owner != nullptr ? b->owner : &s.primary);
    case 2:  // memory type
      return give(host ? memory_host : memory_device);
    case 3:  // device pointer
      return give(p);
    case 4:  // host pointer
      return host || origin == Origin::managed ? give(p) : invalid_value;
    case 6:  // whether copies wait: all do
      return give(bool{b != nullptr && b->synchronous});
    case 7:  // number of the allocation
    case 20:
      return give(b != nullptr ? b->id : uint64_t{1});
    case 8:  // managed
      return give(unsigned{origin == Origin::managed});
    case 9:  // device
      return give(DeviceId{0});
    case 10:  // shared with other processes, in the old and the new way; reached by other devices
      return give(int{0});
    case 14:
      return give(uint64_t{0});
    case 15:
      return give(false);
    case 11:  // where the allocation begins
    case 19:
      return give(b != nullptr ? b->base : a->base);
    case 12:  // its size
    case 18:
      return give(b != nullptr ? b->size : size_t{a->size});
    case 13:  // mapped
      return give(int{1});
    case 16:  // access: to read and to write
      return give(int{3});
    case 17:
      return give(pool_that_gave(p));
    default:
      return invalid_value;
  }
}
PLD_CUDA cuPointerSetAttribute(const void* value, int attribute, Pointer p) {
  const Guard guard(state().lock);
  constexpr int sync_memops = 6;
  Block* const b = state().block_of(p);
  if (value == nullptr || attribute != sync_memops || b == nullptr) return invalid_value;
  return b->synchronous = *static_cast<const bool*>(value), success;
}
PLD_CUDA cuPointerGetAttributes(unsigned count, const int* attributes, void** out, Pointer p) {
  const Guard guard(state().lock);
  if (attributes == nullptr || out == nullptr) return invalid_value;
  const bool known = state().block_of(p) != nullptr ||
                     state().machine->memory().lookup(palladion::sim::Address(p)) != nullptr;
  for (unsigned i = 0; i < count; ++i) {
    const bool known_one = known && cuPointerGetAttribute(out[i], attributes[i], p) == success;
    if (known_one) continue;
    // A pointer that is not ours: zeros, the device -2, as the driver answers.
    if (attributes[i] == 2 || attributes[i] == 8) *static_cast<uint32_t*>(out[i]) = 0;
    if (attributes[i] == 9) *static_cast<int*>(out[i]) = -2;
    if (attributes[i] == 1 || attributes[i] == 3 || attributes[i] == 4 || attributes[i] == 11)
      *static_cast<Pointer*>(out[i]) = 0;
  }
  return success;
}
