#pragma once
// The author's scopes (plgpu::profile_scope), as they were measured in the machine or on a device, and the
// files that keep those of a device.
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "traces/model.h"

namespace palladion::traces {

struct Scope {
  std::string name;
  uint64_t from = 0, to = 0;  // SM cycles
};

// Of one warpgroup.
struct ScopeLane {
  uint64_t cta = 0;  // linear id in the grid
  uint32_t warpgroup = 0, sm = 0;
  uint64_t lost = 0;          // events that found no room
  std::vector<Scope> scopes;  // in the order of their ends; scopes may be nested
};

// Times count from the start of the first warpgroup that is recorded.
struct ScopeTimes {
  std::string what;  // "NVIDIA H200, driver 12080"
  std::string kernel;
  double sm_clock_mhz = 0;
  std::vector<ScopeLane> lanes;
};

// Of one run.
struct RunScopes {
  ScopeTimes times;
  uint64_t start = 0;  // %clock64 at the first warpgroup's start: time 0 of the scopes
  uint64_t lost = 0;   // events for which the buffer had no room
};

// One line each, words apart by blanks, `#` a comment:
//   what NVIDIA H200, driver 12080
//   kernel matmul_ws m=512 n=512 k=512
//   sm_clock_mhz 1980
//   lane CTA WARPGROUP SM [LOST]
//   scope FROM TO NAME          of the lane above
std::string to_text(const ScopeTimes& times);
// An Error names the line.
tl::expected<ScopeTimes, std::string> scopes_from(std::string_view text);

// Adds a process with a track for each warpgroup of the CTAs first..last. `place` distinguishes processes,
// `shift` is added to all times. False when the sink is full.
bool add_scopes(Sink& sink, const ScopeTimes& times, const Track& process, uint64_t first, uint64_t last,
                uint64_t shift);

// "main loop 8123 here, 8050 there": mean cycles of a scope by name and warpgroup, on both sides.
std::string compare_scopes(const ScopeTimes& simulated, const ScopeTimes& device);

}  // namespace palladion::traces
