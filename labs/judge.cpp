#include "labs/judge.h"

#include <algorithm>

#include "verify/arrays/words.h"

namespace palladion::labs {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool holds(const Condition& condition, const Symptoms& seen) {
  using Kind = Condition::Kind;
  switch (condition.kind) {
    case Kind::code:
      return std::ranges::any_of(seen.codes, [&](const SeenCode& one) {
        return one.code == condition.word && contains(one.text, condition.detail);
      });
    case Kind::outputs:
      return condition.number == 0 ? !seen.wrong_cases.empty()
                                   : seen.wrong_cases == std::vector{condition.number};
    case Kind::measure:
      return std::ranges::count(seen.missed_measures, condition.word) != 0;
    case Kind::ptx:
      return contains(seen.ptx, condition.word);
    case Kind::no_ptx:
      return !seen.ptx.empty() && !contains(seen.ptx, condition.word);
    case Kind::ptx_order: {
      const size_t first = seen.ptx.find(condition.word), second = seen.ptx.find(condition.detail);
      return first != std::string::npos && second != std::string::npos && first < second;
    }
    case Kind::source:
      return contains(seen.source, bare_source(condition.word));
    case Kind::no_source:
      return !contains(seen.source, bare_source(condition.word));
    case Kind::answer: {
      const auto given = seen.wrong_answers.find(condition.word);
      if (given == seen.wrong_answers.end()) return false;
      return condition.detail.empty() || Question{{}, {condition.detail}}.accepts(given->second);
    }
    case Kind::breaks:
      return std::ranges::count(seen.broken_rules, condition.word) != 0;
    case Kind::refused:
      return !seen.compiles && contains(seen.compiler_text, condition.detail);
  }
  return false;
}

size_t times_in(std::string_view text, std::string_view part) {
  size_t times = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++times;
  return times;
}

}  // namespace

bool keeps(const TextRule& rule, std::string_view ptx, std::string_view source) {
  const bool of_source = rule.of == TextRule::Of::source;
  const size_t times = of_source ? times_in(source, bare_source(rule.text)) : times_in(ptx, rule.text);
  return rule.wanted ? times >= rule.times : times == 0;
}

const Reply* reply_to(const Lab& lab, const Symptoms& symptoms) {
  const auto fits = [&](const Reply& reply) {
    return std::ranges::all_of(reply.conditions, [&](const Condition& c) { return holds(c, symptoms); });
  };
  // What is said of the starter holds for what looks like it; a more special reply comes before it.
  const auto special = std::find_if(lab.replies.begin() + 1, lab.replies.end(), fits);
  if (special != lab.replies.end()) return &*special;
  return fits(lab.replies.front()) ? &lab.replies.front() : nullptr;
}

std::string bare_source(std::string_view source) {
  std::string out;
  for (const std::string_view line : split(source, "\n"))
    for (const char c : line.substr(0, line.find("//")))
      if (c != ' ' && c != '\t' && c != '\r') out += c;
  return out;
}

std::map<std::string, std::string> answers_in(std::string_view source) {
  constexpr std::string_view mark = "// answer ";
  std::map<std::string, std::string> out;
  for (const std::string_view line : split(source, "\n")) {
    const size_t at = line.find(mark), colon = line.find(':', at == std::string_view::npos ? 0 : at);
    if (at == std::string_view::npos || colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(at + mark.size(), colon - at - mark.size());
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    value = value.substr(0, value.find_first_of(" \r"));  // words behind it are the question's
    out[std::string(name)] = value;
  }
  return out;
}

}  // namespace palladion::labs
