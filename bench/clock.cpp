// How well does the clock predict an H200?
//   bench_clock [--json FILE] [--markdown FILE] [--only TEXT] ...      replays what was recorded, without a
//   GPU bench_clock --device CASES.txt [--repeat N] [--launches FILE]      launches, for a profiler to watch
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "bench/clock/launch_cases.h"
#include "bench/clock/report.h"
#include "isa/core/diagnostic.h"

using namespace palladion;

namespace {

struct Options {
  bench::LaunchOptions launch;
  bench::ValidationOptions validation;
  std::string cases = PLD_SOURCE_DIR "/bench/clock/cases.txt",
              sweep = PLD_SOURCE_DIR "/bench/clock/sweep.txt";
  std::string recorded = PLD_SOURCE_DIR "/traces/device/h200.csv";
  std::string json, markdown;
  bool cold_only = false, own_clock = false, no_sweep = false;
};

void declare(CLI::App& app, Options& o) {
  app.add_option("--device", o.launch.cases, "launch the cases of this file on a GPU");
  app.add_option("--repeat", o.launch.repeat, "launches of each case")->check(CLI::PositiveNumber);
  app.add_option("--launches", o.launch.launches, "file that says which launch was which case");
  app.add_option("--cases", o.cases, "cases to judge");
  app.add_option("--sweep", o.sweep, "configurations to rank");
  app.add_option("--recorded", o.recorded, "what the device did");
  app.add_option("--only", o.validation.only, "cases whose text contains this");
  app.add_option("--threads", o.validation.threads, "of the host; 0: all cores");
  app.add_option("--json", o.json, "all numbers, to this file");
  app.add_option("--markdown", o.markdown, "the page, to this file");
  app.add_flag("--cold", o.cold_only, "cold caches alone");
  app.add_flag("--own-clock", o.own_clock, "the SM clock of the parameters instead of the recorded one");
  app.add_flag("--no-sweep", o.no_sweep, "leave the ranking out");
}

void write(const std::string& path, const std::string& text) {
  if (!path.empty()) std::ofstream(path) << text;
}

void print_case(const bench::Judged& judged) {
  fmt::print("{}\n", bench::line_of(judged));
  std::fflush(stdout);
}

int validate(Options& o) {
  o.validation.warm = !o.cold_only;
  o.validation.recorded_clock = !o.own_clock;
  const auto recorded = bench::read_recorded(o.recorded);
  bench::Verdict verdict{.recorded_clock = o.validation.recorded_clock};
  fmt::print("{:>9} {:>9} {:>8}  {:>9} {:>9} {:>8}\n", "cold", "machine", "error", "warm", "machine",
             "error");
  verdict.cases = bench::judge(o.cases, recorded, o.validation, print_case);
  if (!o.no_sweep) verdict.sweep = bench::judge(o.sweep, recorded, o.validation, print_case);
  fmt::print("{}", bench::text_of(verdict));
  write(o.json, bench::json_of(verdict));
  write(o.markdown, bench::markdown_of(verdict));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The machine's clock against cycles that were measured on a device"};
  Options options;
  declare(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    if (!options.launch.cases.empty()) return bench::launch_cases(options.launch) == 0 ? 0 : 1;
    return validate(options);
  } catch (const isa::Error& e) {
    fmt::print(stderr, "{}", isa::render(e.diagnostics()));
    return 2;
  }
}
