#include "cli/options/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "cli/support/program_name.h"
#include "isa/host/units.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

// An error of one word, with where all of them are listed.
tl::unexpected<Failure> wrong_word(const std::string& message) {
  return user_error(message, fmt::format("`{0} --help`, `{0} COMMAND --help`", program_name()));
}

Outcome<void> add_pairs(Pairs& into, const std::string& name, const std::string& text, bool whole) {
  for (const std::string_view pair : whole ? std::vector<std::string_view>{text} : split(text, ",")) {
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size())
      return user_error(fmt::format("{} {}: expected NAME={}", name, text, whole ? "file.npy" : "value"));
    const auto [at, is_new] = into.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    if (!is_new) return user_error(fmt::format("{} gives {} more than once", name, at->first));
  }
  return {};
}

}  // namespace

std::string Option::name() const { return names.substr(names.rfind(',') + 1); }

Option& Option::one_of(std::vector<std::string> words) {
  choices = std::move(words);
  return *this;
}

Option& Words::text(std::string names, std::string& into, std::string doc, Value value) {
  Option& o = take(std::move(names), "TEXT", std::move(doc),
                   [&into](const Option&, const std::string& text) -> Outcome<void> {
                     into = text;
                     return {};
                   });
  o.value = value;
  return o;
}

Option& Words::texts(std::string names, std::vector<std::string>& into, std::string doc, Value value) {
  Option& o = take(std::move(names), "TEXT", std::move(doc),
                   [&into](const Option&, const std::string& text) -> Outcome<void> {
                     into.push_back(text);
                     return {};
                   });
  o.value = value;
  o.many = true;
  return o;
}

Option& Words::flag(std::string names, bool& into, std::string doc, bool value) {
  return take(std::move(names), "", std::move(doc),
              [&into, value](const Option&, const std::string&) -> Outcome<void> {
                into = value;
                return {};
              });
}

Option& Words::boolean(std::string names, bool& into, std::string doc) {
  return take(std::move(names), "BOOLEAN", std::move(doc),
              [&into](const Option& o, const std::string& text) -> Outcome<void> {
                const auto value = boolean_in(text);
                if (!value) return wrong_word(fmt::format("{} is true or false, not `{}`", o.name(), text));
                into = *value;
                return {};
              })
      .one_of({"true", "false"});
}

Option& Words::pairs(std::string names, Pairs& into, std::string doc, Value value) {
  const bool whole = value != Value::text;
  Option& o = take(std::move(names), "TEXT", std::move(doc),
                   [&into, whole](const Option& option, const std::string& text) {
                     return add_pairs(into, option.name(), text, whole);
                   });
  o.value = value;
  o.many = true;
  return o;
}

Option& Words::seconds(std::string names, std::chrono::milliseconds& into, std::chrono::seconds most,
                       std::string doc) {
  return take(
      std::move(names), "N", std::move(doc),
      [&into, most](const Option& o, const std::string& text) -> Outcome<void> {
        const auto time = time_in(text);
        if (!time || time->count() == 0 || *time > most)
          return wrong_word(fmt::format("{} is a time up to {} seconds, such as 10, 500ms or 2min, not `{}`",
                                        o.name(), most.count(), text));
        into = *time;
        return {};
      });
}

Outcome<uint64_t> Words::number_of(const Option& o, const std::string& text, uint64_t low, uint64_t high) {
  const auto value = number_in<uint64_t>(text);
  if (value && *value >= low && *value <= high) return *value;
  return wrong_word(fmt::format("{} is a whole number from {} to {}, not `{}`", o.name(), low, high, text));
}

Outcome<uint64_t> Words::bytes_of(const Option& o, const std::string& text, uint64_t low, uint64_t high) {
  const auto value = bytes_in(text);
  if (value && *value >= low && *value <= high) return *value;
  return wrong_word(fmt::format("{} is a size from {} to {} bytes, such as 4096, 48KiB or 2GB, not `{}`",
                                o.name(), low, high, text));
}

tl::unexpected<Failure> Words::wrong_word_of(const Option& o, const std::string& text,
                                             const std::vector<std::string>& known) {
  const std::span<const std::string> first(known.data(), known.size() - 1);
  return user_error(
      fmt::format("{} is {} or {}, not `{}`", o.name(), fmt::join(first, ", "), known.back(), text));
}

void state_threads(Words& words, unsigned& threads) {
  words.number("--threads", threads, 0, most_threads, "host threads; 0: all");
}

void state_fmad(Words& words, bool& fmad) {
  words.boolean(
      "--fmad", fmad,
      "true: `mul` and `add` without a rounding become one fma where ptxas makes one; false: each is "
      "rounded, as after ptxas --fmad=false");
}

void state_report(Words& words, std::string& file) {
  words.text("--report", file,
             "a file for an HTML report: one page that needs no network, with timeline, source, memory, "
             "findings",
             Value::output);
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? fmt::format("valid names: {}", fmt::join(known, ", "))
                      : fmt::format("did you mean `{}`?", near);
}

}  // namespace palladion::cli
