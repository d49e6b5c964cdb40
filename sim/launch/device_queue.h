#pragma once
// Kernels that launch kernels (CUDA dynamic parallelism): the queue of what a grid has launched. It lies in
// GMEM; whoever runs the grid makes it, names its address in %envreg3 and 4 (the high and the low half), and
// performs what is in it when the grid has ended. Without one, the calls of the device's runtime library are
// unsupported.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "isa/core/module.h"

namespace palladion::sim {

inline constexpr int device_queue_high = 3, device_queue_low = 4;  // %envreg

// A launch or a copy, in the order in which the grid asked for them.
struct DeviceWork {
  enum class Kind : uint32_t { kernel, copy };  // what was asked for
  Kind kind = Kind::kernel;                     // a launch, or a copy
  uint32_t function = 0;                        // index in the module
  isa::Dim3 grid, block;                        // in CTAs; in threads
  uint32_t shared = 0;                          // dynamic, bytes
  uint64_t stream = 0;                          // a handle of the device's runtime library
  std::vector<uint8_t> params;                  // the parameter block
  uint64_t to = 0, from = 0, bytes = 0;         // of a copy

  static constexpr uint64_t tail_stream = 3;  // cudaStreamTailLaunch: after all others
};

class DeviceQueue {  // the queue, in its bytes of global memory
 public:
  explicit DeviceQueue(std::span<uint8_t> memory) : memory_(memory) {}
  void clear();  // once before each grid

  // A launch with room for its parameters; their offset in the queue, 0 when it is full.
  uint64_t reserve(const DeviceWork& launch, uint64_t param_bytes);
  // False when no launch was reserved there.
  bool commit(uint64_t offset, uint64_t stream);
  bool add_copy(const DeviceWork& copy);
  uint64_t new_stream();

  // Tail launches last.
  std::vector<DeviceWork> take() const;

 private:
  std::span<uint8_t> memory_;
};

}  // namespace palladion::sim
