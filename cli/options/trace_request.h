// --trace and what belongs to it: which part of a run is recorded, and where it is written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/options/words.h"
#include "traces/open.h"
#include "traces/recorder.h"

namespace palladion::cli {

struct TraceRequest {
  std::string file;                       // empty: none is written
  std::optional<traces::CtaChoice> ctas;  // also of --report
  std::optional<traces::Window> window;   // in cycles, also of --report
  std::optional<uint64_t> limit;          // bytes
  std::string read_scopes, write_scopes;  // files of a device's scopes

  traces::RecorderOptions recorder(traces::TimeUnit unit) const;
};

// `scopes`: whether --device-trace is read or written. State them in the order of the help.
void state_trace(Words& words, TraceRequest& request, Value scopes);

}  // namespace palladion::cli
