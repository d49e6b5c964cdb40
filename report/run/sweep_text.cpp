#include "report/run/sweep_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/json/document.h"
#include "report/run/time_text.h"
#include "report/text/numbers.h"
#include "report/text/paint.h"
#include "report/text/row.h"

namespace palladion::report {
namespace {

using verify::Axis, verify::SweepReport, verify::Timed;
using Cells = std::vector<std::string>;

std::string title(const Swept& s) { return fmt::format("{}  {}\n", s.kernel, fmt::join(s.fixed, " ")); }

size_t with_values(const SweepReport& r) {
  return size_t(std::ranges::count_if(
      r.all, [](const Timed& t) { return t.cycles != 0 && t.values == sim::Values::full; }));
}

std::string summary(const SweepReport& r) {
  const size_t timed = r.ranking().size(), without = r.without_time().size();
  std::string text = fmt::format("{}: {} timed", plural(r.all.size(), "configuration"), timed);
  if (without != 0) text += fmt::format(", {} left out", without);
  if (const size_t rest = r.all.size() - timed - without; rest != 0)
    text += fmt::format(", {} not reached", rest);
  if (r.taken_over != 0) text += fmt::format("; {} taken over from the file", r.taken_over);
  text += fmt::format("; {} on {}", human_seconds(r.seconds), plural(r.threads, "thread"));
  return text;
}

std::string conditions(const Swept& s, const SweepReport& r) {
  const size_t full = with_values(r), timed = r.ranking().size();
  std::string text = fmt::format("hardware schedule, L2 {}, {:.4g} MHz ({}), values {}", name(s.l2),
                                 s.sm_clock, clock_caveat(s.arch->measured),
                                 full == 0       ? "none"
                                 : full == timed ? "full"
                                                 : "none where possible");
  if (full != 0)
    text += fmt::format("; {} needed the arrays' contents: control or addresses depend on them", full);
  return text;
}

bool any_slow(const SweepReport& r) {
  return std::ranges::any_of(r.all, [](const Timed& t) { return !t.slow.empty(); });
}

std::string codes_of(const std::vector<verify::SlowReason>& slow) {
  std::vector<std::string> codes;
  for (const verify::SlowReason& s : slow) codes.emplace_back(s.code.name());
  codes.erase(std::ranges::unique(codes).begin(), codes.end());
  return fmt::format("{}", fmt::join(codes, " "));
}

Cells heading(const SweepReport& r, bool flops) {
  Cells out = {"rank", "cycles", "us", flops ? "TFLOP/s" : "GB/s", "of best", "limited by", "busiest"};
  for (const Axis& axis : r.axes) out.push_back(axis.name);
  if (any_slow(r)) out.emplace_back("slower");
  return out;
}

Cells cells(const SweepReport& r, const Timed& t, size_t rank, uint64_t best, bool flops) {
  Cells out = {std::to_string(rank),
               grouped(t.cycles),
               fmt::format("{:.1f}", t.microseconds),
               fmt::format("{:.1f}", flops ? t.tflops : t.gb_per_s),
               fmt::format("{:.1f} %", 100.0 * double(best) / double(t.cycles)),
               t.limit,
               fmt::format("{} {:.0f} %", t.critical, t.busy * 100)};
  for (const Axis& axis : r.axes) out.push_back(t.settings.at(axis.name));
  if (any_slow(r)) out.push_back(codes_of(t.slow));
  return out;
}

// Numbers to the right, words to the left.
std::string table(const std::vector<Cells>& rows, bool color) {
  constexpr size_t first_word = 5;
  std::vector<size_t> width(rows.front().size());
  for (const Cells& row : rows)
    for (size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows[r].size(); ++c)
      line += c < first_word ? fmt::format("  {:>{}}", rows[r][c], width[c])
                             : fmt::format("  {:<{}}", rows[r][c], width[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += paint(line, r == 0 ? Style::bold : r == 1 ? Style::green : Style::plain, color) + "\n";
  }
  return out;
}

std::string ranking_text(const SweepReport& r, size_t top, bool color) {
  const auto order = r.ranking();
  if (order.empty()) return "  no configuration has a time\n";
  const uint64_t best = r.all[order.front()].cycles;
  const bool flops = r.all[order.front()].tflops > 0;
  const size_t shown = top == 0 ? order.size() : std::min(top, order.size());
  std::vector<Cells> rows = {heading(r, flops)};
  for (size_t i = 0; i < shown; ++i) rows.push_back(cells(r, r.all[order[i]], i + 1, best, flops));
  std::string out = table(rows, color);
  if (shown < order.size())
    out += fmt::format("  and {}: --top 0 shows all\n", plural(order.size() - shown, "slower one"));
  return out;
}

std::string settings_text(const SweepReport& r, const Timed& t) {
  std::vector<std::string> parts;
  parts.reserve(r.axes.size());
  for (const Axis& axis : r.axes) parts.push_back(fmt::format("{}={}", axis.name, t.settings.at(axis.name)));
  return fmt::format("{}", fmt::join(parts, " "));
}

using Reasons = std::vector<std::pair<std::string, Cells>>;  // each once, with its configurations

void add_reason(Reasons& reasons, const std::string& why, std::string configuration) {
  auto at = std::ranges::find(reasons, why, &Reasons::value_type::first);
  if (at == reasons.end()) at = reasons.insert(at, {why, {}});
  at->second.push_back(std::move(configuration));
}

std::string reasons_text(std::string_view title, const Reasons& reasons, bool color) {
  if (reasons.empty()) return {};
  constexpr size_t named = 4;
  std::string out = paint(title, Style::bold, color) + "\n";
  for (const auto& [why, which] : reasons) {
    out += fmt::format("  {}\n", why);
    for (size_t i = 0; i < std::min(named, which.size()); ++i) out += fmt::format("      {}\n", which[i]);
    if (which.size() > named) out += fmt::format("      and {} more\n", which.size() - named);
  }
  return out;
}

std::string with_code(isa::CodeNumber code, const std::string& reason) {
  return fmt::format("{}: {}", code.name(), reason);
}

std::string left_out_text(const SweepReport& r, bool color) {
  Reasons reasons;
  for (const size_t i : r.without_time()) {
    const Timed& t = r.all[i];
    add_reason(reasons, t.code.known() ? with_code(t.code, t.reason) : t.reason, settings_text(r, t));
  }
  return reasons_text("left out", reasons, color);
}

std::string slow_text(const SweepReport& r, bool color) {
  Reasons reasons;
  for (const size_t i : r.ranking())
    for (const verify::SlowReason& s : r.all[i].slow)
      add_reason(reasons, with_code(s.code, s.reason), settings_text(r, r.all[i]));
  return reasons_text("slower on the chip than these cycles, and ranked last", reasons, color);
}

json::object timed_json(const Timed& t) {
  json::object out = {{"settings", object_of(t.settings)}};
  if (t.cycles == 0)
    append(out, {{"code", t.code.name()}, {"reason", t.reason}});
  else
    append(out, {{"cycles", t.cycles},
                 {"microseconds", t.microseconds},
                 {"tflops", t.tflops},
                 {"gb_per_s", t.gb_per_s},
                 {"values", name(t.values)},
                 {"critical", t.critical},
                 {"busy", t.busy},
                 {"limit", t.limit},
                 {"slow", array_of(t.slow, verify::json_of)}});
  return out;
}

}  // namespace

std::string sweep_text(const Swept& swept, const SweepReport& r, size_t top, bool color) {
  std::string out = title(swept) + row("sweep", summary(r)) + row("", conditions(swept, r));
  for (const std::string& note : r.notes) out += row("note", note);
  out += ranking_text(r, top, color) + slow_text(r, color) + left_out_text(r, color);
  const std::string& file = swept.state;
  if (r.interrupted && !file.empty())
    out += fmt::format("interrupted: what is done is in {}, `--resume {}` goes on\n", file, file);
  else if (r.interrupted)
    out += "interrupted: with --state FILE a sweep can be gone on with\n";
  return out;
}

std::string sweep_json(const Swept& swept, const SweepReport& r, int exit_code) {
  const auto timed = [&](size_t i) { return timed_json(r.all[i]); };
  json::object combined;
  for (const Axis& axis : r.axes) combined.emplace(axis.name, array_of(axis.values));
  return json_text(json::object{
      {"command", "sweep"},
      {"palladion", version},
      {"kernel", swept.kernel},
      {"sizes", object_of(swept.sizes)},
      {"settings", object_of(swept.settings)},
      {"combined", std::move(combined)},
      {"schedule", "hardware"},
      {"l2", name(swept.l2)},
      {"sm_clock_mhz", swept.sm_clock},
      {"clock_measured", swept.arch->measured},
      {"power_throttling_modelled", false},
      {"configurations", r.all.size()},
      {"interrupted", r.interrupted},
      {"exit_code", exit_code},
      {"ranking", array_of(r.ranking(), timed)},
      {"left_out", array_of(r.without_time(), timed)},
      {"wall", json::object{{"seconds", r.seconds}, {"threads", r.threads}, {"taken_over", r.taken_over}}}});
}

}  // namespace palladion::report
