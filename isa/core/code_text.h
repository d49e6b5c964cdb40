#pragma once
// The meaning of each diagnostic code. Each folder that reports diagnostics has a table of its
// codes (codes.h there); `palladion explain` prints them, and findings of the checkers quote them.
#include <compare>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace palladion::isa {

// The number of a code. Each list of codes has an enumeration with their names, which converts to it.
class CodeNumber {
 public:
  constexpr CodeNumber() = default;  // none
  template <class Code>
    requires std::is_enum_v<Code>
  constexpr CodeNumber(Code code) : number_(static_cast<uint16_t>(code)) {}  // NOLINT: implicit on purpose
  // "PLD4309": as tests and tables write it.
  constexpr CodeNumber(const char (&text)[8]) : CodeNumber(std::string_view(text)) {}  // NOLINT: implicit
  // Of the same form; any other text: none.
  constexpr explicit CodeNumber(std::string_view text) {
    if (text.size() != 7 || !text.starts_with("PLD")) return;
    for (const char digit : text.substr(3)) {
      if (digit < '0' || digit > '9') {
        number_ = 0;
        return;
      }
      number_ = static_cast<uint16_t>(10 * number_ + (digit - '0'));
    }
  }
  constexpr int number() const { return number_; }
  constexpr bool known() const { return number_ != 0; }
  std::string name() const;  // "PLD4309"; empty: none
  friend constexpr auto operator<=>(CodeNumber, CodeNumber) = default;

 private:
  uint16_t number_ = 0;
};

// How severe the findings of a code are. by_case: errors, or strict where shipped kernels do the same.
enum class CodeSeverity : uint8_t { error, strict, by_case };

struct CodeText {
  int number;
  std::string_view title;
  std::string_view meaning;
  std::string_view wrong, right;  // short examples; empty where the meaning says it all
  // Of findings. The examples of the checkers' are the twins of zoo.
  std::string_view rule;    // the sections of the PTX manual, or of the CUDA programming guide
  std::string_view effect;  // what hardware does
  std::string_view fix;     // the help of a finding that has none of its own
  int reported_as = 0;      // of an entry of the taxonomy that the machine itself detects: the machine's code
  CodeSeverity severity = CodeSeverity::error;
  std::string_view name = {};  // of the enumerator, where it is stated beside the text
};

// The text of an enumerator whose value is the code's number.
constexpr CodeText text_of(auto code, std::string_view title, std::string_view meaning = {},
                           std::string_view wrong = {}, std::string_view right = {},
                           std::string_view fix = {}) {
  return {.number = static_cast<int>(code),
          .title = title,
          .meaning = meaning,
          .wrong = wrong,
          .right = right,
          .rule = {},
          .effect = {},
          .fix = fix};
}

// "PLD3001"
std::string code_name(int number);

}  // namespace palladion::isa
