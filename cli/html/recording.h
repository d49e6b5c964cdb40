// What `--report` records of a run: its timeline, in memory, and what its memory looks like.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "cli/html/memory_probe.h"
#include "cli/html/page.h"
#include "cli/runs/scopes.h"
#include "cli/subjects/subject.h"
#include "sim/launch/finding.h"
#include "traces/columns.h"
#include "traces/recorder.h"

namespace palladion::cli {

class PageRecording {
 public:
  // Bytes of the timeline: it ends there, and the page says so.
  static constexpr uint64_t timeline_limit = 12'000'000;

  PageRecording(traces::Header header, traces::RecorderOptions options);
  std::array<sim::Observer*, 2> observers() { return {&recorder_, &memory_}; }
  // After the run. `scopes`: of the kernel itself; may be null.
  void finish(const RunScopes* scopes);

  // The page's parts that come of the run; title and report are the caller's.
  PageParts parts() const;
  uint64_t events() const { return recorder_.events(); }

 private:
  traces::RecorderOptions options_;
  traces::ColumnSink sink_;
  traces::Recorder recorder_;
  MemoryProbe memory_;
};

// {"files": {name: text}, "ptx": the name of the PTX's text, or ""}: the sources that the program and the
// findings name, as far as they can be read; `not_shown` are the others.
json::object sources_json(const Subject& subject, const json::object& recorded,
                          std::span<const sim::Finding* const> findings);
// The chip's rates, for the roofline, with the clock's under the hardware schedule.
json::object chip_json(const isa::ArchSpec& arch, const ClockSettings* clock);

}  // namespace palladion::cli
