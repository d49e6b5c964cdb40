// The page of one launch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "isa/arch/clock.h"
#include "report/html/recording.h"
#include "report/run/launched.h"
#include "report/run/run.h"

namespace palladion::report {

struct RunPage {
  Launched launched;
  std::string report;                        // the text of --json
  const PageRecording* recording = nullptr;  // of the run that is shown; null: there is none
  std::span<const SeenFinding> findings = {};
  std::span<const NamedComparison* const> comparisons = {};  // with error maps
  const isa::ClockParameters* clock = nullptr;  // of the run, for the roofline; null: it had none
  std::string folder = {};                      // paths below it are shown relative to it
  // The text of a source that the program or a finding names; nothing: it is not there, or has more bytes.
  std::function<std::optional<std::string>(const std::string& file, uint64_t most_bytes)> read_source = {};
};

std::string run_page(const RunPage& page);

}  // namespace palladion::report
