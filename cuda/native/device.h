#pragma once
// A GPU, through the CUDA driver loaded at run time. Everything here answers with diagnostics where
// there is no driver, no device, or the driver refuses; nothing changes a setting of the device.
//
// Codes: PLD8001 no driver, PLD8002 no device, PLD8003 a driver call failed, PLD8004 a launch that
// cannot be, PLD8005 the driver's compiler refused the PTX, PLD8006 the kernel failed while it ran,
// PLD8007 the kernel did not end in time, PLD8008 a tensor map that cannot be.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "cuda/native/driver.h"
#include "cuda/native/jit_log.h"
#include "isa/core/diagnostic.h"
#include "isa/formats/tensor_map.h"

namespace palladion::cuda::native {

template <class T>
using Result = tl::expected<T, isa::Diagnostics>;  // a value, or diagnostics with a code
// What the driver says of a device.
struct DeviceFacts {
  int ordinal = 0;               // as CUDA counts devices
  std::string name;              // as the driver gives it
  int sm = 0;                    // compute capability x 10: 90 on Hopper
  int sm_count = 0;              // streaming multiprocessors
  int sm_clock_mhz = 0;          // maximum
  int memory_clock_mhz = 0;      // maximum
  int64_t l2_bytes = 0;          // of L2
  int64_t memory_bytes = 0;      // of global memory
  int shared_bytes_per_sm = 0;   // of an SM
  int shared_bytes_per_cta = 0;  // that a CTA may ask for
  int driver_version = 0;        // 13000 is CUDA 13.0
};
// Whether there is a device that kernels run on; if not, why.
struct Availability {
  std::string reason;                // why there is no device to use; empty when there is one
  std::vector<DeviceFacts> devices;  // that the driver names
  // There is a device that kernels run on.
  bool usable() const { return reason.empty(); }
};
// Sizes of a grid, block or cluster.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;  // sizes along the axes
  // Their product.
  uint64_t count() const { return uint64_t{x} * y * z; }
};
// Grid, block, cluster and shared memory of a launch.
struct LaunchShape {
  Dim3 grid;                          // in CTAs
  Dim3 block;                         // in threads
  std::optional<Dim3> cluster;        // in CTAs; none: no cluster
  uint32_t dynamic_shared_bytes = 0;  // beside what the kernel declares
  // The next kernel may start before this stream's previous one has ended (griddepcontrol).
  bool programmatic_serialization = false;
};

// Kernel parameters in order, each a copy of its bytes.
class Arguments {
 public:
  // The next parameter, as its bytes.
  template <class T>
  Arguments& add(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add_bytes(std::as_bytes(std::span(&value, 1)));
  }
  Arguments& add_bytes(std::span<const std::byte> bytes);  // the next parameter, as bytes
  // Parameters so far.
  size_t count() const { return places_.size(); }
  // Of parameter i.
  size_t bytes(size_t i) const { return places_[i].bytes; }
  std::vector<void*> pointers() const;  // as cuLaunchKernel takes them

 private:
  struct alignas(128) Block {  // as a tensor map requires
    std::byte bytes[128];
  };
  struct Place {
    size_t block, bytes;
  };
  std::vector<Block> blocks_;
  std::vector<Place> places_;
};

class Session;  // a driver, a device, its context

// Device memory; freed with the object.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  ~Buffer();
  // Of the device.
  uint64_t address() const { return address_; }
  // Its size.
  size_t bytes() const { return bytes_; }
  Result<void> upload(std::span<const std::byte> from, size_t offset = 0);  // from the host; synchronous
  Result<void> download(std::span<std::byte> to, size_t offset = 0) const;  // to the host; synchronous
  Result<void> fill(uint8_t value);                                         // every byte

 private:
  friend class Device;
  Buffer(std::shared_ptr<Session> session, uint64_t address, size_t bytes);
  Result<void> check_range(size_t offset, size_t bytes, std::string_view verb) const;
  std::shared_ptr<Session> session_;
  uint64_t address_ = 0;
  size_t bytes_ = 0;
};
// What the driver says of a compiled entry: cuFuncGetAttribute.
struct FunctionAttributes {
  int registers = 0;                 // of a thread
  int local_bytes = 0;               // stack and spills, per thread
  int static_shared_bytes = 0;       // declared by the kernel
  int const_bytes = 0;               // of constant memory
  int max_threads_per_cta = 0;       // with its registers
  int max_dynamic_shared_bytes = 0;  // with the attribute set
  int binary_version = 0;            // 90 for sm_90
};

