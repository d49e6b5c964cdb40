#pragma once
// A lab: what the learner reads, the file with gaps, how a submission is judged, and what a teacher would say
// to each mistake. The format of the files is stated in README.md.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verify/arrays/arrays.h"

namespace palladion::labs {

// The three files of a lab's folder, as they are embedded.
struct LabFiles {
  std::string_view folder;  // "05-parity"
  std::string_view text, rules, kernel;
};

// Sizes and settings of a kernel by name.
using Values = std::map<std::string, std::string>;
// "n=4096,stages=3"
std::string text_of(const Values& values);

struct ArrayRule {
  std::string name;
  pl::DType dtype = pl::f32;
  std::vector<std::string> shape;  // names of sizes, or numbers
  Fill fill;                       // of an input; its seed is the case's

  pl::ShapeDtype type(const Values& values) const;
};

// One launch on inputs that the learner has not seen.
struct Case {
  Values values;
  uint64_t seed = 0;
};

// A quantity of a run of the clock, and its permitted range.
struct Measure {
  std::string quantity;  // quantities()
  Values values;
  double low = 0, high = 0;    // low <= x <= high
  std::optional<double> from;  // what earns nothing: from here to the range the share grows from 0 to 1

  bool permits(double value) const { return low <= value && value <= high; }
  // Of a run's quantity, in [0, 1]; a measure without `from` gives 0 or 1.
  double share(double value) const;
};

// What the PTX, or the file's source, must (or must not) contain.
struct TextRule {
  enum class Of : uint8_t { ptx, source };
  Of of = Of::ptx;
  bool wanted = true;
  size_t times = 1;  // at least, when wanted
  std::string text;  // "cp.async.bulk.tensor"
  std::string why;   // for people
};

// A question that a line `// answer NAME: VALUE` of the file answers.
struct Question {
  std::string name;
  std::vector<std::string> accepted;  // words, or ranges of numbers "10..12"
  bool accepts(std::string_view answer) const;
};

// One thing that must hold for an explanation to be the right one.
struct Condition {
  enum class Kind : uint8_t {
    code,
    outputs,
    measure,
    ptx,
    no_ptx,
    ptx_order,
    source,
    no_source,
    answer,
    breaks,
    refused
  };
  Kind kind = Kind::code;
  std::string word;  // the code, the quantity, the text (of a rule: that it breaks), the question's name
  // Of a code: part of the finding's text; of an answer: the value, empty: any wrong one; of an order of the
  // PTX: what `word` first comes before.
  std::string detail;
  size_t number = 0;  // outputs: of this case alone, from 1; 0: of any
};

// An explanation. Of the replies whose conditions all hold, the first is given.
struct Reply {
  std::string name;  // of the variant of the kernel that earns it; empty: no variant of the tests
  std::vector<Condition> conditions;
  std::string text;
};

struct Lab {
  std::string name, folder, title, group, kernel, arch;
  int minutes = 10;
  bool strict = false;  // findings of severity strict count
  std::vector<ArrayRule> inputs, outputs;
  std::vector<Case> cases;
  std::string reference;  // references.h
  Tolerance tolerance;
  std::vector<Measure> measures;
  std::vector<TextRule> text_rules;
  std::vector<Question> questions;
  std::vector<std::string> hints;
  std::string solution;        // its explanation; empty: left out (pack.h), as is its variant of the kernel
  std::vector<Reply> replies;  // the starter's first
  std::string_view text, rules, source;

  // The file's text as "starter", "solution" or a reply's name. Lines that other variants have are left out.
  std::string variant(std::string_view name) const;
};

// In the order in which they are worked through: those of this program, or, where $PALLADION_LABS names a
// folder, those in it. Throws std::runtime_error when a lab's files are malformed.
std::span<const Lab> all_labs();
// By name ("parity"), number ("5" or "05") or folder ("05-parity").
const Lab* find_lab(std::string_view word);
// "05"
std::string number_of(const Lab& lab);

// Throws std::runtime_error, naming file and line.
Lab parse_lab(const LabFiles& files);

}  // namespace palladion::labs
