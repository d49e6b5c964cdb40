#include "cli/options/clock_settings.h"

#include <fmt/format.h>

#include "cli/support/program_name.h"
#include "isa/arch/arch.h"
#include "isa/host/files.h"
#include "isa/host/units.h"
#include "verify/arrays/arrays.h"

namespace palladion::cli {
namespace {

Outcome<isa::ClockParameters> read_parameters(const std::string& file) {
  const auto text = read_text(file, most_of_settings);
  if (!text) return user_error(text.error());
  auto parsed = isa::ClockParameters::parse(*text, file);
  if (!parsed) return failure_of(parsed.error());
  return std::move(*parsed);
}

Outcome<isa::ClockParameters> parameters_of(const std::string& file, const isa::ArchSpec& arch) {
  if (!file.empty()) return read_parameters(file);
  if (const isa::ClockParameters* known = isa::find_clock(arch.name)) return *known;
  return unsupported(fmt::format("no clock is known for {}", arch.name),
                     fmt::format("--clock FILE brings its parameters; `{} list h200` shows those of an H200",
                                 program_name()));
}

Outcome<double> frequency_in(const std::string& text) {
  const auto mhz = megahertz_in(text);
  if (mhz && *mhz > 0 && *mhz < 1e6) return *mhz;
  return user_error(fmt::format("--sm-clock is a frequency above 0 and below 1000000 MHz, not `{}`", text));
}

}  // namespace

void ClockSettings::apply(sim::RunOptions& run) const {
  run.l2 = l2;
  run.values = values;
  run.parameters = &parameters;
}

void ClockWords::state(Words& words) {
  words.word("--l2", l2, {{"cold", sim::L2Start::cold}, {"warm", sim::L2Start::warm}},
             "contents of L2 at the start: cold (none), warm (those that a previous run left)");
  words.parsed("--sm-clock", sm_clock, frequency_in, "SM clock in MHz (default: the architecture's)",
               "FLOAT");
  words.text("--clock", clock, "a file of clock parameters instead of the architecture's", Value::input);
  words
      .text("--registers", registers,
            "registers a thread, which limit the CTAs of an SM: estimate (the default: cycles are the same "
            "on every host), ptxas (of the CUDA toolkit on this host), or a number")
      .one_of({"estimate", "ptxas"});
}

void ClockWords::state_values(Words& words) {
  words.word("--values", values, {{"full", sim::Values::full}, {"none", sim::Values::none}},
             "full, or none: the clock without the arrays' contents, much faster");
}

tl::unexpected<Failure> needs_clock(std::string_view option) {
  return user_error(fmt::format("{} needs the clock", option), "it belongs to `--schedule hardware`");
}

Outcome<void> ClockWords::refuse() const {
  const std::pair<std::string_view, bool> given[] = {{"--l2", l2.has_value()},
                                                     {"--clock", !clock.empty()},
                                                     {"--sm-clock", sm_clock.has_value()},
                                                     {"--registers", !registers.empty()},
                                                     {"--values none", values == sim::Values::none}};
  for (const auto& [option, is_given] : given)
    if (is_given) return needs_clock(option);
  return {};
}

Outcome<ClockSettings> ClockWords::settings(const isa::ArchSpec& arch) const {
  auto parameters = parameters_of(clock, arch);
  if (!parameters) return tl::make_unexpected(parameters.error());
  const auto wanted = registers_named(registers, arch);
  if (!wanted) return tl::make_unexpected(wanted.error());
  ClockSettings s{.l2 = l2.value_or(sim::L2Start::cold),
                  .values = values,
                  .parameters = std::move(*parameters),
                  .registers = *wanted};
  if (sm_clock) s.parameters.sm_clock = *sm_clock;
  return s;
}

uint64_t hash(const isa::ClockParameters& p) {
  std::vector<double> values;
  for (const isa::ClockField& field : isa::clock_fields()) values.push_back(p.*field.member);
  for (const isa::OpCost& op : p.ops)
    values.insert(values.end(), {op.slots, op.interval, op.latency, op.held});
  if (p.absent != 0) values.push_back(p.absent);
  return palladion::hash(std::as_bytes(std::span(values)));
}

}  // namespace palladion::cli
