#include "cuda/cubin/ptx_lines.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "cuda/cubin/byte_values.h"
#include "cuda/cubin/carried_ptx.h"
#include "cuda/cubin/cubin.h"
#include "cuda/cubin/line_table.h"

namespace palladion::cuda::cubin {
namespace {

std::vector<LineUnit> table_of(std::string_view cubin, const std::string& name) {
  return line_table(section_of(cubin, name), section_of(cubin, ".rela" + name));
}

// The statements that name a place: .loc of the calls that were inlined, outermost first, then its own.
class Places {
 public:
  explicit Places(std::string_view cubin) : units_(table_of(cubin, ".debug_line")) {
    for (const LineUnit& unit : units_)
      for (const LineSequence& s : unit.sequences) of_code_.try_emplace(s.code, &unit, &s);
  }

  // What the code at an address of a function came from, `before` lines above; empty: unknown.
  std::string at(uint64_t code, uint64_t address, uint32_t before) {
    const auto found = of_code_.find(code);
    if (code == no_code || found == of_code_.end()) return {};
    const auto& [unit, sequence] = found->second;
    const auto behind = std::ranges::upper_bound(sequence->rows, address, {}, &LineRow::address);
    if (behind == sequence->rows.begin()) return {};
    LineRow row = *(behind - 1);
    row.line -= std::min(row.line, before);
    return statements(*unit, *sequence, row, most_inlined);
  }
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::string numbers(const LineUnit& unit, const LineRow& row) {
    if (row.file == 0 || row.file > unit.files.size()) return {};
    const std::string& name = unit.files[row.file - 1];
    auto known = std::ranges::find(files_, name);
    if (known == files_.end()) known = files_.insert(known, name);
    return std::to_string(known - files_.begin() + 1) + ' ' + std::to_string(row.line) + " 0";
  }
  std::string statements(const LineUnit& unit, const LineSequence& s, const LineRow& row, int most) {
    const std::string own = numbers(unit, row);
    const bool inlined = row.context != 0 && row.context <= s.rows.size() && most > 0;
    if (own.empty() || !inlined) return own.empty() ? own : ".loc " + own;
    const LineRow& caller = s.rows[row.context - 1];
    const std::string before = statements(unit, s, caller, most - 1);
    if (before.empty()) return ".loc " + own;
    return before + " .loc " + own + ", function_name $L__debug_str+" + std::to_string(row.function) +
           ", inlined_at " + numbers(unit, caller);
  }

