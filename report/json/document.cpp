#include "report/json/document.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cmath>

#include "isa/core/visible.h"

namespace palladion::report {
namespace {

// Boost.JSON quotes texts and prints integers. It neither indents nor prints a double as people write it.
class Printer {
 public:
  explicit Printer(bool indented) : indented_(indented) {}

  std::string text(const json::value& value) {
    print(value);
    return std::move(out_);
  }

 private:
  void print(const json::value& value) {
    switch (value.kind()) {
      case json::kind::object:
        return list('{', value.get_object(), '}');
      case json::kind::array:
        return list('[', value.get_array(), ']');
      case json::kind::double_:
        return number(value.get_double());
      case json::kind::string:
        return text_of(value.get_string());
      default:
        out_ += json::serialize(value);
    }
  }

  template <class Elements>
  void list(char open, const Elements& elements, char close) {
    out_ += open;
    ++depth_;
    for (const auto& element : elements) {
      if (&element != elements.begin()) out_ += ',';
      new_line();
      print(element);
    }
    --depth_;
    if (!elements.empty()) new_line();
    out_ += close;
  }

  void print(const json::key_value_pair& member) {
    text_of(member.key());
    out_ += ": ";
    print(member.value());
  }

  // JSON is UTF-8, whatever a file's name or contents are.
  void text_of(std::string_view bytes) { out_ += json::serialize(isa::valid_utf8(bytes)); }

  void number(double number) {
    const std::string text = std::isnan(number) ? "nan" : fmt::format("{}", number);
    out_ += std::isfinite(number) ? text : json::serialize(text);
  }

  void new_line() {
    if (!indented_) return;
    out_ += '\n';
    out_.append(depth_ * 2, ' ');
  }

  bool indented_;
  size_t depth_ = 0;
  std::string out_;
};

}  // namespace

std::string json_text(const json::value& value) { return Printer(true).text(value) + "\n"; }

std::string json_line(const json::value& value) { return Printer(false).text(value); }

}  // namespace palladion::report
