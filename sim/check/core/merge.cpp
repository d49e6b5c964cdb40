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
// range, and what follows.
struct Object {
  std::string before, after;
  bool hex = false;
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

// Nothing of another form, or of several ranges.
std::optional<Object> divide(std::string_view object) {
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
  const std::string_view text = s.instruction;
  return text.substr(0, text.find(' '));
}

std::string ranges_text(std::vector<Range> ranges, bool hex) {
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
    out += i == 0 ? "" : ", ";
    out += hex ? fmt::format("[0x{:x}, 0x{:x})", whole[i].from, whole[i].to)
               : fmt::format("[{}, {})", whole[i].from, whole[i].to);
  }
  if (whole.size() > shown) out += fmt::format(" and {} more", whole.size() - shown);
  return out;
}

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
  add_line(into, from.finding.sites[differs], into.finding.sites[differs]);
  for (const std::string& line : from.lines)
    if (std::ranges::find(into.lines, line) == into.lines.end()) into.lines.push_back(line);
}

// Joins races that agree in one site and whose other sites, `differs`, are instructions of one kind.
std::vector<Group> join_races(std::vector<Group> groups, size_t differs) {
  using Key = std::tuple<std::string, int, std::string, std::string, std::string, std::string, std::string,
                         std::string, uint32_t>;
  std::map<Key, size_t> first;
  std::vector<Group> out;
  for (Group& g : groups) {
    if (!g.object) {
      out.push_back(std::move(g));
      continue;
    }
    const Finding& f = g.finding;
    const Site &other = f.sites[differs], &same = f.sites[1 - differs];
    const Key key{f.code,
                  static_cast<int>(f.severity),
                  f.missing,
                  fmt::format("{}", fmt::join(f.notes, "\n")),
                  g.object->before,
                  g.object->after,
                  std::string(opcode(other)),
                  line_of(same),
                  same.ptx_line};
    const auto [at, fresh] = first.try_emplace(key, out.size());
    if (fresh)
      out.push_back(std::move(g));
    else
      join(out[at->second], std::move(g), differs);
  }
  return out;
}

Finding finished(Group g) {
  constexpr size_t lines_shown = 8;
  Finding f = std::move(g.finding);
  if (g.instructions == 1) return f;
  f.object = fmt::format("{} {}{}", g.object->before, ranges_text(g.ranges, g.object->hex), g.object->after);
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
    if (f.sites.size() == 2 && !f.fatal) g.object = divide(f.object);
    if (g.object) g.ranges.push_back(g.object->range);
    g.finding = std::move(f);
    groups.push_back(std::move(g));
  }
  // Many instructions and one earlier one; then one copy that overwrites what many have used.
  groups = join_races(join_races(std::move(groups), 0), 1);
  std::vector<Finding> out;
  for (Group& g : groups) out.push_back(finished(std::move(g)));
  return out;
}

}  // namespace palladion::sim::check
