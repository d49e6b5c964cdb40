#pragma once
// Internals of the printer.
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/core/op.h"
#include "isa/text/print.h"

namespace palladion::isa::detail {

void append_number(std::string& out, uint64_t value);
void append_signed(std::string& out, int64_t value);
void append_hex(std::string& out, uint64_t value, int digits);

// Names that are valid in PTX: without foreign characters, unique in their scope.
class Names {
 public:
  // `outer`: names that are taken as well; null: none.
  explicit Names(const Names* outer = nullptr) : outer_(outer) {}
  std::string_view add(std::string_view name);  // the name to print; lives as long as this
  void reserve(std::string_view name) { taken_.insert(name); }
  bool contains(std::string_view name) const {
    return taken_.contains(name) || (outer_ != nullptr && outer_->contains(name));
  }

 private:
  const Names* outer_;
  std::unordered_set<std::string_view> taken_;
  std::unordered_map<std::string, int> suffixes_;  // the last one tried, by name
  std::deque<std::string> changed_;
};

class Printer {
 public:
  Printer(const Module& module, const PrintOptions& options) : module_(module), options_(options) {}
  std::string text();
  // One instruction with the names of the module.
  std::string instruction_alone(const Function& f, const Instruction& i);

 private:
  // --- module (print.cpp)
  void header();
  void variable(const Symbol& s, std::string_view name);
  void linkage(Linkage linkage);
  void type_and_align(const Variable& v);
  void dimensions(const Variable& v);
  void initialiser(const Variable& v);
  void sampler(const Variable& v);
  void initialiser_level(const Variable& v, size_t dim, uint64_t at, size_t& relocation);
  void initialiser_value(const Variable& v, uint64_t at, size_t& relocation);
  void address_value(const Variable& v, const Relocation& r, uint64_t at);
  void collect_files();

  // --- functions (print_functions.cpp)
  void function(const Function& f, bool declaration);
  void function_names(const Function& f);
  void parameter(const Variable& v, std::string_view name);
  void parameters(const std::vector<SymbolId>& list, bool lines);
  void directives(const Function& f);
  void body(const Function& f);
  void registers(const Function& f);
  void register_group(Type type, const std::vector<RegId>& ids);
  void target_lists(const Function& f);
  void location(const Instruction& i);
  void place(const SourceLoc& loc);
  void frame(uint32_t index);

  // --- instructions (print_instructions.cpp)
  void instruction(const Instruction& i);
  void mnemonic(const Instruction& i);
  void call(const Instruction& i);
  void call_list(const Operand& list);
  void operand(const Operand& o, OperandKind role);
  void immediate(const Operand& o);
  void offset(int64_t bytes);
  void list_name(const Operand& o, bool of_call);

  std::string_view symbol_name(SymbolId id) const;
  std::string_view register_name(RegId id) const;
  std::string_view label_name(LabelId id) const;

  const Module& module_;
  PrintOptions options_;
  const Function* function_ = nullptr;
  std::string out_;
  Names module_names_;
  std::vector<std::string_view> symbols_;  // by SymbolId; empty = none yet
  Names names_;                            // of the function
  std::vector<std::string_view> registers_, labels_;
  std::vector<std::string> files_;
  std::map<std::string_view, uint32_t> file_index_;
  uint32_t source_ = no_id;
};

}  // namespace palladion::isa::detail
