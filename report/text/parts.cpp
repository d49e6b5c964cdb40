// The parts of a finding: message, notes, missing edge, rule, help.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "isa/core/symbol_name.h"
#include "report/text/codes.h"
#include "report/text/finding_text.h"

namespace palladion::report {
namespace {

std::optional<isa::Dim3> home_of(const sim::Finding& f) {
  return f.sites.empty() ? std::nullopt : std::optional(f.sites.front().cta);
}

std::string standstill(const sim::Deadlock& d) {
  const std::string waits = plural(d.warps, "warp") + (d.warps == 1 ? " waits" : " wait");
  if (d.for_host)
    return "the kernel waits for a write of the host, which is not simulated while a kernel runs; " + waits;
  return "deadlock: no warp can continue" + (d.warps == 0 ? "" : "; " + waits);
}

std::string endless_text(const sim::Endless& e) {
  using Why = sim::Endless::Why;
  switch (e.why) {
    case Why::longest_warp:
      return fmt::format("given up: a warp has executed more than {} instructions and has not ended",
                         e.instructions);
    case Why::without_effect:
      return fmt::format("given up: a warp executes {} instructions without a store, a barrier or a copy",
                         e.instructions);
    case Why::all_warps:
      break;
  }
  return fmt::format("given up after {} warp instructions: the run neither ended nor deadlocked",
                     e.instructions);
}

// --- notes ----------------------------------------------------------------------------------------
// "warp 1, warp 2 (waiting for mbarrier `empty`)": by what they wait for themselves.
std::string arrivers_text(const sim::Finding& f, const sim::BlockedWait& wait) {
  std::map<std::string, std::vector<std::string>> warps;
  for (const sim::Arriver& a : wait.arrivers) {
    const bool waits = a.site && f.sites[*a.site].wait;
    const bool spins = waits && f.sites[*a.site].wait->kind == sim::BlockedWait::Kind::memory;
    const std::string state = spins   ? "spinning on memory"
                              : waits ? "waiting for " + text_of(f.sites[*a.site].wait->object)
                                      : "waiting elsewhere";
    sim::WarpLanes actor{.cta = {}, .warp = a.warp, .lanes = 0};
    if (a.cta != f.sites.front().cta) actor.cta = a.cta;
    warps[state].push_back(text_of(actor));
  }
  std::vector<std::string> out;
  for (const auto& [state, names] : warps)
    out.push_back(fmt::format("{} ({})", fmt::join(names, ", "), state));
  return out.empty() ? "no thread: the code of the other warps has no arrival left"
                     : fmt::format("{}", fmt::join(out, "; "));
}

std::string cycle_text(const std::vector<sim::CycleStep>& cycle) {
  std::string out = "cycle: ";
  for (const sim::CycleStep& step : cycle)
    out += fmt::format("{} -> {} -> ", text_of(step.actor), text_of(step.object));
  return out + text_of(cycle.front().actor);
}

void add_deadlock(std::vector<std::string>& notes, const sim::Finding& f, const sim::Deadlock& d) {
  if (!f.sites.empty() && f.sites.front().wait && f.sites.front().wait->examined)
    notes.push_back("could still arrive: " + arrivers_text(f, *f.sites.front().wait));
  if (!d.cycle.empty()) notes.push_back(cycle_text(d.cycle));
  if (d.clusters > 1)
    notes.push_back(
        fmt::format("{} clusters are blocked; this is the first one with a known cause", d.clusters));
  if (d.other_places != 0) notes.push_back(fmt::format("and {} other places", d.other_places));
  if (d.more_clusters) notes.emplace_back("CTAs that are not yet resident wait for room on the SMs");
}

// "4 instructions with the same mistake: also at line 31, 33"; with the name of another file
std::string also_text(const sim::Finding& f) {
  constexpr size_t lines_shown = 8;
  std::vector<std::string> lines;
  for (const sim::SourcePlaces& places : f.also)
    for (size_t i = 0; i < std::min(places.size(), f.sites.size()); ++i) {
      const sim::SourcePlace &at = places[i], here = sim::place_of(f.sites[i]);
      if (at.line != 0 ? at.line == here.line && at.file == here.file : at.ptx_line == here.ptx_line)
        continue;
      std::string line = at.line == 0           ? fmt::format("{}", at.ptx_line)
                         : at.file == here.file ? fmt::format("{}", at.line)
                                                : fmt::format("{}:{}", at.file, at.line);
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
  std::string out = fmt::format("{} instructions with the same mistake", f.also.size() + 1);
  for (size_t i = 0; i < std::min(lines.size(), lines_shown); ++i)
    out += (i == 0 ? ": also at line " : ", ") + lines[i];
  return lines.size() > lines_shown ? fmt::format("{} and {} more", out, lines.size() - lines_shown) : out;
}

}  // namespace

std::string message_text(const sim::Finding& f) {
  if (std::holds_alternative<sim::Unsupported>(f.what))
    return "the machine does not run this instruction: " + text_of(f.message, home_of(f));
  if (const auto* const e = std::get_if<sim::Endless>(&f.what)) return endless_text(*e);
  const auto* const deadlock = std::get_if<sim::Deadlock>(&f.what);
  if (deadlock != nullptr && !f.message) return standstill(*deadlock);
  const isa::CodeText* const code = code_text(f.code);
  const std::string text =
      f.message ? text_of(f.message, home_of(f)) : std::string(code == nullptr ? "" : code->title);
  if (deadlock != nullptr && f.fatal) return "deadlock: " + text;
  const auto* const race = std::get_if<sim::Race>(&f.what);
  return race != nullptr && race->equal_values ? text + ", with equal values" : text;
}

std::string object_text(const sim::Finding& f) {
  return f.object.kind == sim::Object::Kind::none ? std::string() : text_of(f.object);
}

std::string kernel_text(const sim::Finding& f) {
  const bool has_line = !f.sites.empty() && f.sites.front().source.known();
  return has_line || f.kernel.empty() ? std::string() : fmt::format("`{}`", isa::readable_name(f.kernel));
}

std::string missing_text(const sim::Finding& f) { return text_of(f.missing, home_of(f)); }

std::string help_text(const sim::Finding& f) {
  if (std::holds_alternative<sim::Endless>(f.what))
    return "a kernel that ends has a larger limit: --max-instructions N; 0: none";
  if (f.help) return text_of(f.help, home_of(f));
  const auto* const deadlock = std::get_if<sim::Deadlock>(&f.what);
  if (deadlock != nullptr && deadlock->for_host)
    return "let the host write before the launch; if a thread of the kernel should write there, this is a "
           "deadlock";
  const isa::CodeText* const code = code_text(f.code);
  return std::string(code == nullptr ? "" : code->fix);
}

std::string rule_text(const sim::Finding& f) {
  if (!f.rule.empty()) return f.rule;
  const isa::CodeText* const code = code_text(f.code);
  return std::string(code == nullptr ? "" : code->rule);
}

std::string manual_text(std::string_view rule) {
  const bool whole = rule.empty() || rule.starts_with("PTX") || rule.starts_with("CUDA");
  return whole ? std::string(rule) : fmt::format("PTX, \"{}\"", rule);
}

std::vector<std::string> notes_text(const sim::Finding& f) {
  std::vector<std::string> out;
  for (const sim::Statement& note : f.notes) out.push_back(text_of(note, home_of(f)));
  if (const auto* const d = std::get_if<sim::Deadlock>(&f.what)) add_deadlock(out, f, *d);
  if (const auto* const e = std::get_if<sim::Endless>(&f.what); e != nullptr && e->other_places != 0)
    out.push_back(fmt::format("and {} other places", e->other_places));
  if (!f.also.empty() && !f.fatal) out.push_back(also_text(f));
  return out;
}

}  // namespace palladion::report
