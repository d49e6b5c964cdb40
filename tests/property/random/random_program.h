#pragma once
// Random PTX programs over every instruction that computes. Each step stores what it wrote, so that a
// difference between two executions names its first instruction. Deterministic: the forms and the seed give
// the text and the inputs.
//
// What PTX leaves open is avoided: products that ptxas may fuse (every rounding is written), division by
// zero and of the most negative number by -1, two different f64 NaNs (random_values.h), order of atomics.
#include <deque>
#include <string>
#include <vector>

#include "isa/core/form.h"
#include "tests/property/random/random_values.h"

namespace palladion::random_program {

// Pools: h 16 bits, r 32, d 64, f 64 that hold f64, p predicates.
struct Reg {
  char pool = 'r';
  int index = 0;
  friend bool operator==(const Reg&, const Reg&) = default;
  std::string name() const { return std::string("%") + pool + std::to_string(index); }
};

// `bytes` of a thread at offset + bytes * (its number in the grid).
struct Write {
  Reg reg;
  size_t offset = 0, bytes = 4;
};

enum class Reach : uint8_t { lane, warp, cta };  // whose registers a result depends on

struct Step {
  std::string text;
  std::vector<Reg> reads;
  std::vector<Write> writes;
  Reach reach = Reach::lane;
  bool skippable = false;  // a lane that skips it stores nothing
};

struct Program {
  std::string ptx;
  std::vector<Step> steps;
  uint32_t ctas = 1, threads = 128;  // of a CTA
  std::vector<uint8_t> input;
  size_t output_bytes = 0;  // zeros before the launch
  uint32_t all_threads() const { return ctas * threads; }
};

// Forms with the words chosen: what a program is made of.
class Catalogue {
 public:
  struct Entry {
    const isa::Form* form;
    std::vector<int8_t> words;
  };
  explicit Catalogue(const std::vector<std::string>& form_texts);
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;
  // The n-th of an endless sequence that goes through all entries in ever new orders.
  const Entry& scalar(uint64_t n) const { return nth(scalars_, n); }
  const Entry& product(uint64_t n) const { return nth(products_, n); }
  size_t scalars() const { return scalars_.size(); }
  size_t products() const { return products_.size(); }
  const std::deque<isa::Form>& forms() const { return forms_; }

 private:
  void add_entries(const isa::Form& form, Rng& rng);
  static const Entry& nth(const std::vector<Entry>& entries, uint64_t n);
  std::deque<std::string> texts_;
  std::deque<isa::Form> forms_;
  std::vector<Entry> scalars_, products_;
};

// The forms that compute on sm_90a, as isa states them: arithmetic, comparisons, conversions, logic,
// mma.sync.
std::vector<std::string> computing_forms();
std::vector<std::string> read_forms(const std::string& path);  // one a line, '#' starts a comment

std::string instruction_words(const Catalogue::Entry& entry);  // "setp.lt.and.f32"

// Of computing_forms().
const Catalogue& computing_catalogue();

Program generate(const Catalogue& catalogue, uint64_t seed);

}  // namespace palladion::random_program
