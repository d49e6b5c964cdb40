#include "report/text/finding_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "isa/core/author.h"
#include "isa/core/diagnostic.h"
#include "isa/core/symbol_name.h"
#include "isa/core/visible.h"
#include "isa/host/program_start.h"
#include "report/text/codes.h"
#include "report/text/numbers.h"
#include "report/text/paint.h"

namespace palladion::report {
namespace {

Style style_of(sim::FindingSeverity severity) {
  using Severity = sim::FindingSeverity;
  return severity == Severity::error    ? Style::red
         : severity == Severity::strict ? Style::yellow
                                        : Style::cyan;
}

std::string nth(uint64_t n) {
  const bool teen = n / 10 % 10 == 1;
  const char* end = teen ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
  return fmt::format("{}{}", n, end);
}

// "asynchronous write: cta (0,0,0) warp 0 lane 0 (producer), its 5th execution"
std::string actor_text(const sim::Site& s) {
  std::string text = text_of(s.part, s.source.known());
  if (!text.empty()) text += ": ";
  text += fmt::format("cta ({},{},{}) warp {}{}", s.cta.x, s.cta.y, s.cta.z, s.warp, lanes_text(s.lanes));
  if (const std::string role = text_of(s.role); !role.empty()) text += fmt::format(" ({})", role);
  if (s.occurrence != 0) text += fmt::format(", its {} execution", nth(s.occurrence));
  return text;
}

std::string nth_line(std::string_view text, uint32_t line) {
  for (; line > 1; --line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return std::string(text.substr(0, text.find('\n')));
}

// The author's line, else the line of the PTX.
std::string frame_line(const sim::Site& s, const FindingView& view) {
  const std::string line = !s.source.known()  ? (s.ptx_line == 0 ? "" : nth_line(view.ptx, s.ptx_line))
                           : view.source_line ? view.source_line(s.source.file, s.source.line)
                                              : read_source_line(s.source.file, s.source.line);
  size_t column = 0;
  return isa::excerpt(trimmed(line), column);
}

std::string frame_text(const isa::Frame& frame, const FindingView& view) {
  const std::string& file = frame.at.file;
  const bool is_theirs = isa::owner_of(file) != isa::Owner::author;
  const std::string place = fmt::format(
      "{}:{}", is_theirs ? file.substr(file.rfind('/') + 1) : within(view.folder, file), frame.at.line);
  return frame.function.empty() ? place : fmt::format("`{}` ({})", isa::readable_name(frame.function), place);
}

// The other frames of an inlined instruction: those within the line that is shown, and those around it.
std::vector<std::string> frames_text(const sim::Site& s, const FindingView& view) {
  constexpr size_t most = 3;  // of each
  std::vector<std::string> within_line, around;
  bool is_around = false;
  for (const isa::Frame& frame : s.frames) {
    const bool is_shown = !is_around && frame.at.file == s.source.file && frame.at.line == s.source.line &&
                          frame.at.column == s.source.column;
    if (!is_shown && frame.at.known()) (is_around ? around : within_line).push_back(frame_text(frame, view));
    is_around |= is_shown;
  }
  const auto list = [&](std::string_view label, const std::vector<std::string>& frames) {
    const size_t n = std::min(frames.size(), most);
    std::string out =
        fmt::format("{} {}", label, fmt::join(frames.begin(), frames.begin() + ptrdiff_t(n), ", "));
    return frames.size() > n ? fmt::format("{} and {} more", out, frames.size() - n) : out;
  };
  std::vector<std::string> out;
  if (!within_line.empty()) out.push_back(list("inlined from", within_line));
  if (!around.empty()) out.push_back(list("inlined into", around));
  return out;
}

std::string site_text(const sim::Site& s, const FindingView& view) {
  const auto dim = [&](const std::string& text) { return paint(text, Style::blue, view.color); };
  const std::string place = within(view.folder, place_text(s, view.ptx_name)), line = frame_line(s, view);
  std::string out = dim("  --> ") + (place.empty() ? "an unknown place" : place);
  if (s.source.known() && s.ptx_line != 0) out += fmt::format(" (PTX line {})", s.ptx_line);
  if (s.source.known() && !line.empty() && host::is_written_since_start(s.source.file))
    out += " (the file was written after this run began: its line may be another)";
  out += '\n';
  const uint32_t number = s.source.known() ? s.source.line : s.ptx_line;
  if (!line.empty()) out += dim(fmt::format("{:>5} | ", number)) + line + "\n";
  // The line of a PTX file already is the instruction.
  size_t column = 0;
  if (!s.instruction.empty() && (s.source.known() || line.empty()))
    out += dim("      | ") + isa::excerpt(s.instruction, column) + "\n";
  if (const std::string actor = s.lanes != 0 ? actor_text(s) : text_of(s.part, s.source.known());
      !actor.empty())
    out += dim("      = ") + actor + "\n";
  for (const std::string& frame : frames_text(s, view)) out += dim("      = ") + frame + "\n";
  return out;
}

std::string part(std::string_view label, std::string_view text, bool color) {
  if (text.empty()) return {};
  return fmt::format("{} {} {}\n", paint("   =", Style::blue, color),
                     paint(fmt::format("{}:", label), Style::bold, color), text);
}

std::string seen_text(const SeenFinding& seen, const FindingView& view) {
  std::string text = seen.finding.count > 1 ? fmt::format("{} times", seen.finding.count) : "";
  if (seen.schedules.size() == 1 && seen.schedules.front() == verify::code_generation) return text;
  const bool searched = seen.schedules.size() == 1 && seen.schedules.front() == exploration;
  if (view.schedules <= 1 && !searched) return text;
  constexpr size_t named = 4;
  if (!text.empty()) text += ", ";
  std::vector<std::string> runs = seen.schedules;
  const bool explored = std::erase(runs, exploration) != 0;
  const size_t n = runs.size();
  if (n == 0) return text + fmt::format("by exploration, under none of {} schedules", view.schedules);
  const std::string also = explored ? ", and by exploration" : "";
  if (n == view.schedules) return text + fmt::format("under all {} schedules", n) + also;
  const auto first = std::span(runs).first(std::min(n, named));
  text += fmt::format("under {}", fmt::join(first, ", "));
  if (n > named) text += fmt::format(" and {} more", n - named);
  return text + fmt::format(" ({} of {} schedules)", n, view.schedules) + also;
}

// A line of the table at the end.
struct CodeRow {
  isa::CodeNumber code;
  sim::FindingSeverity severity;
  size_t findings = 0, suppressed = 0;
  uint64_t times = 0;
};

std::vector<CodeRow> rows_of(std::span<const SeenFinding> findings) {
  std::vector<CodeRow> rows;
  for (const SeenFinding& s : findings) {
    const sim::Finding& f = s.finding;
    auto at = std::ranges::find_if(
        rows, [&](const CodeRow& r) { return r.code == f.code && r.severity == f.severity; });
    if (at == rows.end()) at = rows.insert(at, CodeRow{f.code, f.severity});
    ++(s.is_suppressed() ? at->suppressed : at->findings);
    at->times += f.count;
  }
  return rows;
}

// ": threads race on shared memory"
std::string title_of(isa::CodeNumber code) {
  const isa::CodeText* const text = code_text(code);
  return text == nullptr ? std::string() : fmt::format(": {}", text->title);
}

std::string table_text(std::span<const SeenFinding> findings, bool color) {
  std::string out = paint("findings by code", Style::bold, color) + "\n";
  for (const CodeRow& r : rows_of(findings)) {
    std::string counts = plural(r.findings, "finding");
    if (r.suppressed != 0) counts += fmt::format(", {} suppressed", r.suppressed);
    out += fmt::format("  {} {:<8} {}, {}{}\n", r.code.name(), word(r.severity), counts,
                       plural(r.times, "time"), title_of(r.code));
  }
  return out;
}

}  // namespace

std::string trimmed(std::string text) {
  std::ranges::replace(text, '\t', ' ');
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \r") - first + 1);
}

std::string within(const std::string& folder, const std::string& path) {
  const bool below = !folder.empty() && path.starts_with(folder + "/");
  return below ? path.substr(folder.size() + 1) : path;
}

std::string read_source_line(const std::string& file, uint32_t line) { return isa::line_of_file(file, line); }

std::string finding_text(const SeenFinding& seen, const FindingView& view) {
  const sim::Finding& f = seen.finding;
  const auto labelled = [&](std::string_view label, std::string_view text) {
    return part(label, text, view.color);
  };
  std::string out =
      paint(fmt::format("{}[{}]", word(f.severity), f.code.name()), style_of(f.severity), view.color) + ": " +
      paint(message_text(f), Style::bold, view.color) + "\n" + labelled("object", object_text(f));
  for (const sim::Site& site : f.sites) {
    out += site_text(site, view);
    if (site.wait) out += fmt::format("        waits for {}\n", text_of(*site.wait));
  }
  out += labelled("kernel", kernel_text(f));
  for (const std::string& note : notes_text(f)) out += labelled("note", note);
  out += labelled("missing", missing_text(f));
  out += labelled("rule", manual_text(rule_text(f)));
  out += labelled("help", help_text(f));
  out += labelled("seen", seen_text(seen, view));
  return out + labelled("replay", seen.replay);
}

std::string finding_text(const sim::Finding& finding, const FindingView& view) {
  return finding_text(SeenFinding{finding, {}, {}, {}}, view);
}

std::string findings_text(std::span<const SeenFinding> findings, const FindingView& view) {
  std::string out;
  size_t shown = 0, hidden = 0;
  for (const SeenFinding& s : findings) {
    if (s.is_suppressed()) continue;
    if (shown == view.limit) {
      ++hidden;
      continue;
    }
    ++shown;
    out += finding_text(s, view) + "\n";
  }
  if (hidden != 0)
    out += fmt::format("{} not shown: --limit {} shows all\n", plural(hidden, "finding"), shown + hidden);
  if (rows_of(findings).size() > 1 || hidden != 0) out += table_text(findings, view.color);
  return out;
}

std::string findings_count_text(std::span<const SeenFinding> findings) {
  const verify::FindingCounts n = count_findings(findings);
  std::string text = n.reported() == 0 ? "none" : fmt::format("{}, see above", n.reported());
  return n.suppressed == 0 ? text : fmt::format("{}; {} suppressed", text, n.suppressed);
}

}  // namespace palladion::report
