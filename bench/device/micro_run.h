#pragma once
// Runs a microbenchmark on a device or in the machine.
#include <tl/expected.hpp>

#include "bench/device/micro.h"
#include "cuda/native/device.h"
#include "sim/machine.h"

namespace palladion::bench {

struct Reading {
  double median = 0, min = 0, max = 0;
};

// The contents of a case's data buffer when it stands at `base`.
std::vector<uint8_t> contents(const Data& data, uint64_t base);

// Keeps one big buffer of random bytes for all cases: filling it takes longer than most of them.
class DeviceBench {
 public:
  // `samples`: a folder for the samples of each case, 32-bit words; empty: they are not kept.
  explicit DeviceBench(const cuda::native::Device& device, std::string samples = {})
      : device_(&device), samples_(std::move(samples)) {}
  cuda::native::Result<Reading> run(const Case& c, int repeats = 7);

 private:
  cuda::native::Result<uint64_t> place(const Data& data);
  cuda::native::Result<double> once(const Case& c, const cuda::native::Function& function, uint64_t data,
                                    uint32_t n);
  const cuda::native::Device* device_;
  std::string samples_;
  cuda::native::Buffer random_, own_, out_, flush_;
};

struct MachineReading {
  double value = 0;
  std::string problem;  // empty when the runs were clean
  uint64_t instructions = 0;
};
MachineReading run_in_machine(const Case& c, const isa::ArchSpec& arch, const sim::RunOptions& options);

}  // namespace palladion::bench