struct LoadedModule;
struct KernelState;  // the driver's attributes of a kernel, queried once

// A kernel; keeps its module loaded.
class Function {
 public:
  // Of the .entry.
  const std::string& name() const { return name_; }
  Result<FunctionAttributes> attributes() const;  // as the driver gives them
  // Enqueues; errors of the kernel itself come from Device::wait. Checks what can be checked first:
  // sizes of parameters, shared memory, cluster.
  Result<void> launch(const LaunchShape& shape, const Arguments& arguments) const;

 private:
  friend class Module;
  Function(std::shared_ptr<LoadedModule> module, driver::Function handle, std::string name);
  Result<void> check_parameters(const Arguments& arguments) const;
  Result<void> allow(const LaunchShape& shape) const;
  std::shared_ptr<LoadedModule> module_;
  driver::Function handle_ = nullptr;
  std::string name_;
  std::shared_ptr<KernelState> state_;
};

struct GlobalVariable {  // a .global or .const variable of a module, on the device
  uint64_t address = 0;  // of the device
  size_t bytes = 0;      // its size
};

class Module {  // PTX that the driver has compiled and loaded
 public:
  Result<Function> function(const std::string& entry) const;     // an .entry by name
  Result<GlobalVariable> global(const std::string& name) const;  // a .global or .const variable by name
  const std::string& info_log() const;                           // what the driver's compiler said
  // Empty for a module that came from the driver's compilation cache.
  std::optional<ResourceUse> resource_use(std::string_view entry) const;

 private:
  friend class Device;
  explicit Module(std::shared_ptr<LoadedModule> module) : module_(std::move(module)) {}
  std::shared_ptr<LoadedModule> module_;
};
// The options of the driver's compiler.
struct ModuleOptions {
  int max_registers = 0;   // 0: as the PTX says
  bool line_info = false;  // keep .loc lines, for profilers
};
// When waiting for a device ends.
struct WaitOptions {
  std::optional<std::chrono::milliseconds> limit;  // none: for ever
  const std::atomic<bool>* stop = nullptr;         // polled; true ends the wait as the limit does
};
// How often a Timing repeats.
struct TimingOptions {
  int warmups = 3;        // runs that are not counted
  int repeats = 20;       // runs that are
  bool flush_l2 = false;  // overwrite twice the L2's size before each repeat
  WaitOptions wait;       // for the warm-ups, and again for all repeats
};
// Times of repeated runs, in microseconds.
struct Timing {
  double median_us = 0, min_us = 0, max_us = 0;  // of the repeats
  std::vector<double> samples_us;                // each repeat, in order
};
// A tensor map as the driver has encoded it.
struct TensorMapHandle {
  driver::OpaqueTensorMap opaque;  // what a kernel takes as its .param of 128 bytes
};

class Device {  // a GPU, through the CUDA driver that is loaded at run time; failures are values: PLD8xxx
 public:
  // Whether and why not a device can be used; never fails, for `palladion doctor`.
  static Availability available(const std::string& library = driver::default_library);
  static Result<Device> open(int ordinal = 0, const std::string& library = driver::default_library);

  const DeviceFacts& facts() const;  // what is known of it
  // Compiles PTX with the driver's compiler.
  Result<Module> load(std::string_view ptx, const ModuleOptions& options = {}) const;
  Result<Buffer> allocate(size_t bytes) const;                      // global memory, freed with the Buffer
  Result<TensorMapHandle> encode(const isa::TensorMap& map) const;  // a tensor map, by the driver

  // Waits for all that was launched; device-side printf appears. Without a limit it can wait forever.
  // After PLD8006 and PLD8007 the device is lost to this process; after PLD8007 the kernel still runs, and
  // the process ends with std::_Exit, since the driver's own end waits for it.
  Result<void> wait(const WaitOptions& options = {}) const;

  // Runs `work`, which launches, and measures each run between two events. All repeats are enqueued
  // without waiting, so the time of a kernel shorter than the host's launch (about 5 us) holds some of
  // that too.
  Result<Timing> time(const std::function<Result<void>()>& work, const TimingOptions& options = {}) const;

 private:
  explicit Device(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  std::shared_ptr<Session> session_;
};

}  // namespace palladion::cuda::native
