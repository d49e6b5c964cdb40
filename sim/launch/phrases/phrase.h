#pragma once
// The sentences of findings: a name and a template each, in the lists beside this file. report/text puts the
// values of a Statement into the template of its phrase.
#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sim/launch/statement.h"

namespace palladion::sim {

enum class Phrase : uint16_t {
  none,
#define PLD_PHRASE(name, text) name,
#include "sim/launch/phrases/phrases.inc"
#undef PLD_PHRASE
};

// `{}` is the next value, `{x}` one in hexadecimal digits, `{x8}` in 8 of them, `{u}` one without a sign,
// `{*}` all others, `{s}` is an s unless the last number is 1.
constexpr std::string_view template_of(Phrase phrase) {
  constexpr std::string_view templates[] = {
      "",
#define PLD_PHRASE(name, text) text,
#include "sim/launch/phrases/phrases.inc"
#undef PLD_PHRASE
  };
  return templates[static_cast<size_t>(phrase)];
}

// The values that the template names one by one.
constexpr size_t values_of(Phrase phrase) {
  const std::string_view text = template_of(phrase);
  size_t count = 0;
  for (size_t at = 0; at + 1 < text.size(); ++at)
    count += text[at] == '{' && (text[at + 1] == '}' || text[at + 1] == 'x' || text[at + 1] == 'u') ? 1U : 0U;
  return count;
}

// A number, or an index (isa/core/index.h).
template <class T>
concept PhraseNumber = std::integral<T> || (std::is_class_v<T> && std::convertible_to<T, uint64_t>);

template <class T>
PhraseValue value_of(T&& value) {
  if constexpr (PhraseNumber<std::remove_cvref_t<T>>)
    return static_cast<int64_t>(value);
  else if constexpr (std::convertible_to<T, std::string_view>)
    return std::string(std::string_view(value));
  else
    return std::forward<T>(value);
}

// A sentence of a finding: the phrase with its values, as many as its text has places for.
template <Phrase phrase, class... Values>
Statement say(Values&&... values) {
  static_assert(values_of(phrase) == sizeof...(values), "the phrase has another number of values");
  Statement out{.phrase = phrase, .values = {}};
  (out.values.emplace_back(value_of(std::forward<Values>(values))), ...);
  return out;
}

}  // namespace palladion::sim
