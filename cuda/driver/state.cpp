#include "cuda/driver/state.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "isa/core/symbol_name.h"
#include "report/json/findings_json.h"
#include "report/text/finding_text.h"
#include "sim/check/core/merge.h"

namespace palladion::cuda::driver {

namespace json = report::json;

namespace {

// Memory of this process. What is not of the device is the host's.
bool is_mapped(sim::Address address) {
  constexpr uint64_t page = 4096;
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address & ~(page - 1)), page, &resident) == 0;
}

}  // namespace

Settings settings_of(const char* text) {
  Settings s;
  if (text == nullptr) return s;
  std::string_view rest = text;
  const auto number = [](std::string_view word, auto& into) {
    std::from_chars(word.data(), word.data() + word.size(), into);
  };
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = pair.substr(0, equals), value = pair.substr(equals + 1);
    if (key == "arch") s.arch = value;
    if (key == "schedule") s.schedule = value;
    if (key == "check") s.check = value;
    if (key == "schedules") s.schedules = value;
    if (key == "json") s.json = value;
    if (key == "threads") number(value, s.threads);
    if (key == "max") number(value, s.max_instructions);
    if (key == "report") number(value, s.report_fd);
    if (key == "quiet") s.quiet = value == "1";
    if (key == "fmad") s.fmad = value != "0";
  }
  return s;
}

State::State() : settings(settings_of(std::getenv("PALLADION_EXEC"))) {
  arch = isa::find_arch(settings.arch);
  if (arch == nullptr) arch = &isa::default_arch();
  machine = std::make_unique<sim::Machine>(*arch);
  machine->memory().know_host(is_mapped);
}

// Never destroyed: the program's own runtime library calls us while the process ends.
State& state() {
  static auto* const all = new State;
  return *all;
}

Block* State::block_of(Pointer p) {
  auto after = blocks.upper_bound(p);
  if (after == blocks.begin()) return nullptr;
  Block& b = std::prev(after)->second;
  return p < b.base + std::max<size_t>(b.size, 1) ? &b : nullptr;
}

Status unsupported(const std::string& what) {
  State& s = state();
  const Guard guard(s.lock);
  if (s.missing[what]++ == 0) fmt::print(stderr, "palladion exec: unsupported: {}\n", what);
  return not_supported;
}

void show_printed() {
  State& s = state();
  const Guard guard(s.lock);
  if (s.printed.empty()) return;
  std::fwrite(s.printed.data(), 1, s.printed.size(), stdout);
  s.printed.clear();
}

namespace {

json::array dim_json(const isa::Dim3& d) { return {d.x, d.y, d.z}; }

json::object launch_json(const LaunchRecord& l) {
  return {{"kernel", report::named_json(l.kernel)},
          {"grid", dim_json(l.grid)},
          {"block", dim_json(l.block)},
          {"launches", l.launches},
          {"findings", l.findings},
          {"instructions", l.instructions},
          {"cycles", l.cycles},
          {"microseconds", l.microseconds},
          {"judged", l.judged ? json::value(text_of(*l.judged)) : json::value("not checked")},
          {"host_seconds", l.seconds}};
}

// Of the program's own schedule, and of others.
void add_findings(const State& s, const LaunchRecord& l, std::vector<verify::SeenFinding>& all) {
  const auto seen = with_others(l.found, s.settings.schedule, l.judged.value_or(Judged{}));
  all.insert(all.end(), seen.begin(), seen.end());
}

json::array findings_json(const State& s) {
  std::vector<verify::SeenFinding> all;
  for (const sim::Finding& f : s.host_findings) all.push_back({f, {s.settings.schedule}, {}, {}});
  for (const LaunchRecord& l : s.launches) add_findings(s, l, all);
  return report::findings_json(all);
}

void write_json(const State& s) {
  const auto missing = [](const auto& call) {
    return json::object{{"call", call.first}, {"count", call.second}};
  };
  std::ofstream out(s.settings.json);
  out << report::json_text(json::object{{"format", "palladion exec 2"},
                                        {"arch", s.arch->name},
                                        {"schedule", s.settings.schedule},
                                        {"errors", s.errors},
                                        {"launches", report::array_of(s.launches, launch_json)},
                                        {"findings", findings_json(s)},
                                        {"unsupported", report::array_of(s.missing, missing)}});
  if (!out.flush()) fmt::print(stderr, "palladion exec: {} cannot be written\n", s.settings.json);
}

// What is no mistake by itself is said once, for all launches.
void tell_remarks(const State& s) {
  std::vector<sim::Finding> all;
  for (const LaunchRecord& l : s.launches)
    std::ranges::copy_if(l.found, std::back_inserter(all), sim::check::is_remark);
  for (const sim::Finding& f : sim::check::merge(std::move(all)))
    fmt::print(stderr, "{}\n", report::finding_text(f));
}

// What `palladion exec` reads: "k" when a kernel was launched, "e" when a launch had an error.
bool tell_program(const State& s) {
  const std::string told = std::string(s.launches.empty() ? "" : "k") + (s.errors != 0 ? "e" : "");
  const int pipe = s.settings.report_fd;
  return pipe < 0 || ::write(pipe, told.data(), told.size()) == static_cast<ssize_t>(told.size());
}

__attribute__((destructor)) void at_end() { report(); }

}  // namespace

void report() {
  State& s = state();
  const Guard guard(s.lock);
  if (!s.initialised) return;
  show_printed();
  std::fflush(stdout);
  if (!s.settings.json.empty()) write_json(s);
  if (!tell_program(s)) return;
  if (s.settings.quiet || (s.launches.empty() && s.missing.empty())) return;
  tell_remarks(s);
  const bool timed = s.settings.schedule.starts_with("hardware");
  fmt::print(stderr, "launches on a simulated {}, schedule {}, checks {}\n", s.arch->name,
             s.settings.schedule, s.settings.check);
  fmt::print(stderr, "  {:>8} {:>8} {:>12} {:>12} {:>10}  {:<16} {:<14} {:<26} {}\n", "launches", "findings",
             "instructions", timed ? "cycles" : "", timed ? "us" : "host s", "grid", "block", "judged",
             "kernel");
  for (const LaunchRecord& l : s.launches)
    fmt::print(stderr, "  {:>8} {:>8} {:>12} {:>12} {:>10.3f}  {:<16} {:<14} {:<26} {}\n", l.launches,
               l.findings, l.instructions, timed ? std::to_string(l.cycles) : "",
               timed ? l.microseconds : l.seconds, fmt::format("{}x{}x{}", l.grid.x, l.grid.y, l.grid.z),
               fmt::format("{}x{}x{}", l.block.x, l.block.y, l.block.z),
               l.judged ? text_of(*l.judged) : "not checked", isa::readable_name(l.kernel));
  for (const auto& [name, count] : s.missing)
    fmt::print(stderr, "  unsupported: {}, {} times\n", name, count);
}

}  // namespace palladion::cuda::driver

PLD_CUDA palladion_exec_unsupported(const char* what) { return palladion::cuda::driver::unsupported(what); }
