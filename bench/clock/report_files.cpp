// The verdict for other programs and for the page.
#include <fmt/format.h>

#include "bench/clock/report.h"
#include "report/json/document.h"

namespace palladion::bench {
namespace {

namespace json = boost::json;

json::object side_json(const Measured& device, const Replayed& simulated) {
  json::object out = {{"device", device.cycles}, {"spread", device.spread}, {"sm_clock_mhz", device.mhz}};
  if (const uint64_t cycles = simulated.clock.cycles; cycles > 0)
    report::append(
        out, {{"simulated", cycles}, {"error", relative_error(static_cast<double>(cycles), device.cycles)}});
  else
    out.emplace("refused", simulated.refused);
  out.emplace("host_seconds", simulated.seconds);
  return out;
}

json::object case_json(const Judged& j) {
  json::object all;
  for (const CounterPair& p : counters(j.device, j.cold.clock.counters)) {
    json::object pair;
    if (p.device) pair.emplace("device", *p.device);
    pair.emplace("simulated", p.simulated);
    all.emplace(p.name, std::move(pair));
  }
  return {{"case", j.text},
          {"kernel", j.family},
          {"values", j.cold.values},
          {"cold", side_json(j.device.cold, j.cold)},
          {"warm", side_json(j.device.warm, j.warm)},
          {"counters", std::move(all)}};
}

json::object summary_json(const ErrorSummary& s) {
  return {{"cases", s.cases}, {"mean", s.mean}, {"median", s.median}, {"p95", s.p95}, {"worst", s.worst}};
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
  json::object of_families, of_counters;
  for (const Family& f : families(v.cases)) of_families.emplace(f.name, summary_json(f.both));
  for (const CounterErrors& c : counter_errors(v.cases)) of_counters.emplace(c.name, summary_json(c.errors));
  return report::json_text(json::object{{"recorded_sm_clock", v.recorded_clock},
                                        {"families", std::move(of_families)},
                                        {"counters", std::move(of_counters)},
                                        {"cases", report::array_of(v.cases, case_json)},
                                        {"sweep", report::array_of(v.sweep, case_json)}});
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
