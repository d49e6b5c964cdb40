// Writes JSON in the order in which it is told, so that equal runs give equal bytes.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace palladion::cli {

// JsonWriter json;
// json.begin_object().key("kernel").value("matmul_ws").key("cycles").value(12).end_object();
// write_text(path, json.text());
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(bool truth);
  // The shortest decimal that reads back equal. JSON has no NaN or infinity: they become the strings
  // "nan", "inf" and "-inf".
  JsonWriter& value(double number);
  template <std::integral T>
  JsonWriter& value(T number) {
    if constexpr (std::signed_integral<T>) {
      return integer(int64_t(number));
    } else {
      return unsigned_integer(uint64_t(number));
    }
  }
  JsonWriter& null();

  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  // Indented by two spaces; complete once every begin has its end. Ends with a newline.
  std::string text() const { return out_ + "\n"; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& integer(int64_t number);
  JsonWriter& unsigned_integer(uint64_t number);
  void before_value();
  void new_line();
  void quote(std::string_view text);

  std::string out_;
  int depth_ = 0;
  bool first_ = true;  // nothing yet in the innermost bracket
  bool after_key_ = false;
};

}  // namespace palladion::cli
