// The verdict for other programs and for the page.
#include <fmt/format.h>

#include "bench/clock/report.h"
#include "cli/support/json.h"

namespace palladion::bench {
namespace {

void write_side(cli::JsonWriter& json, std::string_view name, const Measured& device,
                const Replayed& simulated) {
  json.key(name).begin_object().member("device", device.cycles).member("spread", device.spread);
  json.member("sm_clock_mhz", device.mhz);
  if (simulated.clock.cycles > 0) {
    json.member("simulated", simulated.clock.cycles);
    json.member("error", relative_error(static_cast<double>(simulated.clock.cycles), device.cycles));
  } else {
    json.member("refused", simulated.refused);
  }
  json.member("host_seconds", simulated.seconds).end_object();
}

void write_case(cli::JsonWriter& json, const Judged& j) {
  json.begin_object().member("case", j.text).member("kernel", j.family).member("values", j.cold.values);
  write_side(json, "cold", j.device.cold, j.cold);
  write_side(json, "warm", j.device.warm, j.warm);
  json.key("counters").begin_object();
  for (const CounterPair& p : counters(j.device, j.cold.clock.counters)) {
    json.key(p.name).begin_object();
    if (p.device) json.member("device", *p.device);
    json.member("simulated", p.simulated).end_object();
  }
  json.end_object().end_object();
}

void write_cases(cli::JsonWriter& json, std::string_view name, const std::vector<Judged>& cases) {
  json.key(name).begin_array();
  for (const Judged& j : cases) write_case(json, j);
  json.end_array();
}

void write_summary(cli::JsonWriter& json, const std::string& name, const ErrorSummary& s) {
  json.key(name).begin_object().member("cases", s.cases).member("mean", s.mean).member("median", s.median);
  json.member("p95", s.p95).member("worst", s.worst).end_object();
}

std::string cells(const ErrorSummary& s) {
  if (s.cases == 0) return " - | - | - | - |";
  return fmt::format(" {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % |", 100 * s.mean, 100 * s.median,
                     100 * s.p95, 100 * s.worst);
}

std::string cycles_cells(const Measured& device, const Replayed& r) {
  if (r.clock.cycles == 0) return fmt::format(" {:.0f} | - | - |", device.cycles);
  const double error = relative_error(static_cast<double>(r.clock.cycles), device.cycles);
  return fmt::format(" {:.0f} | {} | {:+.1f} % |", device.cycles, r.clock.cycles, 100 * error);
}

std::string case_table(const std::vector<Judged>& cases) {
  std::string out =
      "| case | MHz | device, cold | machine | error | device, warm | machine | error |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Judged& j : cases)
    out += fmt::format("| `{}` | {:.0f} |{}{}\n", j.text, j.device.cold.mhz,
                       cycles_cells(j.device.cold, j.cold), cycles_cells(j.device.warm, j.warm));
  return out;
}

std::string family_table(const std::vector<Judged>& cases) {
  std::string out =
      "| kernel | runs | mean | median | p95 | worst | cold: mean | median | p95 | worst |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Family& f : families(cases))
    out += fmt::format("| {} | {} |{}{}\n", f.name, f.both.cases, cells(f.both), cells(f.cold));
  return out;
}

std::string counter_table(const std::vector<Judged>& cases) {
  std::string out =
      "| counter | from | cases | mean | median | p95 | worst |\n|---|---|---|---|---|---|---|\n";
  for (const CounterErrors& c : counter_errors(cases))
    out += fmt::format("| `{}` | {:.0g} | {} |{}\n", c.name, c.least, c.errors.cases, cells(c.errors));
  return out;
}

std::string sweep_paragraph(const std::vector<Judged>& sweep, sim::L2Start l2, std::string_view cache) {
  const SweepVerdict s = judge_sweep(sweep, l2);
  if (s.device_best.empty()) return "";
  return fmt::format(
      "- {}: best on the device `{}`; the clock chooses `{}`, which loses {:.1f} %. Rank correlation "
      "{:.3f}.\n",
      cache, s.device_best, s.simulated_best, 100 * s.lost, s.correlation);
}

}  // namespace

std::string json_of(const Verdict& v) {
  cli::JsonWriter json;
  json.begin_object().member("recorded_sm_clock", v.recorded_clock);
  json.key("families").begin_object();
  for (const Family& f : families(v.cases)) write_summary(json, f.name, f.both);
  json.end_object();
  json.key("counters").begin_object();
  for (const CounterErrors& c : counter_errors(v.cases)) write_summary(json, c.name, c.errors);
  json.end_object();
  write_cases(json, "cases", v.cases);
  write_cases(json, "sweep", v.sweep);
  return json.end_object().text();
}

std::string markdown_of(const Verdict& v) {
  std::string out = fmt::format(
      "# The clock against an H200\n\n"
      "Written by `bench_clock` from `traces/device/h200.csv`. Nothing in the clock is fitted to these "
      "cases: its numbers come from\n"
      "the microbenchmarks of `bench/device` alone. Cycles are `sm__cycles_elapsed.max`. SM clock given to "
      "the machine: {}.\n"
      "Errors are of the machine's cycles over the device's; summaries are of absolute errors.\n\n",
      v.recorded_clock ? "the one that the chip had during the case (it lowers it under load)"
                       : "that of the architecture's parameters");
  out += "## By kernel\n\n" + family_table(v.cases);
  out += "\n## Counters, cold\n\nCases in which the device counts less than `from` are left out.\n\n" +
         counter_table(v.cases);
  out += "\n## Every case\n\n" + case_table(v.cases);
  if (v.sweep.empty()) return out;
  out += "\n## Which configuration is best\n\n" + sweep_paragraph(v.sweep, sim::L2Start::cold, "Cold");
  out += sweep_paragraph(v.sweep, sim::L2Start::warm, "Warm");
  return out + "\n" + case_table(v.sweep);
}

}  // namespace palladion::bench
