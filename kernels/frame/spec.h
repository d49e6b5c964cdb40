#pragma once
// A kernel's description: its sizes and settings, how it is built, its inputs and its expected outputs.
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontend/launch/kernel.h"
#include "isa/arch/arch.h"
#include "verify/arrays/arrays.h"

namespace palladion::kernels {

// The integers that a size or setting may be: min <= x <= max, a multiple of `multiple_of`.
struct Range {
  // Both included.
  int64_t min = std::numeric_limits<int64_t>::min(), max = std::numeric_limits<int64_t>::max();
  int64_t multiple_of = 1;  // 1: any
  // Whether x is allowed.
  bool contains(int64_t x) const { return x >= min && x <= max && x % multiple_of == 0; }
};
// "128 to 8192, multiples of 128"; empty for all integers.
std::string describe(const Range& range);
// The floating-point numbers that a setting may be; infinities and NaN are none.
struct RealRange {
  // Both included.
  double min = std::numeric_limits<double>::lowest(), max = std::numeric_limits<double>::max();
  // Whether x is allowed.
  bool contains(double x) const { return x >= min && x <= max; }
};
std::string describe(const RealRange& range);  // "0 to 1"; empty for all

// A size that the user may choose: --shape m=512. Always positive.
struct SizeParam {
  std::string name;      // of --shape
  int64_t fallback = 0;  // the default
  std::string doc;       // what it counts
  Range range = {};      // what is allowed
};

// Anything else that the user may choose: --set tile_m=128. Without `allowed`, any integer of the range.
struct Setting {
  std::string name;                  // of --set
  std::string fallback;              // the default
  std::string doc;                   // one line
  std::vector<std::string> allowed;  // values; empty: numbers in the range
  int per_sm = 0;  // not 0: the default is so many for each SM of the chip, `fallback` that of default_arch()
  Range range = {};                    // of numbers
  std::optional<RealRange> real = {};  // a floating-point number, within it
};

// A number of CTAs whose default follows the chip.
Setting ctas_setting(std::string name, int per_sm, std::string doc);

// A floating-point number.
Setting real_setting(std::string name, double fallback, std::string doc, RealRange range = {});

// Scopes are recorded, for --trace.
Setting profile_setting();

// What was chosen: every size and every setting of the kernel, defaults filled in.
class Choice {
 public:
  std::map<std::string, int64_t> sizes;              // by name
  std::map<std::string, std::string> settings;       // by name, as they were written
  const isa::ArchSpec* arch = &isa::default_arch();  // the chip that the kernel is recorded for

  // A size by name.
  int64_t size(const std::string& name) const { return sizes.at(name); }
  // A setting as a word.
  const std::string& word(const std::string& name) const { return settings.at(name); }
  int64_t number(const std::string& name) const;  // a setting as a number
  double real(const std::string& name) const;     // a setting as a floating-point number
  // A setting that is 0 or 1.
  bool flag(const std::string& name) const { return number(name) != 0; }
  // A setting whose words are dtypes.
  pl::DType dtype(const std::string& name) const;
};
// A kernel as the commands know it.
struct KernelSpec {
  std::string name;                          // by which commands name it
  std::string doc;                           // one line
  std::vector<SizeParam> sizes;              // of --shape
  std::vector<Setting> settings;             // of --set
  std::vector<std::string> inputs, outputs;  // names of the arrays, in the kernel's order
  // The names of the inputs of a choice, where others than the last may be absent; without it `inputs`.
  std::function<std::vector<std::string>(const Choice&)> chosen_inputs;
  std::string chip;  // that it is for where no other is chosen, "b200"; empty: default_arch()
  // Records the kernel for the choice's chip. Throws isa::Error for an invalid choice.
  std::function<plgpu::Kernel(const Choice&)> build;
  // Without it: normal numbers, of the types that the kernel takes (inputs_of).
  std::function<std::vector<Array>(const Choice&, uint64_t seed)> make_inputs;
  // The expected outputs. Without it outputs are not compared.
  std::function<std::vector<Array>(const Choice&, const std::vector<Array>& inputs)> reference;
  // Their tolerance; without it, equal bit by bit.
  std::function<Tolerance(const Choice&)> tolerance;
};

// The chip that a kernel is for where no other is chosen.
const isa::ArchSpec& chip_of(const KernelSpec& spec);

// The names of the inputs that the kernel has with this choice; more than it has: the last ones are absent.
std::vector<std::string> input_names(const KernelSpec& spec, const Choice& choice);

// The defaults, overridden, for the kernel's own chip or another. What is wrong with an override (unknown
// name, not a number, a word that is not allowed) is returned as isa::Error (PLD5003) with the valid values.
Choice choose(const KernelSpec& spec, const std::map<std::string, std::string>& sizes = {},
              const std::map<std::string, std::string>& settings = {}, const isa::ArchSpec* arch = nullptr);

// The kernel's inputs, as make_inputs says or else normal numbers.
std::vector<Array> inputs_of(const KernelSpec& spec, const plgpu::Kernel& kernel, const Choice& choice,
                             uint64_t seed);

// Arrays of normal numbers; the first is made from `seed`, each other one from the seed after it.
std::vector<Array> normal_inputs(const std::vector<pl::ShapeDtype>& types, uint64_t seed);

}  // namespace palladion::kernels
