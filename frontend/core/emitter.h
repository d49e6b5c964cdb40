#pragma once
// The instructions of the kernel under construction: its prologue, which every thread runs first, and its
// body. Knows which values exist already, so that none is computed twice.
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "isa/core/builder.h"

namespace palladion::frontend {

using isa::Operand;
using isa::Type;

class Emitter {
 public:
  // A module for PTX target `target` with one entry function.
  Emitter(std::string_view entry, std::string_view target);

  isa::Builder& builder() { return builder_; }
  isa::Module& module() { return module_; }
  isa::Function& function() { return *function_; }

  isa::Instruction& emit(std::string_view mnemonic, std::vector<Operand> operands, const Operand& guard = {});
  Operand reg(Type type) { return builder_.reg(type); }
  // d = mnemonic(sources) for an instruction without side effects: recorded once in a dominating block.
  Operand pure(std::string_view mnemonic, std::vector<Operand> sources, Type result);
  // {d0, d1} = mnemonic(source)
  std::pair<Operand, Operand> pure_pair(std::string_view mnemonic, const Operand& source, Type result);
  // The same, computed once in the prologue; sources must come from there (or be constants).
  Operand at_entry(std::string_view mnemonic, std::vector<Operand> sources, Type result);
  void in_prologue(const std::function<void()>& record);

  Operand label(std::string_view hint) { return builder_.label(hint); }
  void place(const Operand& label) { builder_.place(label); }

  // A body of control flow: the values that are computed in it are unknown behind its end.
  void begin_block() { known_.emplace_back(); }
  void end_block() { known_.pop_back(); }

  // The instruction just recorded.
  struct Mark {
    size_t index;
  };
  Mark last_instruction() const { return {function_->body.size() - 1}; }
  isa::Instruction take_last();
  // Instructions to be added, when the kernel is complete, behind a mark.
  void insert_after(Mark mark, std::vector<isa::Instruction> instructions);
  // The same, in front of the instruction with this index.
  void insert_before(size_t index, isa::Instruction instruction);

  // The kernel is complete: prologue, body and what was to be inserted become the function's body.
  void assemble();

 private:
  const Operand* find_known(const std::string& key) const;
  std::unordered_map<std::string, Operand>& known_here() {
    return in_prologue_ ? known_.front() : known_.back();
  }

  isa::Module module_;
  isa::Function* function_;  // of module_: an element of a deque, which stays where it is
  isa::Builder builder_;
  std::vector<isa::Instruction> prologue_;
  bool in_prologue_ = false;
  // Values: of the prologue, of the body, of each block that is open in it.
  std::vector<std::unordered_map<std::string, Operand>> known_{2};
  std::vector<std::pair<size_t, std::vector<isa::Instruction>>> behind_;
  std::vector<std::pair<size_t, isa::Instruction>> in_front_;
};

}  // namespace palladion::frontend
