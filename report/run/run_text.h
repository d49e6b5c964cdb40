// The report of a run for people.
#pragma once

#include <string>
#include <vector>

#include "report/run/launched.h"
#include "report/run/run.h"
#include "report/text/finding_text.h"
#include "report/text/row.h"

namespace palladion::report {

struct RunView {
  FindingView findings;  // they go where errors go
  size_t lines = 10;     // of the source, of those that took most time
  bool color = false;    // of what is no finding
};

// A part of the text, with the stream that it belongs to.
struct Part {
  enum class To : uint8_t { out, err, out_as_is };  // out_as_is: bytes that the kernel printed
  To to = To::out;
  std::string text;
};
// In the order in which it is read on a terminal.
std::vector<Part> run_text(const Launched& launched, const Report& report, const RunView& view);

// ---- pieces that other reports have as well --------------------------------------------------------
// The title and the rows launch, in.
std::string launched_text(const Launched& launched);
// "equal bit by bit (262144 elements)", "3 of 64 elements differ, at most 2 ulps; first at [1,2]: ..."
std::string describe_comparison(const verify::OutputComparison& c);
std::string dims_text(const isa::Dim3& d);  // "132", "8x16", "2x2x2"
// "clean, decided for all schedules", "no findings, not decided for all schedules: 3 were tried", "incomplete
// (the run was interrupted)".
std::string verdict_text(const Verdict& verdict, bool color);
// "1.2 M accesses, 64 asynchronous operations, 128 mbarrier phases (100 % forced), 12 barrier generations"
std::string coverage_text(const sim::check::Coverage& coverage);

}  // namespace palladion::report
