#pragma once
// Runs a job on a simulated machine or on a device. Inputs are bound to the machine without a copy: a
// kernel that writes to its input changes the job's array.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/native/device.h"
#include "sim/machine.h"
#include "verify/launch/job.h"

namespace palladion {

struct SimOutcome {  // what a run on the machine gave
  // Of the out and inout buffers, in order; as far as they were written. None without values.
  std::vector<Array> outputs;
  std::vector<std::byte> profile;  // of the buffer with this role; empty: there is none
  sim::RunResult result;
  double seconds = 0;  // wall time of the run alone
};
SimOutcome run(Job& job, sim::Machine& machine, const sim::RunOptions& options = {});

// A job that is paused at a quantum boundary: it can be snapshotted and restored. Job and
// machine must outlive it.
class HeldJob {
 public:
  HeldJob(Job& job, sim::Machine& machine, const sim::RunOptions& options = {});
  ~HeldJob();
  HeldJob(HeldJob&&) noexcept;
  HeldJob& operator=(HeldJob&&) noexcept;

  sim::Run& run();  // the run, to go on with
  // Of the out and inout buffers, as they are now.
  std::vector<Array> outputs() const;
  // Takes arrays and result away: the job is not to be used any more.
  SimOutcome finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// For programs: records are kept by the caller, arrays are passed in and returned.
SimOutcome run(const plgpu::Kernel& kernel, std::vector<Array> inputs, sim::Machine& machine,
               const sim::RunOptions& options = {});

// Arrays of the types that the kernel takes, without contents: for runs without values (sim::Values::none),
// which need none.
std::vector<Array> blank_inputs(const plgpu::Kernel& kernel);
// How a job is run on a device.
struct DeviceOptions {
  int repeats = 20;                         // timed runs after the one whose results count; 0: none
  int warmups = 3;                          // runs that are not counted
  std::chrono::milliseconds limit{10'000};  // for the first run; each timed run may take as long
  const std::atomic<bool>* stop = nullptr;  // polled while a kernel runs
};
// What a run on a device gave.
struct DeviceOutcome {
  isa::Diagnostics errors;         // nothing was returned
  bool still_runs = false;         // cuda::native::Code::kernel_timed_out: end the process with std::_Exit
  std::vector<Array> outputs;      // in order
  std::vector<std::byte> profile;  // of the run whose results count
  cuda::native::FunctionAttributes attributes;  // as the driver gives them
  std::optional<cuda::native::Timing> timing;   // none without repeats
  std::string jit_log;                          // what the driver's compiler said
};
// On a device, timed. Error: the driver's, or the time limit.
DeviceOutcome run(const Job& job, const cuda::native::Device& device, const DeviceOptions& options = {});
// The same of a recorded kernel with its inputs.
DeviceOutcome run(const plgpu::Kernel& kernel, std::vector<Array> inputs, const cuda::native::Device& device,
                  const DeviceOptions& options = {});

// What the device is given: the job's text or the printed module, with the author's lines.
std::string ptx_of(const Job& job);

}  // namespace palladion
