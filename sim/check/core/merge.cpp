#include "sim/check/core/merge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

namespace palladion::sim::check {
namespace {

struct Range {
  uint64_t from = 0, to = 0;
};

// "`tile` bytes [0, 128) of CTA (1,0,0)" or "shared memory [0x400, 0x410)": what lies before the range, the
// range, and what follows. Of "register 3 of 8, `%r4` of warp 0" the range is [3, 4).
struct Object {
  std::string before, after;
  bool hex = false, registers = false;
  Range range;
};

bool read_number(std::string_view& text, bool hex, uint64_t& value) {
  if (hex && !text.starts_with("0x")) return false;
  if (hex) text.remove_prefix(2);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (read.ec != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return true;
}

std::optional<Object> divide_register(std::string_view object) {
  constexpr std::string_view word = "register ";
  const size_t of = object.rfind(" of ");
  const size_t comma = object.find(", ");
  if (!object.starts_with(word) || comma == std::string_view::npos || comma > of) return std::nullopt;
  std::string_view text = object.substr(word.size());
  Object out{.before = "registers", .registers = true};
  if (!read_number(text, false, out.range.from) || !text.starts_with(" of ")) return std::nullopt;
  out.range.to = out.range.from + 1;
  out.after = std::string(text.substr(0, text.find(", "))) + std::string(object.substr(of));
  return out;
}

// Nothing of another form, or of several ranges.
std::optional<Object> divide(std::string_view object) {
  if (auto r = divide_register(object)) return r;
  const size_t at = object.find(" [");
  if (at == std::string_view::npos || object.find(" [", at + 1) != std::string_view::npos)
    return std::nullopt;
  std::string_view text = object.substr(at + 2);
  Object out;
  out.before = std::string(object.substr(0, at));
  out.hex = text.starts_with("0x");
  if (!read_number(text, out.hex, out.range.from) || !text.starts_with(", ")) return std::nullopt;
  text.remove_prefix(2);
  if (!read_number(text, out.hex, out.range.to) || !text.starts_with(")")) return std::nullopt;
  out.after = std::string(text.substr(1));
  return out;
}

std::string_view opcode(const Site& s) {
  std::string_view text = s.instruction;
  if (text.starts_with('@')) text.remove_prefix(std::min(text.find(' ') + 1, text.size()));
  return text.substr(0, text.find(' '));
}

std::string range_text(const Range& r, const Object& of) {
  if (of.registers)
    return r.to - r.from == 1 ? fmt::format("{}", r.from) : fmt::format("{} to {}", r.from, r.to - 1);
  return of.hex ? fmt::format("[0x{:x}, 0x{:x})", r.from, r.to) : fmt::format("[{}, {})", r.from, r.to);
}

std::string ranges_text(std::vector<Range> ranges, const Object& of) {
  constexpr size_t shown = 8;
  std::ranges::sort(ranges, {}, &Range::from);
  std::vector<Range> whole;
  for (const Range& r : ranges) {
    if (!whole.empty() && r.from <= whole.back().to)
      whole.back().to = std::max(whole.back().to, r.to);
    else
      whole.push_back(r);
  }
  std::string out;
  for (size_t i = 0; i < std::min(whole.size(), shown); ++i) {
    out += (i == 0 ? "" : ", ") + range_text(whole[i], of);
  }
  if (whole.size() > shown) out += fmt::format(" and {} more", whole.size() - shown);
  return out;
}

Range hull(const Range& a, const Range& b) { return {std::min(a.from, b.from), std::max(a.to, b.to)}; }

std::string line_of(const Site& s) {
  return s.source.known() ? fmt::format("{}:{}", s.source.file, s.source.line)
                          : fmt::format("{}", s.ptx_line);
}

// A finding, and those that are the same mistake of other instructions.
struct Group {
  Finding finding;
  std::optional<Object> object;  // of races that may be merged
  std::vector<Range> ranges;
  std::vector<std::string> lines;  // of the other instructions
  size_t instructions = 1;
  std::array<Range, 2> spans;  // PTX lines of the first two sites, [from, to)
};

void add_line(Group& group, const Site& site, const Site& of_group) {
  const std::string line = line_of(site);
  if (line != line_of(of_group) && std::ranges::find(group.lines, line) == group.lines.end())
    group.lines.push_back(line);
}

void join(Group& into, Group&& from, size_t differs) {
  into.finding.count += from.finding.count;
  add_reads(into.finding, from.finding);
  into.ranges.insert(into.ranges.end(), from.ranges.begin(), from.ranges.end());
  into.instructions += from.instructions;
  std::vector<std::array<uint32_t, 2>>& alike = into.finding.alike;
  alike.push_back({from.finding.sites[0].ptx_line, from.finding.sites[1].ptx_line});
  alike.insert(alike.end(), from.finding.alike.begin(), from.finding.alike.end());
  for (size_t i = 0; i < into.spans.size(); ++i) into.spans[i] = hull(into.spans[i], from.spans[i]);
  if (differs < 2) add_line(into, from.finding.sites[differs], into.finding.sites[differs]);
  for (const std::string& line : from.lines)
    if (std::ranges::find(into.lines, line) == into.lines.end()) into.lines.push_back(line);
}

// What sites must agree in, besides their kind of instruction and part.
enum class Lines : uint8_t { all, any, of_source };
std::string text_of(const Site& s, Lines lines) {
  const std::string kind = fmt::format("{} {}", opcode(s), s.what);
  if (lines == Lines::any) return kind;
  return fmt::format("{} {} {}", line_of(s), lines == Lines::all ? s.ptx_line : 0, kind);
}

bool have_sources(const Finding& f) { return f.sites[0].source.known() && f.sites[1].source.known(); }
bool are_one_instruction(const Finding& f) {
  return f.sites[0].ptx_line == f.sites[1].ptx_line && line_of(f.sites[0]) == line_of(f.sites[1]);
}

// Races with one key are of one kind, and of the lines that `lines` names.
using Key = std::tuple<std::string, int, std::string, std::string, std::string, std::string, std::string,
                       std::string, std::string>;
Key key_of(const Group& g, std::array<Lines, 2> lines) {
  const Finding& f = g.finding;
  return {f.code,
          static_cast<int>(f.severity),
          f.missing,
          fmt::format("{}", fmt::join(f.notes, "\n")),
          g.object->before,
          g.object->after,
          text_of(f.sites[0], lines[0]),
          text_of(f.sites[1], lines[1]),
          f.sites.size() == 3 ? text_of(f.sites[2], Lines::all) : ""};
}

// Joins those of the races that `wanted` picks whose keys agree and for which `fits` holds. `differs`: the
// site that may differ, or 2.
template <class Wanted, class Fits>
std::vector<Group> join_races(std::vector<Group> groups, std::array<Lines, 2> lines, size_t differs,
                              Wanted wanted, Fits fits) {
  std::multimap<Key, size_t> known;
  std::vector<Group> out;
  for (Group& g : groups) {
    if (!g.object || !wanted(g.finding)) {
      out.push_back(std::move(g));
      continue;
    }
    const Key key = key_of(g, lines);
    const auto [begin, end] = known.equal_range(key);
    const auto at = std::find_if(begin, end, [&](const auto& entry) { return fits(out[entry.second], g); });
    if (at != end) {
      join(out[at->second], std::move(g), differs);
    } else {
      known.emplace(key, out.size());
      out.push_back(std::move(g));
    }
  }
  return out;
}

// The later accesses of both lie behind all earlier ones, or before them, as in a loop: one barrier between
// the two stretches of the text mends them all.
bool are_between_stretches(const Group& a, const Group& b) {
  const Range later = hull(a.spans[0], b.spans[0]), earlier = hull(a.spans[1], b.spans[1]);
  return later.from >= earlier.to || later.to <= earlier.from;
}

Finding finished(Group g) {
  constexpr size_t lines_shown = 8;
  Finding f = std::move(g.finding);
  if (g.instructions == 1) return f;
  f.object = fmt::format("{} {}{}", g.object->before, ranges_text(g.ranges, *g.object), g.object->after);
  std::string note = fmt::format("{} instructions with the same mistake", g.instructions);
  for (size_t i = 0; i < std::min(g.lines.size(), lines_shown); ++i)
    note += (i == 0 ? ": also at line " : ", ") + g.lines[i];
  if (g.lines.size() > lines_shown) note += fmt::format(" and {} more", g.lines.size() - lines_shown);
  f.notes.push_back(std::move(note));
  return f;
}

}  // namespace

std::vector<Finding> merged(std::vector<Finding> findings) {
  std::vector<Group> groups;
  for (Finding& f : findings) {
    Group g;
    if ((f.sites.size() == 2 || f.sites.size() == 3) && !f.fatal) g.object = divide(f.object);
    if (g.object) g.ranges.push_back(g.object->range);
    if (g.object)
      for (size_t i = 0; i < g.spans.size(); ++i)
        g.spans[i] = {f.sites[i].ptx_line, f.sites[i].ptx_line + 1U};
    g.finding = std::move(f);
    groups.push_back(std::move(g));
  }
  // Many instructions and one earlier one; then one copy that overwrites what many have used; then the
  // instructions of one line of the author's with those of another; then instructions that race with
  // themselves; then those of two stretches of the text.
  const auto every = [](const Finding&) { return true; };
  const auto always = [](const Group&, const Group&) { return true; };
  groups = join_races(std::move(groups), {Lines::any, Lines::all}, 0, every, always);
  groups = join_races(std::move(groups), {Lines::all, Lines::any}, 1, every, always);
  groups = join_races(std::move(groups), {Lines::of_source, Lines::of_source}, 2, have_sources, always);
  groups = join_races(std::move(groups), {Lines::any, Lines::any}, 0, are_one_instruction, always);
  groups = join_races(std::move(groups), {Lines::any, Lines::any}, 0, every, are_between_stretches);
  std::vector<Finding> out;
  for (Group& g : groups) out.push_back(finished(std::move(g)));
  return out;
}

}  // namespace palladion::sim::check
