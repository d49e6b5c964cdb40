#include "cli/options/trace_request.h"

#include <fmt/format.h>

namespace palladion::cli {
namespace {

Outcome<std::string> trace_file(const std::string& text) {
  if (traces::known_extension(text)) return text;
  return user_error(fmt::format("--trace {}: a trace is one of {}", text, traces::extensions));
}

Outcome<traces::CtaChoice> ctas_in(const std::string& text) {
  if (const auto choice = traces::cta_choice(text)) return *choice;
  return user_error(fmt::format("--trace-ctas {}: no such choice of CTAs", text),
                    "all, or CTAs by their number in the grid: 7 or 0..3, or SMs: sm:0 or sm:0..1");
}

Outcome<traces::Window> window_in(const std::string& text) {
  if (const auto range = traces::range_of(text)) return traces::Window{range->first, range->last};
  return user_error(fmt::format("--trace-cycles {}: expected FIRST..LAST", text));
}

}  // namespace

traces::RecorderOptions TraceRequest::recorder(traces::TimeUnit unit) const {
  traces::RecorderOptions options;
  if (ctas) options.ctas = *ctas;
  if (window) options.window = *window;
  options.unit = unit;
  return options;
}

void state_trace(Words& words, TraceRequest& request, Value scopes) {
  words
      .parsed("--trace", request.file, trace_file,
              "a file for a timeline; its extension is the format: .pftrace (opens in ui.perfetto.dev), "
              ".jsonl, .txt; under a schedule without a clock its times are instructions")
      .value = Value::output;
  words.parsed("--trace-ctas", request.ctas, ctas_in,
               "CTAs of the timeline of --trace and --report: sm:0 (those that run on SM 0), 0..3 (numbers "
               "in the grid), all");
  words.parsed("--trace-cycles", request.window, window_in,
               "cycles of the timeline of --trace and --report: 12000..14000");
  words.text("--device-trace", scopes == Value::input ? request.read_scopes : request.write_scopes,
             "a file of a device's scopes: `run --on device` writes it, `compare --trace` reads it and needs "
             "no device",
             scopes);
  words
      .bytes("--trace-limit", request.limit, 0,
             "bytes of the timeline's file (2 GiB); a longer trace is complete up to that size")
      .type = "TEXT";
}

}  // namespace palladion::cli
