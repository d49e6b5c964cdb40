// What a page records of a run: its timeline, in memory, and what its memory looks like.
#pragma once

#include <array>

#include "report/html/memory_probe.h"
#include "report/html/page.h"
#include "traces/columns.h"
#include "traces/recorder.h"
#include "traces/scopes.h"

namespace palladion::report {

class PageRecording {
 public:
  // Bytes of the timeline: it ends there, and the page says so.
  static constexpr uint64_t timeline_limit = 12'000'000;

  PageRecording(traces::Header header, traces::RecorderOptions options);
  std::array<sim::Observer*, 2> observers() { return {&recorder_, &memory_}; }
  // After the run. `scopes`: of the kernel itself; may be null.
  void finish(const traces::RunScopes* scopes);

  // The page's parts that come of the run; title and report are the caller's.
  PageParts parts() const;
  uint64_t events() const { return recorder_.events(); }

 private:
  traces::RecorderOptions options_;
  traces::ColumnSink sink_;
  traces::Recorder recorder_;
  MemoryProbe memory_;
};

}  // namespace palladion::report
