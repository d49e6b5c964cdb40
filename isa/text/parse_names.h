#pragma once
// The names of a module and of the function that is being read: symbols, registers, labels, lists.
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/core/module.h"
#include "isa/text/parse_tokens.h"

namespace palladion::isa::detail {

// A block { } of a body, or the body itself: names declared in it.
struct Scope {
  struct Range {
    Type type;
    uint64_t count;
  };
  std::unordered_map<std::string_view, RegId> registers;
  std::unordered_map<std::string_view, Type> declared;     // registers that no instruction has named yet
  std::unordered_map<std::string_view, Range> ranges;      // "%r" of %r<10>
  std::unordered_map<std::string_view, uint32_t> vectors;  // registers that are vectors: their elements
  std::unordered_map<std::string_view, SymbolId> variables;
  struct LabelUse {
    LabelId id;
    Token first;
  };
  std::unordered_map<std::string_view, LabelUse> labels;
  std::unordered_map<std::string_view, uint32_t> branch_targets, call_targets;
};

class NameTable {
 public:
  NameTable(Module& module, Tokens& in) : module_(module), in_(in) {}

  // --- scopes: of the function's header, of its body, of each block that is open in it
  void begin_function();
  void open_body(Function& f);
  void close_body();  // labels get their final numbers
  void open_block() { scopes_.emplace_back(); }
  void close_block();
  bool in_function() const { return function_ != nullptr; }
  bool in_block() const { return scopes_.size() > 2; }
  size_t depth() const { return scopes_.size(); }
  Function& function() { return *function_; }
  const Function& function() const { return *function_; }
  Scope& scope() { return scopes_.back(); }
  // The scope of registers that the whole module declares is the innermost one until end_module_scope().
  void begin_module_scope();
  void end_module_scope();

  // --- symbols; no_id when there is none
  std::unordered_map<std::string_view, SymbolId>& symbols_here();  // of the module, or of the innermost block
  SymbolId find_symbol(std::string_view name) const;               // of the module
  SymbolId find_function(std::string_view name) const;
  SymbolId find_variable(std::string_view name) const;  // from the innermost block outwards
  // A name for the flat list of the function: that of a nested block may be taken already.
  std::string unique_name(std::string_view name);
  void take_name(std::string_view name) { used_names_.emplace(name); }

  // --- registers
  RegId find_register(std::string_view name);
  // A register that is a vector is as many registers.
  void declare_vector(const Token& at, const std::string& name, Type type, uint32_t elements);
  uint32_t vector_elements(std::string_view name) const;  // 0: it is none
  RegId vector_element(std::string_view name, size_t k);

  // --- labels, lists of branches and calls
  LabelId reference_label(const Token& t);
  std::optional<uint32_t> find_list(std::string_view name) const;

  std::string nearest_name(std::string_view name) const;  // a help

 private:
  RegId new_register(Scope& s, std::string_view name, Type type);
  void refuse_module_registers();
  void refuse_open_labels();
  void settle_labels();

  Module& module_;
  Tokens& in_;
  std::unordered_map<std::string_view, SymbolId> module_names_;
  Scope module_scope_;  // registers that the module declares
  std::vector<Scope> scopes_;
  Function* function_ = nullptr;
  std::unordered_set<std::string> used_names_;  // in the function
  std::unordered_map<std::string, uint32_t> suffixes_;
  std::unordered_map<std::string, std::vector<std::string>> element_names_;  // of vectors of registers
  std::vector<uint32_t> label_alias_;  // LabelId -> LabelId it turned out to be
};

}  // namespace palladion::isa::detail