  static constexpr int most_inlined = 32;  // a broken table may have circles
  std::vector<LineUnit> units_;
  std::map<uint64_t, std::pair<const LineUnit*, const LineSequence*>> of_code_;
  std::vector<std::string> files_;
};

// Inline assembly within braces: lines, from 0. Nothing else has braces within a function but a call.
struct Assembly {
  size_t first = 0, end = 0;
};

std::vector<Assembly> assembly_of(const std::vector<std::string>& lines) {
  std::vector<Assembly> out;
  size_t first = 0;
  int depth = 0;
  bool calls = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    const bool opens = (line.starts_with('{') || line.ends_with('{')) && line.find('}') == std::string::npos;
    if (opens && ++depth == 2) first = i;
    calls = depth > 1 && (calls || line.starts_with("call"));
    if (!line.starts_with('}') || depth == 0) continue;
    if (--depth == 1 && !calls) out.push_back({first, i + 1});
  }
  return out;
}

// How many lines of its assembly each line's .loc counted on: LLVM gives each statement of it the line of the
// first one and so many more.
std::vector<uint32_t> counted_on(const std::vector<std::string>& lines, const std::vector<Assembly>& all) {
  std::vector<uint32_t> out(lines.size());
  for (const Assembly& a : all) {
    uint32_t lines_before = 0, counted = 0;
    for (size_t i = a.first; i < a.end; ++i) {
      if (lines[i].empty()) continue;
      if (i != a.first && lines[i - 1].empty()) counted = lines_before;
      out[i] = counted;
      ++lines_before;
    }
  }
  return out;
}

// Places of lines of the text, from 1.
using PlaceOfLine = std::map<uint32_t, std::string>;

PlaceOfLine places_of_lines(Places& places, const std::vector<uint32_t>& counted, std::string_view name,
                            std::string_view cubin) {
  PlaceOfLine out;
  for (const LineUnit& unit : table_of(cubin, ".nv_debug_line_sass")) {
    // A linked cubin names the section of each unit.
    if (name != ptx_section && std::ranges::find(unit.files, name) == unit.files.end()) continue;
    for (const LineSequence& s : unit.sequences)
      for (const LineRow& row : s.rows) {
        if (row.line == 0 || row.line > counted.size() || out.contains(row.line)) continue;
        if (auto place = places.at(s.code, row.address, counted[row.line - 1]); !place.empty())
          out.emplace(row.line, std::move(place));
      }
  }
  return out;
}

// Lines without an empty one between them: they have one .loc, which stood before them.
struct Run {
  size_t first = 0, end = 0;  // lines, from 0
  bool executes = false;
  std::string place;
};

bool begins_instruction(std::string_view line) {
  return std::isalpha(static_cast<unsigned char>(line[0])) != 0 || line[0] == '@';
}

std::vector<Run> runs_of(const std::vector<std::string>& lines, const PlaceOfLine& places) {
  std::vector<Run> out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    if (i == 0 || lines[i - 1].empty()) out.push_back({.first = i});
    Run& run = out.back();
    run.end = i + 1;
    const auto place = places.find(static_cast<uint32_t>(i + 1));
    if (place != places.end() && run.place.empty()) run.place = place->second;
    run.executes = run.executes || begins_instruction(lines[i]);
  }
  return out;
}

// All of one piece of assembly has one place.
void unite(std::vector<Run>& runs, const Assembly& assembly) {
  std::vector<Run*> inside;
  for (Run& run : runs)
    if (run.first < assembly.end && run.end > assembly.first) inside.push_back(&run);
  const auto known = std::ranges::find_if(inside, [](const Run* run) { return !run->place.empty(); });
  if (known == inside.end()) return;
  for (Run* run : inside)
    if (run->place.empty() || run->first > assembly.first) run->place = (*known)->place;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// The bytes to which the places' function_name refer.
std::string names_section(std::string_view names) {
  return ".section .debug_str\n{\n$L__debug_str:\n" + byte_values(names) + "}\n";
}

// The section .debug_str that the text has lost its bytes.
void drop_names_section(std::vector<std::string>& lines) {
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with(".section") || !lines[i].ends_with(".debug_str")) continue;
    for (; i < lines.size() && lines[i] != "}"; ++i) lines[i].clear();
    if (i < lines.size()) lines[i].clear();
  }
}

}  // namespace

std::string with_lines(std::string text, std::string_view name, std::string_view cubin) {
  for (const char* loc : {".loc ", ".loc\t"})
    if (text.find(loc) != std::string::npos) return text;
  Places places(cubin);
  std::vector<std::string> lines = lines_of(text);
  const std::vector<Assembly> assembly = assembly_of(lines);
  const PlaceOfLine of_lines = places_of_lines(places, counted_on(lines, assembly), name, cubin);
  if (of_lines.empty()) return text;
  std::vector<Run> runs = runs_of(lines, of_lines);
  for (const Assembly& a : assembly) unite(runs, a);
  constexpr const char* unknown = ".loc 1 0 0";  // it left no code
  const std::string_view strings = section_of(cubin, ".debug_str");
  if (!strings.empty()) drop_names_section(lines);
  for (const Run& run : runs)
    if (run.executes && run.first != 0) lines[run.first - 1] = run.place.empty() ? unknown : run.place;
  std::string out;
  for (const std::string& line : lines) out += line + '\n';
  for (size_t i = 0; i < places.files().size(); ++i)
    out += ".file " + std::to_string(i + 1) + " \"" + places.files()[i] + "\"\n";
  return strings.empty() ? out : out + names_section(strings);
}

}  // namespace palladion::cuda::cubin
