// What every diagnostic code means: the text of `palladion explain PLD3001`.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace palladion::cli {

struct CodeText {
  int number;
  std::string_view title;
  std::string_view meaning;
  std::string_view wrong, right;  // short examples; empty where the meaning says it all
  // Of findings of the checkers. Their examples are the twins of zoo.
  std::string_view rule;    // the sections of the PTX manual, or of CUDA's
  std::string_view effect;  // what hardware does
  std::string_view fix;
};

// Ascending numbers. Defined by area: 1 PTX text, 2 recording, 3 launch and run, 4 and 6 checkers (a table
// for each group of the taxonomy), 5 kernels and architectures, 8 device.
std::span<const std::span<const CodeText>> all_codes();

const CodeText* find_code(int number);
// "PLD3001", "pld3001", "3001", or an entry of the taxonomy ("MB-13": 4113); 0 for other words.
int code_number(std::string_view word);
// The entry of the taxonomy that a code tells of, "MB-13"; empty for other codes.
std::string entry_of(int number);

// ---- the tables -------------------------------------------------------------------------------------
std::span<const CodeText> text_codes(), record_codes(), run_codes(), kernel_codes(), device_codes();
std::span<const CodeText> race_codes(), mbarrier_codes(), transaction_codes(), tma_codes(), wgmma_codes();
std::span<const CodeText> named_barrier_codes(), divergence_codes(), cluster_codes(), deadlock_codes();
std::span<const CodeText> global_codes(), undefined_codes(), resource_codes(), numerics_codes();

}  // namespace palladion::cli
