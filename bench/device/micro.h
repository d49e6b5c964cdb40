#pragma once
// A microbenchmark: one kernel that isolates one parameter of the chip, and how its stamps become a number.
// The same kernel runs on a device and in the machine.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/device/micro_text.h"
#include "isa/core/module.h"
#include "isa/formats/tensor_map.h"

namespace palladion::bench {

// What a launch left behind: a stamp for every warp of the grid, and
// what else the kernel wrote behind the stamps.
struct Outcome {
  std::span<const Stamp> stamps;
  std::span<const uint32_t> samples;
};
using Measure = std::function<double(const Outcome&)>;

// Cycles from the first start to the last end of the timed warps, over CTAs the longest.
double longest(const Outcome& outcome);
// The same with the mean over CTAs.
double mean_of_ctas(const Outcome& outcome, int warps_per_cta);
Measure mean_over(int warps_per_cta);
// Of the first CTA, and of its first warps.
Measure first_cta(int warps);
// Cycles of one warp of the grid.
Measure warp(int index);
// What warp 0 left in %e0.
double extra(const Outcome& outcome);
// The quantile of the samples that are not 0.
Measure quantile(double share);

struct Data {
  enum class Kind : uint8_t {
    random,  // bytes
    chain,   // at every `stride` bytes a device address of another such place; visits all in random order
    zeros,
  };
  Kind kind = Kind::random;
  uint64_t bytes = 4096;  // the first 2 KiB must be there: the kernels read their constants there
  uint64_t stride = 128;  // chain
};

struct Case {
  std::string name;        // "pipe.fma.f32"
  std::string parameters;  // "warps=4 chains=8"
  std::string unit;        // "cycles/instruction"
  std::string text;        // PTX
  isa::Dim3 grid{1, 1, 1}, block{32, 1, 1}, cluster{1, 1, 1};
  uint32_t shared_bytes = 0;
  Data data;
  std::optional<isa::TensorMap> map;  // over the data; global_address is an offset
  // Two lengths of the loop; their difference is what the number is made of. With `shorter` = 0 the
  // number is the measure of one launch with `longer`.
  uint32_t shorter = 4, longer = 20;
  double operations = 1;      // in an iteration
  uint32_t sample_count = 0;  // 32-bit words behind the stamps; %samples points there
  bool needs_clock = false;   // means nothing under a schedule without time
  bool per_cycle = false;     // operations per cycle instead of cycles per operation
  bool elapsed = false;  // the number is that of the whole launch: sm__cycles_elapsed.max, by Nsight Compute
  bool values = true;    // in the machine: false where nothing depends on them and they would take long
  bool cold = false;     // L2 is emptied before each launch
  uint64_t output_bytes = 0;  // that the kernel writes to p_out, with `elapsed`, instead of stamps
  Measure measure = longest;

  std::string id() const { return parameters.empty() ? name : name + " " + parameters; }
};

std::vector<Case> pipe_cases();
std::vector<Case> shared_cases();
std::vector<Case> global_cases();
std::vector<Case> contention_cases();  // among them
std::vector<Case> fence_cases();       // and
std::vector<Case> update_cases();      // and
std::vector<Case> bandwidth_cases();
std::vector<Case> stream_cases();
std::vector<Case> tma_cases();
std::vector<Case> row_cases();
std::vector<Case> barrier_cases();
std::vector<Case> wgmma_cases();
std::vector<Case> port_cases();
std::vector<Case> ring_cases();
std::vector<Case> throttled_cases();
std::vector<Case> cluster_cases();
std::vector<Case> cluster_async_cases();  // among them
std::vector<Case> exchange_cases();       // and
std::vector<Case> launch_cases();
std::vector<Case> all_cases();

// MHz of the SM clock while warp 0 of such a launch is timed.
Case clock_during(Case c, std::string name);

// The number of the case from the measures of a short and a long run.
double value_of(const Case& c, double shorter, double longer);

}  // namespace palladion::bench
