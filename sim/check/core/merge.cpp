#include "sim/check/core/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>

namespace palladion::sim::check {
namespace {

struct Range {
  uint64_t from = 0, to = 0;
};

// "`tile` bytes [0, 128)" is "`tile`" and a range; false of another form, or of several objects.
bool divide(std::string_view object, std::string& name, Range& range) {
  constexpr std::string_view mark = " bytes [";
  const size_t at = object.find(mark);
  if (at == std::string_view::npos || object.find(mark, at + 1) != std::string_view::npos) return false;
  const char *begin = object.data() + at + mark.size(), *end = object.data() + object.size();
  const auto from = std::from_chars(begin, end, range.from);
  if (from.ec != std::errc() || end - from.ptr < 2) return false;
  const auto to = std::from_chars(from.ptr + 2, end, range.to);
  if (to.ec != std::errc() || to.ptr == end || *to.ptr != ')') return false;
  name = std::string(object.substr(0, at)) + std::string(to.ptr + 1, end);
  return true;
}

std::string_view opcode(const Site& s) {
  const std::string_view text = s.instruction;
  return text.substr(0, text.find(' '));
}

std::string ranges_text(std::vector<Range> ranges) {
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
  for (size_t i = 0; i < std::min(whole.size(), shown); ++i)
    out += fmt::format("{}[{}, {})", i == 0 ? "" : ", ", whole[i].from, whole[i].to);
  if (whole.size() > shown) out += fmt::format(" and {} more", whole.size() - shown);
  return out;
}

std::string line_of(const Site& s) {
  return s.source.known() ? fmt::format("{}:{}", s.source.file, s.source.line)
                          : fmt::format("{}", s.ptx_line);
}

}  // namespace

std::vector<Finding> merged(std::vector<Finding> findings) {
  constexpr size_t lines_shown = 8;
  struct Group {
    size_t first = 0;
    std::string name;
    std::vector<Range> ranges;
    std::vector<std::string> lines;
  };
  using Key = std::tuple<std::string, int, std::string, std::string, std::string, std::string, uint32_t>;
  std::map<Key, Group> groups;
  std::vector<Finding> out;
  for (Finding& f : findings) {
    std::string name;
    Range range;
    const bool race = f.sites.size() == 2 && !f.fatal && f.notes.empty() && divide(f.object, name, range);
    if (!race) {
      out.push_back(std::move(f));
      continue;
    }
    const Key key{f.code,
                  static_cast<int>(f.severity),
                  f.missing,
                  name,
                  std::string(opcode(f.sites[0])),
                  line_of(f.sites[1]),
                  f.sites[1].ptx_line};
    const auto [at, fresh] = groups.try_emplace(key);
    Group& g = at->second;
    g.ranges.push_back(range);
    if (fresh) {
      g.first = out.size();
      g.name = f.object.substr(0, f.object.find(" bytes ["));
      out.push_back(std::move(f));
      continue;
    }
    out[g.first].count += f.count;
    const std::string line = line_of(f.sites[0]);
    if (line != line_of(out[g.first].sites[0]) && std::ranges::find(g.lines, line) == g.lines.end())
      g.lines.push_back(line);
  }
  for (auto& [key, g] : groups) {
    if (g.ranges.size() == 1) continue;
    Finding& f = out[g.first];
    const std::string rest = f.object.substr(f.object.find(')') + 1);
    f.object = fmt::format("{} bytes {}{}", g.name, ranges_text(g.ranges), rest);
    std::string note = fmt::format("{} instructions with the same mistake", g.ranges.size());
    for (size_t i = 0; i < std::min(g.lines.size(), lines_shown); ++i)
      note += (i == 0 ? ": also at line " : ", ") + g.lines[i];
    if (g.lines.size() > lines_shown) note += fmt::format(" and {} more", g.lines.size() - lines_shown);
    f.notes.push_back(std::move(note));
  }
  return out;
}

}  // namespace palladion::sim::check
