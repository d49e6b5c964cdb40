// rules.txt of a lab: lines `key value`, then sections `== kind ...` of text.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

#include "labs/lab.h"
#include "labs/measures.h"
#include "labs/references.h"
#include "verify/arrays/words.h"

namespace palladion::labs {
namespace {

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \n") - first + 1);
}

// Without empty lines at its ends. The indentation of the first line stays: it may be code.
std::string_view paragraphs(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) return {};
  const size_t line = text.rfind('\n', first) + 1;  // npos + 1: the text begins with it
  return text.substr(line, text.find_last_not_of(" \n") + 1 - line);
}

// "a b  c" at the first space.
std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
  text = trim(text);
  const size_t space = text.find(' ');
  if (space == std::string_view::npos) return {text, {}};
  return {text.substr(0, space), trim(text.substr(space))};
}

// "A && B"
std::vector<std::string_view> conditions_in(std::string_view text) {
  constexpr std::string_view separator = "&&";
  std::vector<std::string_view> out;
  for (size_t end; (end = text.find(separator)) != std::string_view::npos;) {
    out.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  out.push_back(text);
  return out;
}

class Reader {
 public:
  explicit Reader(const LabFiles& files) : files_(files) {
    lab_.folder = files.folder;
    lab_.name = lab_.folder.substr(lab_.folder.find('-') + 1);
    lab_.text = files.text;
    lab_.rules = files.rules;
    lab_.source = files.kernel;
    lab_.kernel = lab_.name;
  }

  Lab read() {
    for (const std::string_view line : split(files_.rules, "\n")) {
      ++line_;
      if (line.starts_with("== ")) {
        begin_section(line.substr(3));
      } else if (section_ != nullptr) {
        *section_ += line;
        *section_ += '\n';
      } else if (!trim(line).empty() && !line.starts_with("#")) {
        take(line);
      }
    }
    finish();
    return std::move(lab_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(fmt::format("labs/{}/rules.txt:{}: {}", files_.folder, line_, what));
  }

  void take(std::string_view line) {
    const auto [key, value] = first_word(line);
    if (key == "title")
      lab_.title = value;
    else if (key == "group")
      lab_.group = value;
    else if (key == "kernel")
      lab_.kernel = value;
    else if (key == "arch")
      lab_.arch = value;
    else if (key == "strict")
      lab_.strict = value == "yes";
    else if (key == "minutes")
      lab_.minutes = number_in<int>(value).value_or(0);
    else if (key == "in")
      lab_.inputs.push_back(array(value));
    else if (key == "out")
      lab_.outputs.push_back(array(value));
    else if (key == "case")
      lab_.cases.push_back({values(value), 1000 + 17 * lab_.cases.size()});
    else if (key == "reference")
      lab_.reference = value;
    else if (key == "within")
      within(value);
    else if (key == "measure")
      lab_.measures.push_back(measure(value));
    else if (key == "uses" || key == "avoids")
      lab_.text_rules.push_back(text_rule(TextRule::Of::ptx, key == "uses", value));
    else if (key == "writes" || key == "leaves")
      lab_.text_rules.push_back(text_rule(TextRule::Of::source, key == "writes", value));
    else if (key == "answer")
      lab_.questions.push_back(question(value));
    else
      fail(fmt::format("unknown key `{}`", key));
  }

  // "x f32[n,k] rand"
  ArrayRule array(std::string_view text) const {
    const auto [name, rest] = first_word(text);
    const auto [type, fill] = first_word(rest);
    const size_t open = type.find('['), close = type.find(']');
    const auto dtype = dtype_named(type.substr(0, open));
    if (open == std::string_view::npos || close == std::string_view::npos || !dtype)
      fail(fmt::format("`{}` is no array: x f32[n]", text));
    ArrayRule out{.name = std::string(name), .dtype = *dtype, .shape = {}, .fill = {}};
    for (const std::string_view dim : split(type.substr(open + 1, close - open - 1), ","))
      out.shape.emplace_back(trim(dim));
    const auto known = fill_named(fill.empty() ? "randn(0)" : fill);
    if (!known) fail(fmt::format("unknown contents `{}`", fill));
    out.fill = *known;
    return out;
  }

  // "n=4096 stages=3"
  Values values(std::string_view text) const {
    Values out;
    for (const std::string_view word : split(text, " ")) {
      if (trim(word).empty()) continue;
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos) fail(fmt::format("`{}` is not NAME=VALUE", word));
      out.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
    return out;
  }

  // "0.001" relative, or "0.001 0.01": absolute as well.
  void within(std::string_view text) {
    const auto [relative, absolute] = first_word(text);
    lab_.tolerance = {.relative = number_in<double>(relative).value_or(0),
                      .absolute = number_in<double>(absolute).value_or(0)};
    if (lab_.tolerance.exact()) fail("a tolerance is a number above 0");
  }

  // "cycles n=65536: 0..9000", "cycles n=65536: 0..9000 from 12000"
  Measure measure(std::string_view text) const {
    const size_t colon = text.find(':'), dots = text.find("..");
    if (colon == std::string_view::npos || dots == std::string_view::npos)
      fail("a measure is `cycles n=4096: 0..9000`");
    const auto [quantity, settings] = first_word(text.substr(0, colon));
    const auto [last, more] = first_word(text.substr(dots + 2));
    const auto low = number_in<double>(trim(text.substr(colon + 1, dots - colon - 1))),
               high = number_in<double>(last);
    if (!low || !high) fail("a measure ends with a range: 0..9000");
    if (!is_quantity(quantity)) fail(fmt::format("unknown quantity `{}`", quantity));
    Measure out{std::string(quantity), values(settings), *low, *high, {}};
    if (more.empty()) return out;
    const auto [word, number] = first_word(more);
    out.from = number_in<double>(number);
    if (word != "from" || !out.from || out.permits(*out.from))
      fail("behind the range stands what earns nothing, outside of it: 0..9000 from 12000");
    return out;
  }

  // "cp.async.bulk.tensor : the tile is copied by TMA"; "3 x mbarrier.try_wait : ..."
  TextRule text_rule(TextRule::Of of, bool wanted, std::string_view text) const {
    const size_t colon = text.find(" : ");
    if (colon == std::string_view::npos) fail("a rule of a text is `uses TEXT : why`");
    TextRule out{.of = of, .wanted = wanted, .times = 1, .text = {}, .why = {}};
    std::string_view wanted_text = trim(text.substr(0, colon));
    if (const size_t x = wanted_text.find(" x "); x != std::string_view::npos)
      if (const auto times = number_in<size_t>(wanted_text.substr(0, x))) {
        out.times = *times;
        wanted_text.remove_prefix(x + 3);
      }
    out.text = wanted_text;
    out.why = trim(text.substr(colon + 3));
    return out;
  }

  // "phase 0 | zero"
  Question question(std::string_view text) const {
    const auto [name, values] = first_word(text);
    Question out{std::string(name), {}};
    for (const std::string_view one : split(values, "|")) out.accepted.emplace_back(trim(one));
    if (values.empty()) fail("a question needs an answer");
    return out;
  }

  // "hint", "solution", "starter: PLD3003", "wrong NAME: PLD4309, outputs", "reply: outputs 2"
  void begin_section(std::string_view title) {
    const size_t colon = title.find(':');
    const auto [kind, name] = first_word(title.substr(0, colon));
    if (kind == "hint") {
      section_ = &lab_.hints.emplace_back();
    } else if (kind == "solution") {
      section_ = &lab_.solution;
    } else if (kind == "starter" || kind == "wrong" || kind == "reply") {
      Reply& reply = lab_.replies.emplace_back();
      reply.name = kind == "starter" ? kind : name;
      if (colon == std::string_view::npos) fail("what does this reply answer? `== wrong NAME: PLD4309`");
      for (const std::string_view one : conditions_in(title.substr(colon + 1)))
        reply.conditions.push_back(condition(trim(one)));
      section_ = &reply.text;
    } else {
      fail(fmt::format("unknown section `{}`", kind));
    }
  }

  Condition condition(std::string_view text) const {
    using Kind = Condition::Kind;
    const auto [word, rest] = first_word(text);
    if (word == "outputs") return {Kind::outputs, {}, {}, number_in<size_t>(rest).value_or(0)};
    if (word == "measure") return {Kind::measure, std::string(rest), {}, 0};
    if (word == "ptx") return {Kind::ptx, std::string(rest), {}, 0};
    if (word == "no-ptx") return {Kind::no_ptx, std::string(rest), {}, 0};
    if (word == "source") return {Kind::source, std::string(rest), {}, 0};
    if (word == "no-source") return {Kind::no_source, std::string(rest), {}, 0};
    if (word == "breaks") return {Kind::breaks, std::string(rest), {}, 0};
    if (word == "ptx-order") {
      const size_t before = rest.find(" < ");
      if (before == std::string_view::npos) fail("an order is `ptx-order FIRST < SECOND`");
      return {Kind::ptx_order, std::string(trim(rest.substr(0, before))),
              std::string(trim(rest.substr(before + 3))), 0};
    }
    if (word == "answer") {
      const size_t equals = rest.find('=');
      return {Kind::answer, std::string(trim(rest.substr(0, equals))),
              equals == std::string_view::npos ? std::string() : std::string(trim(rest.substr(equals + 1))),
              0};
    }
    if (word == "does-not-compile") return {Kind::refused, {}, std::string(rest), 0};
    if (word.starts_with("PLD")) return {Kind::code, std::string(word), std::string(rest), 0};
    fail(fmt::format("unknown condition `{}`", text));
  }

  void finish() {
    for (std::string& hint : lab_.hints) hint = paragraphs(hint);
    lab_.solution = paragraphs(lab_.solution);
    for (Reply& reply : lab_.replies) reply.text = paragraphs(reply.text);
    if (lab_.title.empty() || lab_.group.empty()) fail("title and group are needed");
    if (lab_.hints.size() != 3) fail(fmt::format("there are {} hints, three are needed", lab_.hints.size()));
    if (lab_.cases.empty()) fail("at least one case is needed");
    if (!has_reference(lab_.reference)) fail(fmt::format("there is no reference `{}`", lab_.reference));
    if (lab_.replies.empty() || lab_.replies.front().name != "starter")
      fail("the first reply is the starter's");
    for (const Case& one : lab_.cases)
      for (const auto* arrays : {&lab_.inputs, &lab_.outputs})
        for (const ArrayRule& array : *arrays) (void)array.type(one.values);
  }

  const LabFiles& files_;
  Lab lab_;
  size_t line_ = 0;
  std::string* section_ = nullptr;
};

}  // namespace

Lab parse_lab(const LabFiles& files) { return Reader(files).read(); }

}  // namespace palladion::labs
