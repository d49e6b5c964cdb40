#include "report/run/time_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "isa/core/visible.h"
#include "report/text/finding_text.h"
#include "report/text/numbers.h"
#include "report/text/paint.h"
#include "report/text/row.h"

namespace palladion::report {
namespace {

constexpr int bar_columns = 40, small_bar_columns = 12;
constexpr size_t most_reasons = 3;
constexpr double least_busy = 0.005, least_role = 0.01;  // shares that are worth a line

double share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(double s) { return fmt::format("{:.{}f} %", s * 100, s < 0.0995 ? 1 : 0); }

std::string occupancy_text(const TimeReport& time) {
  using From = Registers::From;
  const Registers& r = time.registers;
  std::string text =
      fmt::format("{} an SM, {} registers a thread ({})", plural(time.ctas_per_sm, "CTA"), r.count,
                  r.from == From::estimate ? "an estimate; --registers ptxas asks the toolkit"
                  : r.from == From::ptxas  ? "ptxas"
                                           : "as given");
  if (r.ptxas && (r.ptxas->spill_store_bytes != 0 || r.ptxas->spill_load_bytes != 0))
    text += fmt::format("\nspills: {} bytes of stores and {} of loads a thread, not in the clock",
                        r.ptxas->spill_store_bytes, r.ptxas->spill_load_bytes);
  return text;
}

std::string rates_text(const TimeReport& time) {
  std::vector<std::string> parts;
  if (time.tflops() > 0) parts.push_back(fmt::format("{:.4g} TFLOP/s of the tensor cores", time.tflops()));
  if (time.array_bytes > 0)
    parts.push_back(fmt::format("{:.4g} GB/s: {} of arrays, in and out once", time.gb_per_s(),
                                human_bytes(static_cast<uint64_t>(time.array_bytes))));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string counters_text(const sim::ClockReport& clock) {
  constexpr uint64_t sector = 32;
  const sim::ClockCounters& c = clock.counters;
  return fmt::format(
      "{} instructions, tensor cores occupied for {} cycles of SMs, {} passes for bank conflicts\n"
      "L2: {} read ({} hits), {} written; HBM: {} read, {} written",
      human_count(static_cast<double>(c.instructions)), human_count(static_cast<double>(c.tensor_cycles)),
      human_count(static_cast<double>(c.smem_bank_conflicts)), human_bytes(c.l2_read_sectors * sector),
      percent(share(c.l2_hit_sectors, c.l2_read_sectors)), human_bytes(c.l2_write_sectors * sector),
      human_bytes(c.dram_read_bytes), human_bytes(c.dram_write_bytes));
}

// "mbarrier 61 %, gmma 20 %", shares of `whole` cycles; `issued` among them.
std::string reasons_text(const sim::WarpTime& time) {
  std::vector<std::string> parts;
  for (const sim::Stall s : time.reasons()) {
    if (parts.size() == most_reasons) break;
    const double part = share(time.cycles[static_cast<size_t>(s)], time.total());
    if (part >= 0.01) parts.push_back(fmt::format("{} {:.0f} %", sim::name(s), part * 100));
  }
  const double selected = share(time.cycles[static_cast<size_t>(sim::Stall::selected)], time.total());
  if (selected >= 0.01) parts.push_back(fmt::format("issuing {:.0f} %", selected * 100));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string busy_text(const TimeReport& time, bool color) {
  std::vector<size_t> order(sim::resource_count);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto& busy = time.clock.busy;
  std::ranges::stable_sort(order, std::greater{}, [&](size_t i) { return busy[i]; });
  std::string out;
  for (const size_t i : order) {
    if (busy[i] < least_busy) break;
    const bool limit = out.empty() && busy[i] >= sim::busy_enough;
    out += fmt::format("  {:<14} {} {:>6}\n", sim::name(static_cast<sim::Resource>(i)),
                       paint(bar(busy[i], bar_columns), limit ? Style::red : Style::plain, color),
                       percent(busy[i]));
  }
  return out;
}

std::string limit_sentence(const TimeReport& time) {
  const sim::Resource most = sim::critical(time.clock);
  const double busy = time.clock.busy[static_cast<size_t>(most)];
  if (busy >= sim::busy_enough)
    return fmt::format("most likely limited by {}{}", sim::name(most),
                       time.why ? "" : "; --why tries what would help");
  const sim::Stall wait = sim::longest_wait(time.clock);
  if (wait == sim::Stall::selected) return fmt::format("nothing is occupied for more than {}", percent(busy));
  return fmt::format("nothing is occupied for more than {}: the time goes in waiting, most of it for {}",
                     percent(busy), sim::name(wait));
}

std::string role_name(const sim::RoleWhere& role, uint32_t warps) {
  const std::string name = sim::warps_text(role.warps, warps);
  return role.operations.empty() ? name : fmt::format("{} ({})", name, role.operations);
}

std::string roles_text(const TimeReport& time) {
  std::string out;
  for (const sim::RoleWhere& role : time.where.roles) {
    const double part = share(role.total(), time.where.warp_cycles);
    if (part < least_role) continue;
    out +=
        fmt::format("  {:<36} {:>6}  {}\n", role_name(role, time.warps), percent(part), reasons_text(role));
  }
  return out;
}

std::string place_of(const sim::LineWhere& line, const TimeView& view) {
  if (line.source.known())
    return fmt::format("{}:{}", within(view.folder, line.source.file), line.source.line);
  if (line.ptx_line == 0) return "no line";
  return fmt::format("{}:{}", view.ptx_name.empty() ? "PTX" : within(view.folder, view.ptx_name),
                     line.ptx_line);
}

// Of a line in a function that is called elsewhere: the shares of those lines.
std::string callers_text(const sim::LineWhere& line, const TimeReport& time, const TimeView& view) {
  constexpr size_t most = 4;
  std::vector<std::string> out;
  for (const sim::CallerWhere& caller : line.callers) {
    if (out.size() == most) break;
    out.push_back(fmt::format("{}:{} {}", within(view.folder, caller.at.file), caller.at.line,
                              percent(share(caller.total(), time.where.warp_cycles))));
  }
  if (out.empty()) return {};
  const size_t more = line.callers.size() - out.size();
  return fmt::format("         called at {}{}\n", fmt::join(out, ", "),
                     more == 0 ? "" : fmt::format(" and {} more lines", more));
}

std::string line_text(const sim::LineWhere& line, const TimeReport& time, const TimeView& view) {
  const double part = share(line.total(), time.where.warp_cycles);
  const auto read = view.source_line ? view.source_line : read_source_line;
  std::string code = line.source.known() ? trimmed(read(line.source.file, line.source.line)) : "";
  size_t column = 0;
  code = isa::excerpt(code.empty() ? line.instruction : code, column);
  return fmt::format("  {} {:>6}  {}  {}\n         {}\n{}", bar(part, small_bar_columns), percent(part),
                     paint(place_of(line, view), Style::bold, view.color), reasons_text(line),
                     paint(code, Style::dim, view.color), callers_text(line, time, view));
}

}  // namespace

std::string bar(double part, int columns) {
  const int full = std::clamp(static_cast<int>(std::lround(part * columns)), 0, columns);
  return std::string(static_cast<size_t>(full), '#') + std::string(static_cast<size_t>(columns - full), '-');
}

std::string clock_caveat(bool measured) {
  return measured ? "power throttling is not modelled"
                  : "published numbers, not measured; power throttling is not modelled";
}

std::string time_rows(const TimeReport& time) {
  const sim::ClockReport& clock = time.clock;
  std::string out = row(
      "time", fmt::format("{} cycles, {:.4g} us at {:.4g} MHz, L2 {} ({}: a chip under load may run slower)",
                          grouped(clock.cycles), clock.microseconds(), clock.sm_clock_mhz, name(time.l2),
                          clock_caveat(time.measured)));
  out += row("occupancy", occupancy_text(time));
  if (const std::string rates = rates_text(time); !rates.empty()) out += row("work", rates);
  return out + row("counters", counters_text(clock));
}

std::string where_text(const TimeReport& time, const TimeView& view) {
  const auto heading = [&](std::string_view text) { return paint(text, Style::bold, view.color) + "\n"; };
  std::string out = heading("where the time went: busy, share of the time") + busy_text(time, view.color) +
                    "  " + limit_sentence(time) + "\n";
  if (time.where.warp_cycles == 0) return out;
  if (time.where.roles.size() > 1)
    out += heading("by warps, share of all warps' cycles, and what they wait for") + roles_text(time);
  const size_t shown = std::min(view.lines, time.where.lines.size());
  if (shown != 0) out += heading("by source line, share of all warps' cycles");
  for (size_t i = 0; i < shown; ++i) out += line_text(time.where.lines[i], time, view);
  return out;
}

}  // namespace palladion::report
