#pragma once
// Tensor maps as instructions use them.
#include <string>

#include "isa/formats/tensor_walk.h"
#include "sim/machine/async/async_copies.h"
#include "sim/machine/exec/atomics.h"

namespace palladion::sim {

// A decoded map, or what is wrong with it. Decoded maps are cached by their 128 bytes, so that a copy does
// not decode and check the same map again; the reference is valid until the thread's next call.
struct ReadMap {
  isa::TensorMap map;
  std::string error;
};
const ReadMap& read_tensor_map(const uint8_t* bytes, const isa::ArchSpec& arch);

}  // namespace palladion::sim
