#pragma once
// From what was seen of a submission to the explanation that fits.
#include <map>
#include <string>
#include <vector>

#include "labs/lab.h"

namespace palladion::labs {

// A finding of a run, or a refusal while the kernel was recorded.
struct SeenCode {
  std::string code, text;  // text: the whole message
};

struct Symptoms {
  bool compiles = true;
  std::string compiler_text;  // when it does not
  std::vector<SeenCode> codes;
  std::vector<size_t> wrong_cases;  // whose outputs differ, from 1
  std::vector<std::string> missed_measures;
  std::vector<std::string> broken_rules;             // their texts
  std::map<std::string, std::string> wrong_answers;  // question -> what was answered
  std::string ptx;                                   // of the first case
  std::string source;                                // without comments and spaces (bare_source)
};

// Whether the first case's PTX, or the source (bare_source), keeps the rule.
bool keeps(const TextRule& rule, std::string_view ptx, std::string_view source);

// Null: the lab knows no explanation.
const Reply* reply_to(const Lab& lab, const Symptoms& symptoms);

// Without comments, spaces and line breaks.
std::string bare_source(std::string_view source);

// The lines `// answer NAME: VALUE` of a file.
std::map<std::string, std::string> answers_in(std::string_view source);

}  // namespace palladion::labs
