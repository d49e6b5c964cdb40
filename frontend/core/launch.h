#pragma once
// Everything that is needed to launch a recorded kernel, as plain data. The runner (machine or
// device) allocates the arrays, builds the tensor maps from base addresses, and passes one value per
// entry parameter, in order.
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/core/types.h"
#include "isa/core/module.h"
#include "isa/formats/tensor_map.h"

namespace palladion::plgpu {

using pl::DType;

// Arrays are numbered: inputs first, then outputs.
struct PointerParam {
  int array = 0;  // number of the array: inputs, then outputs
};

// A tensor map over array `array`; `map.global_address` is a byte offset, to which the launcher adds
// the array's address.
struct TensorMapParam {
  int array = 0;       // number of the array whose memory it covers
  isa::TensorMap map;  // box, swizzle, element type; its address is filled in at the launch
};

// Global memory that the launcher allocates, zeroed before each launch: an array, or semaphores, with what
// findings call it.
struct ScratchParam {
  int64_t bytes = 0;  // zeroed before the launch
  std::string name;   // the author's name of it
};

// Where profile scopes record; zeroed before a launch and read back after it (Launch::profile).
struct ProfileParam {};

// A number that the kernel reads when it runs: its bytes are the parameter. The program is the same for all
// values.
struct ScalarParam {
  std::string name;          // the author's name of it
  DType dtype = DType::f32;  // of 16, 32 or 64 bits
  uint64_t bits = 0;         // the value of this launch
  friend bool operator==(const ScalarParam&, const ScalarParam&) = default;
};

// A kernel parameter.
using Param = std::variant<PointerParam, TensorMapParam, ScratchParam, ProfileParam, ScalarParam>;

// What is in the profile's buffer: one part for each warpgroup, those of a CTA together, CTAs as numbered
// in the grid, x first. frontend/core/profile.h reads it.
struct Profile {
  int64_t space = 0;                // events for which a warpgroup has room
  uint32_t warpgroups = 0;          // of the whole grid
  std::vector<std::string> scopes;  // names, by the numbers that events hold
  // 48 of header, 16 an event.
  int64_t bytes_per_warpgroup() const { return 48 + 16 * space; }
};
// What a recorded kernel needs to be launched, on the machine or on a device.
struct Launch {
  std::string entry;                            // name of the .entry
  isa::Dim3 grid;                               // in CTAs
  isa::Dim3 block;                              // in threads
  isa::Dim3 cluster;                            // in CTAs
  uint32_t dynamic_smem_bytes = 0;              // shared memory that the launch asks for
  bool programmatic_serialization = false;      // the kernel calls griddepcontrol_wait
  std::vector<Param> params;                    // one for each parameter of the entry, in order
  std::vector<pl::ShapeDtype> inputs, outputs;  // types of the arrays, in order
  // Outputs that start as a copy of an input: (input, output). Others are written by the kernel only.
  std::vector<std::pair<int, int>> aliases;
  std::optional<Profile> profile;  // with CompilerParams::profile_space
  int64_t profile_bytes() const {
    return profile ? static_cast<int64_t>(grid.count()) * profile->warpgroups * profile->bytes_per_warpgroup()
                   : 0;
  }
};

// A recorded kernel: the program and how to start it.
struct Kernel {
  std::string name;    // as the author named it
  isa::Module module;  // the PTX program
  Launch launch;       // how it is started
};

}  // namespace palladion::plgpu
