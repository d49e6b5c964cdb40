#pragma once
// Changes to the body of a function that leave labels and pragmas in front of the same instructions.
#include <string>
#include <string_view>

#include "isa/arch/arch.h"
#include "isa/core/module.h"

namespace palladion::sim::check {

// Words of an instruction as a mnemonic, "mbarrier.init.shared::cta.b64".
std::string words_of(const isa::Instruction& instruction);
// The instruction with other words; false, and nothing changed, when PTX has none of them for its operands.
bool set_words(isa::Instruction& instruction, const std::string& words);
// One word replaced, or removed with its dot when `by` is empty; false as above, or when it is not there.
bool replace_word(isa::Instruction& instruction, std::string_view word, std::string_view by);

class Edit {
 public:
  Edit(isa::Module& module, isa::Function& function, const isa::ArchSpec& arch)
      : module_(module), function_(function), arch_(arch) {}

  const isa::Module& module() const { return module_; }
  const isa::ArchSpec& arch() const { return arch_; }
  isa::Function& function() { return function_; }
  isa::Instruction& at(uint32_t index) { return function_.body[index]; }

  void erase(uint32_t index);
  // Gives operand `operand` of instruction `index` the value `op`(value, constant), PTX's add or xor. A
  // register's value is computed by an instruction inserted before it; so the index of the instruction may
  // grow, and is returned.
  uint32_t compute(uint32_t index, int operand, std::string_view op, int64_t constant);

 private:
  void insert(uint32_t index, isa::Instruction instruction);

  isa::Module& module_;
  isa::Function& function_;
  const isa::ArchSpec& arch_;
};

}  // namespace palladion::sim::check
