// The options of a command, as it states them: the parser, the help, the manual page, the completion and the
// examination of paths take all that they need from here.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/support/exit_code.h"

namespace palladion::cli {

// What a value is: which files are examined before anything runs, and what a shell completes.
enum class Value : uint8_t {
  text,
  kernel,     // a name, a file of kernels or a bundle
  input,      // a file that is read
  output,     // a file that is written
  continued,  // a file that exists and is written further
  folder,
  named_input,   // NAME=FILE, read
  named_output,  // NAME=FILE, written
  argument,      // a parameter of a launch (verify/launch/arg_spec.h)
  binding,       // NAME=argument
};

struct Option {
  std::string names;  // "--seed", "-o,--output"; without a dash a word behind the command
  std::string type;   // of the value in the help: "TEXT", "N"; empty: a flag
  std::string doc;
  Value value = Value::text;
  bool many = false;                 // may be given several times
  std::vector<std::string> choices;  // words for completion
  // Parses one text that was given; called after all of the command line was read, in the order of options.
  std::function<Outcome<void>(const std::string&)> take;

  std::string name() const;  // "--output", "KERNEL"
  bool is_flag() const { return type.empty(); }
  bool is_positional() const { return !names.starts_with('-'); }
  Option& one_of(std::vector<std::string> words);
};

// Texts of the kind NAME=VALUE by their names.
using Pairs = std::map<std::string, std::string>;

// What is stated here stays until the command line is parsed: `into` must live as long.
class Words {
  template <class T>
  struct Number {
    using type = T;
  };
  template <class T>
  struct Number<std::optional<T>> {
    using type = T;
  };

 public:
  Option& text(std::string names, std::string& into, std::string doc, Value value = Value::text);
  Option& texts(std::string names, std::vector<std::string>& into, std::string doc,
                Value value = Value::text);
  Option& flag(std::string names, bool& into, std::string doc, bool value = true);
  Option& boolean(std::string names, bool& into, std::string doc);
  // "m=512,n=512"; a named file may hold commas.
  Option& pairs(std::string names, Pairs& into, std::string doc, Value value = Value::text);
  // Bytes with a unit: 4096, 48KiB, 2GB. From `low` on.
  template <class T>
  Option& bytes(std::string names, T& into, uint64_t low, std::string doc) {
    return take(std::move(names), "N", std::move(doc),
                [&into, low](const Option& o, const std::string& text) {
                  using N = typename Number<T>::type;
                  return bytes_of(o, text, low, std::numeric_limits<N>::max()).map([&](uint64_t n) {
                    into = static_cast<N>(n);
                  });
                });
  }
  // Seconds, or with a unit: 500ms, 10s, 2min.
  Option& seconds(std::string names, std::chrono::milliseconds& into, std::chrono::seconds most,
                  std::string doc);
  // A whole number, refused with the range that is permitted.
  template <class T>
  Option& number(std::string names, T& into, uint64_t low, uint64_t high, std::string doc) {
    return take(std::move(names), "N", std::move(doc),
                [&into, low, high](const Option& o, const std::string& text) {
                  return number_of(o, text, low, high).map([&](uint64_t n) {
                    into = static_cast<typename Number<T>::type>(n);
                  });
                });
  }
  // One of these words.
  template <class T>
  Option& word(std::string names, T& into,
               std::vector<std::pair<std::string, typename Number<T>::type>> meanings, std::string doc) {
    std::vector<std::string> known;
    for (const auto& [name, meaning] : meanings) known.push_back(name);
    return take(std::move(names), "TEXT", std::move(doc),
                [&into, meanings, known](const Option& o, const std::string& text) -> Outcome<void> {
                  for (const auto& [name, meaning] : meanings)
                    if (name == text) return into = meaning, Outcome<void>{};
                  return wrong_word_of(o, text, known);
                })
        .one_of(known);
  }
  // Whatever `parse`, const std::string& -> Outcome<Value>, makes of it.
  template <class T, class Parse>
  Option& parsed(std::string names, T& into, Parse parse, std::string doc, std::string type = "TEXT") {
    return take(std::move(names), std::move(type), std::move(doc),
                [&into, parse](const Option&, const std::string& text) {
                  return parse(text).map([&](auto value) { into = std::move(value); });
                });
  }

  const std::deque<Option>& all() const { return options_; }

 private:
  template <class Take>
  Option& take(std::string names, std::string type, std::string doc, Take take_text) {
    Option& o = options_.emplace_back(
        Option{.names = std::move(names), .type = std::move(type), .doc = std::move(doc)});
    o.take = [&o, take_text](const std::string& text) -> Outcome<void> { return take_text(o, text); };
    return o;
  }
  static Outcome<uint64_t> number_of(const Option& option, const std::string& text, uint64_t low,
                                     uint64_t high);
  static Outcome<uint64_t> bytes_of(const Option& option, const std::string& text, uint64_t low,
                                    uint64_t high);

  static tl::unexpected<Failure> wrong_word_of(const Option& option, const std::string& text,
                                               const std::vector<std::string>& known);

  std::deque<Option> options_;
};

// Limits that several commands share.
inline constexpr uint64_t any_number = ~uint64_t{0};
inline constexpr uint64_t most_threads = 4096, most_lines = 1'000'000'000;
inline constexpr std::chrono::seconds most_seconds{86'400};

// Options that several commands have.
void state_threads(Words& words, unsigned& threads);  // 0: all of the host
void state_fmad(Words& words, bool& fmad);
void state_report(Words& words, std::string& file);

// "did you mean `x`?", else "valid names: a, b".
std::string suggestion(std::string_view word, const std::vector<std::string>& known);
// The same for the names of a range's elements.
template <class Range>
std::vector<std::string> names_of(const Range& range) {
  std::vector<std::string> names;
  for (const auto& element : range) names.emplace_back(element.name);
  return names;
}

}  // namespace palladion::cli
