#pragma once
// One launch of one program, ready to go: which arrays it reads and writes and the value of every
// parameter. A machine and a device take the same job; only a recorded one has addresses (Buffer::address).
#include <string>
#include <variant>
#include <vector>

#include "frontend/core/launch.h"
#include "isa/core/module.h"
#include "isa/formats/tensor_map.h"
#include "sim/machine/state/textures.h"
#include "verify/arrays/arrays.h"

namespace palladion {

enum class Role : uint8_t {  // what a buffer is for
  in,                        // read by the kernel
  out,                       // poisoned before the launch
  inout,                     // starts as `initial`; the result is a new array
  scratch,                   // zeroed before each launch, thrown away
  profile,                   // zeroed before each launch, read back: not an output
};
// An array in global memory, for the time of a launch.
struct Buffer {
  std::string name;      // for messages
  Role role = Role::in;  // what it is for
  pl::ShapeDtype type;   // shape and element type
  Array initial;         // in and inout
  // Of a launch that was recorded on a device: where the buffer lies, and the variable of the module that it
  // is.
  uint64_t address = 0;      // 0: anywhere
  std::string variable;      // empty: none
  bool host_writes = false;  // the host can write there while a kernel runs
};

// A texture or surface object of a recorded launch, under the handle that the device gave it. Levels of the
// image lie at addresses of the device, or with `buffer` that many bytes behind its start.
struct TextureObject {
  uint64_t handle = 0;   // as the kernel names it
  bool surface = false;  // else a texture
  int buffer = -1;       // index in Job::buffers; -1: the image has addresses
  sim::Texture texture;  // image and sampling
};

struct PointerValue {  // a parameter that is the address of a buffer
  int buffer = 0;      // index in Job::buffers
};
// `map.global_address` is a byte offset into the buffer.
struct TensorMapValue {
  int buffer = 0;      // index in Job::buffers
  isa::TensorMap map;  // CUtensorMap's fields
};
struct BytesValue {            // a parameter that is plain bytes
  std::vector<uint8_t> bytes;  // little endian
};
using ParamValue = std::variant<PointerValue, TensorMapValue, BytesValue>;  // one parameter of the entry
// A launch with its arrays and parameters.
struct Job {
  const isa::Module* module = nullptr;      // must outlive the job
  std::string ptx;                          // what the device is given; empty: the module printed
  std::string entry;                        // name of the .entry
  isa::Dim3 grid, block, cluster;           // in CTAs; in threads; in CTAs
  uint32_t dynamic_shared = 0;              // bytes a CTA
  bool programmatic_serialization = false;  // it calls griddepcontrol.wait
  bool cooperative = false;     // all CTAs are resident, and may wait for each other; for the machine alone
  bool recorded = false;        // a device ran it without an error: sim::Launch::recorded
  std::vector<Buffer> buffers;  // all arrays
  std::vector<ParamValue> params;      // one for each parameter of the entry
  std::vector<TextureObject> objects;  // for the machine alone

  bool is_output(size_t buffer) const {  // its contents after the run are a result
    return buffers[buffer].role == Role::out || buffers[buffer].role == Role::inout;
  }
};

// A recorded kernel with its inputs. Names stand for inputs, then outputs, in messages; missing ones are
// in0, in1, ..., out0, ... Throws isa::Error (PLD5001) when the inputs are not what the kernel takes, and
// with isa::verify's codes when its module breaks a rule of PTX.
Job job_of(const plgpu::Kernel& kernel, std::vector<Array> inputs,
           const std::vector<std::string>& names = {});

}  // namespace palladion
