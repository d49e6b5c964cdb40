// What every diagnostic code means: the text of `palladion explain PLD3001`.
#pragma once

#include <span>
#include <string_view>

namespace palladion::cli {

struct CodeText {
  int number;
  std::string_view title;
  std::string_view meaning;
  std::string_view wrong, right;  // short examples; empty where the meaning says it all
};

// Ascending numbers. Defined by area: 1 PTX text, 2 recording, 3 launch and run, 5 kernels, 8 device.
std::span<const CodeText> text_codes(), record_codes(), run_codes(), kernel_codes(), device_codes();

const CodeText* find_code(int number);
// "PLD3001", "pld3001" or "3001"; 0 for other words.
int code_number(std::string_view word);

}  // namespace palladion::cli
