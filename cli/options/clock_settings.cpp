#include "cli/options/clock_settings.h"

#include <fmt/format.h>

#include "cli/options/registers.h"
#include "cli/support/files.h"
#include "cli/support/program_name.h"
#include "isa/arch/arch.h"
#include "verify/arrays/arrays.h"

namespace palladion::cli {
namespace {

constexpr std::string_view schedule_help = "it belongs to `--schedule hardware`";

Outcome<isa::ClockParameters> read_parameters(const std::string& file) {
  const auto text = read_text(file, most_of_settings);
  if (!text) return user_error(text.error());
  auto parsed = isa::ClockParameters::parse(*text, file);
  if (!parsed) return failure_of(parsed.error());
  return std::move(*parsed);
}

Outcome<isa::ClockParameters> parameters_of(const Options& o) {
  if (!o.clock.empty()) return read_parameters(o.clock);
  if (const isa::ClockParameters* known = isa::find_clock(o.arch)) return *known;
  return unsupported(fmt::format("no clock is known for {}", o.arch),
                     fmt::format("--clock FILE brings its parameters; `{} list h200` shows those of an H200",
                                 program_name()));
}

Outcome<void> refuse_without_clock(const Options& o) {
  const std::pair<std::string_view, bool> given[] = {{"--l2", !o.l2.empty()},
                                                     {"--clock", !o.clock.empty()},
                                                     {"--sm-clock", o.sm_clock.has_value()},
                                                     {"--registers", !o.registers.empty()},
                                                     {"--why", o.why},
                                                     {"--values none", o.values == "none"}};
  for (const auto& [option, is_given] : given)
    if (is_given) return user_error(fmt::format("{} needs the clock", option), std::string(schedule_help));
  return {};
}

Outcome<void> check_values(const Options& o) {
  if (o.values == "full") return {};
  if (o.values != "none") return user_error(fmt::format("--values is full or none, not `{}`", o.values));
  if (!o.out.empty()) return user_error("--out needs --values full: without values no output is computed");
  if (!o.check.empty() && o.check != "none")
    return user_error("--check needs --values full: checks need the computed values");
  if (o.on != "sim") return user_error("--values none runs on the simulator alone");
  return {};
}

}  // namespace

void ClockSettings::apply(sim::RunOptions& run) const {
  run.l2 = l2;
  run.values = values;
  run.parameters = &parameters;
}

bool on_hardware_schedule(const Options& o) {
  return o.schedule == "hardware" || o.schedule.starts_with("hardware,");
}

Outcome<void> check_clock_options(const Options& o) {
  if (const auto ok = check_values(o); !ok) return ok;
  if (!on_hardware_schedule(o)) return refuse_without_clock(o);
  if (!o.l2.empty() && o.l2 != "cold" && o.l2 != "warm")
    return user_error(fmt::format("--l2 is cold or warm, not `{}`", o.l2));
  if (o.sm_clock && !(*o.sm_clock > 0 && *o.sm_clock < 1e6))
    return user_error(
        fmt::format("--sm-clock is a frequency above 0 and below 1000000 MHz, not `{}`", *o.sm_clock));
  if (const auto settings = clock_settings(o); !settings) return tl::make_unexpected(settings.error());
  return check_registers(o);
}

Outcome<ClockSettings> clock_settings(const Options& o) {
  auto parameters = parameters_of(o);
  if (!parameters) return tl::make_unexpected(parameters.error());
  ClockSettings s;
  s.parameters = std::move(*parameters);
  if (o.sm_clock) s.parameters.sm_clock = *o.sm_clock;
  s.l2 = o.l2 == "warm" ? sim::L2Start::warm : sim::L2Start::cold;
  s.values = o.values == "none" ? sim::Values::none : sim::Values::full;
  return s;
}

std::string_view name(sim::L2Start l2) { return l2 == sim::L2Start::warm ? "warm" : "cold"; }
std::string_view name(sim::Values values) { return values == sim::Values::none ? "none" : "full"; }

uint64_t hash(const isa::ClockParameters& p) {
  std::vector<double> values;
  for (const isa::ClockField& field : isa::clock_fields()) values.push_back(p.*field.member);
  for (const isa::OpCost& op : p.ops)
    values.insert(values.end(), {op.slots, op.interval, op.latency, op.held});
  if (p.absent != 0) values.push_back(p.absent);
  return palladion::hash(std::as_bytes(std::span(values)));
}

}  // namespace palladion::cli
