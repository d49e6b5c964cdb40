// The clock's report, made of a run.
#pragma once

#include <string>

#include "report/run/launched.h"
#include "report/run/time.h"

namespace palladion::report {

// `registers`: that the run was asked to count with.
TimeReport time_report(const Job& job, const isa::ArchSpec& arch, const Registers& registers, sim::L2Start l2,
                       sim::Values values, const sim::RunResult& result);

// Why there is no time: the machine's first error, else its first finding that ended the run. Empty: there is
// one.
struct NoTime {
  std::string code, reason;
};
NoTime why_no_time(const sim::RunResult& result);

}  // namespace palladion::report
