// The report of a run for programs, and the members that other reports have as well.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/json/document.h"
#include "report/run/launched.h"
#include "report/run/run.h"

namespace palladion::report {

// Two runs of the same thing differ in the member "wall" alone.
std::string run_json(const Launched& launched, const Report& report);

json::object launched_json(const Launched& launched);  // its members: every report has them
json::array outputs_json(const Job& job, const std::vector<Array>& outputs);
json::object comparison_json(const verify::OutputComparison& named, std::string_view schedule = {});
json::object coverage_json(const Watched& watched);
json::object verdict_json(const Verdict& verdict);  // its word, its reason, for what it holds
json::object time_json(const TimeReport& time);     // the member "clock"

}  // namespace palladion::report
