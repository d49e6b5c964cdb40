#include "report/text/suppress.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "isa/core/trim.h"
#include "report/text/codes.h"
#include "verify/arrays/words.h"

namespace palladion::report {
namespace {

template <class T>
using Result = tl::expected<T, std::string>;

// "file.cpp:41", "*.cu"; an error is returned as text.
Result<SuppressedPlace> parse_place(std::string_view text) {
  if (text.empty()) return tl::make_unexpected(std::string("a place is missing: FILE or FILE:LINE"));
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return SuppressedPlace{std::string(text), 0};
  const auto line = number_in<uint32_t>(text.substr(colon + 1));
  if (!line || *line == 0 || colon == 0)
    return tl::make_unexpected(fmt::format("`{}` is no place: FILE or FILE:LINE, lines count from 1", text));
  return SuppressedPlace{std::string(text.substr(0, colon)), *line};
}

Result<Suppression> parse_line(std::string_view text) {
  Suppression out;
  const size_t hash = text.find('#');
  if (hash != std::string_view::npos) out.reason = isa::trimmed(text.substr(hash + 1));
  if (out.reason.empty())
    return tl::make_unexpected(std::string("a reason is missing: `# why this is accepted`"));
  text = isa::trimmed(text.substr(0, hash));
  const size_t space = text.find_first_of(" \t");
  out.code = text.substr(0, space);
  if (find_code_text(out.code) == nullptr)
    return tl::make_unexpected(
        fmt::format("there is no code `{}`: PLD4307, or PLD43* for all that begin so", out.code));
  text = space == std::string_view::npos ? std::string_view() : isa::trimmed(text.substr(space));
  if (text.empty()) return tl::make_unexpected(std::string("a place is missing: FILE or FILE:LINE"));
  for (const std::string_view word : split(text, ",")) {
    auto place = parse_place(isa::trimmed(word));
    if (!place) return tl::make_unexpected(place.error());
    out.places.push_back(std::move(*place));
  }
  return out;
}

bool matches_code(std::string_view pattern, std::string_view code) {
  return pattern.ends_with('*') ? code.starts_with(pattern.substr(0, pattern.size() - 1)) : code == pattern;
}

// The whole path, or its end behind a slash.
bool matches_file(const std::string& glob, std::string_view path) {
  for (;;) {
    if (::fnmatch(glob.c_str(), std::string(path).c_str(), 0) == 0) return true;
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos || glob.starts_with('/')) return false;
    path.remove_prefix(slash + 1);
  }
}

bool matches_site(const SuppressedPlace& place, const sim::Site& site, std::string_view ptx_name) {
  const auto at = [&](std::string_view file, uint32_t line) {
    return line != 0 && (place.line == 0 || place.line == line) && matches_file(place.file, file);
  };
  return site.source.known() ? at(site.source.file, site.source.line) : at(ptx_name, site.ptx_line);
}

bool matches(const Suppression& s, const sim::Finding& f, std::string_view ptx_name) {
  return matches_code(s.code, f.code.name()) &&
         std::ranges::all_of(s.places, [&](const SuppressedPlace& place) {
           return std::ranges::any_of(
               f.sites, [&](const sim::Site& site) { return matches_site(place, site, ptx_name); });
         });
}

}  // namespace

tl::expected<Suppressions, isa::Diagnostics> parse_suppressions(std::string_view text,
                                                                const std::string& file) {
  Suppressions out{file, {}};
  isa::Diagnostics problems;
  uint32_t number = 0;
  for (const std::string_view raw : split(text, "\n")) {
    ++number;
    const std::string_view line = isa::trimmed(raw);
    if (line.empty() || line.starts_with('#')) continue;
    auto one = parse_line(line);
    if (!one) {
      problems.push_back({{}, isa::Severity::error, one.error(), {file, number, 0}, ""});
      continue;
    }
    one->line = number;
    out.all.push_back(std::move(*one));
  }
  if (problems.empty()) return out;
  constexpr size_t shown = 12;  // the wrong file has hundreds
  if (problems.size() > shown) {
    const size_t more = problems.size() - shown;
    problems.resize(shown);
    problems.push_back(
        {{}, isa::Severity::error, fmt::format("{} more bad lines in {}", more, file), {}, ""});
  }
  problems.back().help = "a line is `CODE FILE:LINE[,FILE:LINE] # reason`";
  return tl::make_unexpected(problems);
}

void suppress(std::vector<SeenFinding>& findings, Suppressions& suppressions, std::string_view ptx_name) {
  for (SeenFinding& seen : findings)
    for (Suppression& s : suppressions.all) {
      if (!matches(s, seen.finding, ptx_name)) continue;
      s.used = true;
      if (!seen.is_suppressed()) seen.suppressed = s.reason;
    }
}

std::string unused_text(const Suppressions& suppressions) {
  std::string out;
  for (const Suppression& s : suppressions.all)
    if (!s.used)
      out += fmt::format("warning: {}:{}: this suppression of {} met no finding ({})\n", suppressions.file,
                         s.line, s.code, s.reason);
  return out;
}

}  // namespace palladion::report
