// What is done with a launch: run, check, time.
#pragma once

#include <atomic>
#include <string>

#include "python/native/job.h"

namespace palladion::python {

// Set by palladion_stop.
extern std::atomic<bool> stopped;

// {"command": "run" or "check", "schedule": as --schedule, "checks": as --check, "threads",
// "max_instructions",
//  "fmad", "strict", "seed",
//  of the hardware schedule: "values": "full" or "none", "l2": "cold" or "warm", "why",
//  of check: "seeds", "explore",
//  "relative", "absolute": tolerance of the comparison with `wanted`, "page": make one}
// `outputs`, `wanted`: by array of the launch; null, or null for one: none.
Outcome<std::string> perform(LaunchedJob& launched, const Request& request, void* const* outputs,
                             const void* const* wanted);

}  // namespace palladion::python
