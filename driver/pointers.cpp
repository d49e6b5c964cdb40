// What a program asks about a pointer.
#include "driver/state.h"
#include "driver/streams.h"

using namespace palladion::driver;

// CUpointer_attribute
PLD_CUDA cuPointerGetAttribute(void* out, int attribute, Pointer p) {
  State& s = state();
  const Guard guard(s.lock);
  const Block* b = s.block_of(p);
  const palladion::sim::Allocation* a = b == nullptr ? s.machine->memory().lookup(p) : nullptr;
  if (b == nullptr && a == nullptr) return invalid_value;
  const Origin origin = b != nullptr ? b->origin : Origin::device;
  const bool host = origin == Origin::host || origin == Origin::registered;
  switch (attribute) {
    case 1:
      *static_cast<void**>(out) = &s.primary;
      return success;
    case 2:
      *static_cast<uint32_t*>(out) = host ? memory_host : memory_device;
      return success;
    case 3:
      *static_cast<Pointer*>(out) = p;
      return success;
    case 4:
      if (origin == Origin::device) return invalid_value;
      *static_cast<Pointer*>(out) = p;
      return success;
    case 7:
      *static_cast<uint64_t*>(out) = b != nullptr ? b->id : 1;
      return success;
    case 8:
      *static_cast<unsigned*>(out) = origin == Origin::managed;
      return success;
    case 9:
      *static_cast<int*>(out) = 0;
      return success;
    case 11:
      *static_cast<Pointer*>(out) = b != nullptr ? b->base : a->base;
      return success;
    case 12:
      *static_cast<size_t*>(out) = b != nullptr ? b->size : a->size;
      return success;
    case 13:
      *static_cast<int*>(out) = 1;
      return success;
    default:
      return invalid_value;
  }
}
PLD_CUDA cuPointerGetAttributes(unsigned count, const int* attributes, void** out, Pointer p) {
  const Guard guard(state().lock);
  const bool known = state().block_of(p) != nullptr || state().machine->memory().lookup(p) != nullptr;
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
