#pragma once
// The meaning of each diagnostic code. Each folder that reports diagnostics has a table of its
// codes (codes.h there); `palladion explain` prints them, and findings of the checkers quote them.
#include <cstdint>
#include <string_view>

namespace palladion::isa {

// How severe the findings of a code are. by_case: errors, or strict where shipped kernels do the same.
enum class CodeSeverity : uint8_t { error, strict, by_case };

struct CodeText {
  int number;
  std::string_view title;
  std::string_view meaning;
  std::string_view wrong, right;  // short examples; empty where the meaning says it all
  // Of findings of the checkers. Their examples are the twins of zoo.
  std::string_view rule;    // the sections of the PTX manual, or of the CUDA programming guide
  std::string_view effect;  // what hardware does
  std::string_view fix;
  int reported_as = 0;  // of an entry of the taxonomy that the machine itself detects: the machine's code
  CodeSeverity severity = CodeSeverity::error;
  std::string_view name = {};  // of the enumerator, where it is stated beside the text
};

}  // namespace palladion::isa
