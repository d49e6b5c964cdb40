#pragma once
// What happens is said to `palladion exec` when it happens (report/json/exec_record.h). Nothing is sent where
// no exec is.
#include "cuda/driver/state.h"

namespace palladion::cuda::driver {

void report_launches(const State& s, const LaunchRecord& row);
void report_findings(const State& s, const LaunchRecord& row);
void report_host_findings(const State& s);
void report_unsupported(const std::string& call, const Missing& missing);
void report_computed(const std::string& call, const Missing& counted);
void report_errors(const State& s);

}  // namespace palladion::cuda::driver
