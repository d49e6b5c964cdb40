#pragma once
// Internals of the PTX parser: one recursive-descent parser over parse*.cpp.
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/core/module.h"
#include "isa/core/op.h"
#include "isa/formats/sampler.h"
#include "isa/text/lex.h"

namespace palladion::isa::detail {

// Codes of the parser's diagnostics.
namespace code {
inline constexpr const char* syntax = "PLD1001";
inline constexpr const char* unknown_instruction = "PLD1002";
inline constexpr const char* modifiers = "PLD1003";
inline constexpr const char* operands = "PLD1004";
inline constexpr const char* undeclared = "PLD1005";
inline constexpr const char* redefined = "PLD1006";
inline constexpr const char* initialiser = "PLD1007";
inline constexpr const char* number = "PLD1008";
inline constexpr const char* directive = "PLD1009";
inline constexpr const char* not_modelled = "PLD1010";
}  // namespace code

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

// Forms of an op that the words of a mnemonic fit.
struct Candidates {
  struct One {
    const Form* form;
    std::array<int8_t, max_modifiers> mods;
  };
  const Op* op = nullptr;
  std::vector<One> forms;
  bool of_texels = false;  // textures and surfaces: [T, sampler, {x, y}], [T, x]
};

// "add.s32" -> add, s32
std::vector<std::string_view> split_words(std::string_view mnemonic);

// `found` minimises the edit distance to `word`; empty when nothing is near.
class Nearest {
 public:
  explicit Nearest(std::string_view word) : word_(word), best_(word.size() / 3 + 2) {}
  void offer(std::string_view candidate);
  std::string_view found() const { return found_; }
  std::string help() const;  // "did you mean `x`?" or empty

 private:
  std::string_view word_, found_;
  size_t best_;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : lexer_(text), file_(file) { next(); }

  Module module;
  Diagnostics diagnostics;
  void run();

 private:
  // --- tokens (parse_tokens.cpp)
  void next() {
    previous_ = token_;
    token_ = lexer_.next();
  }
  bool accept(char c);
  bool accept_directive(std::string_view s);
  bool expect(char c);
  void error(const Token& at, const char* code, std::string message, std::string help = {});
  void error_expected(std::string_view what);
  bool too_many_errors() const;
  void skip_statement();  // past the next ';', or before a brace
  std::optional<Token> expect_word(std::string_view what);

  // --- numbers (parse_numbers.cpp)
  std::optional<Operand> literal(const Token& t);
  std::optional<Operand> constant();  // a constant expression
  std::optional<Operand> constant_binary(int min_level);
  std::optional<Operand> constant_unary();
  std::optional<int64_t> integer(std::string_view what);
  std::optional<uint32_t> small_integer(std::string_view what);
  bool at_constant() const;

  // --- module (parse.cpp)
  void module_item();
  bool at_module_item() const;
  void version();
  void target();
  void target_option(const Token& word);
  void file_directive();
  void section();
  void alias();
  void linkage_item();
  void finish_files();
  void finish_relocations();

  // --- declarations (parse_declarations.cpp)
  struct Declarator {
    Variable variable;
    bool ok = false;
    bool has_type = false;
  };
  Declarator declarator(Space space);
  bool declarator_directive(Declarator& d);
  bool dimensions(Variable& v);
  void variables(Space space, Linkage linkage);
  void declare_variables(const Variable& declared_as, Linkage linkage);
  void declare_variable(const Token& name, Variable v, Linkage linkage);
  void register_declaration();
  void declare_registers(const Token& name, Type type);
  void initialiser(Variable& v, const Token& name);
  bool opaque_initialiser(Variable& v);
  bool opaque_field(Type type, Sampler& sampler);
  bool initialiser_level(Variable& v, size_t dim, uint64_t& at, int depth);
  bool initialiser_value(Variable& v, uint64_t at);
  bool initialiser_string(Variable& v, uint64_t& at);
  bool initialiser_address(Variable& v, uint64_t at, uint64_t mask);
  static bool put(Variable& v, uint64_t at, const Operand& value);

  // --- functions (parse_functions.cpp)
  void function(Linkage linkage, bool entry);
  Function& begin_function(const Token& name, Linkage linkage, bool entry);
  bool parameters(std::vector<SymbolId>& list, Function& f);
  bool parameter(std::vector<SymbolId>& list, Function& f);
  bool prototype_parameters(std::vector<Variable>& list);
  bool function_directive(Function& f);
  std::optional<Dim3> dim3();
  void body(Function& f);
  void statement();
  void body_directive();
  void label_definition();
  void branch_targets(const Token& name);
  void call_targets(const Token& name);
  void call_prototype(const Token& name);
  void loc();
  void close_scope();
  void finish_function();
  std::string pragma_text();

  // --- names
  Scope& scope() { return scopes_.back(); }
  std::string unique_name(std::string_view name);
  RegId find_register(std::string_view name);  // no_id when there is none
  RegId new_register(Scope& s, std::string_view name, Type type);
  uint32_t vector_elements(std::string_view name) const;
  std::optional<Operand> vector_register(std::string_view name, uint32_t elements);
  void declare_vector(const Token& name, Type type, uint32_t elements);
  SymbolId find_variable(std::string_view name) const;
  LabelId reference_label(const Token& t);
  std::string nearest_name(std::string_view name) const;

  // --- PTX for sm_1x, and of versions before 1.4 (parse_old.cpp)
  void settle_age();  // when the module's version or target is read
  bool is_before(uint32_t major, uint32_t minor) const;
  void write_out_old_words(std::string_view op, std::vector<std::string_view>& words) const;
  void write_out_flush(Candidates::One& one) const;
  void finish_old_target();
  void old_textures(Linkage linkage);
  void module_registers();
  void refuse_module_registers();

  // --- instructions (parse_instructions.cpp, parse_operands.cpp)
  // An operand as written; a name that is no register waits in `names_` until its role is known.
  void instruction();
  bool guard(Guard& g);
  bool operands(std::vector<Operand>& list, bool of_texels);
  struct CallText {
    Operand returns, function, arguments, targets;  // of kind none where not written
  };
  bool call_operands(CallText& call);
  bool call_list(Operand& list);
  std::optional<Operand> operand(bool of_texels = false);
  std::optional<Operand> name_operand();
  std::optional<Operand> negated_operand();
  std::optional<Operand> vector_operand();
  std::optional<Operand> address_operand(bool of_texels);
  bool coordinates(Operand& address);
  bool texel_coordinates(Operand& address);
  bool address_offset(Operand& address);
  std::optional<Operand> special_register(const Token& t);
  const Candidates& candidates(std::string_view mnemonic);
  void no_candidate(const Token& mnemonic, const Candidates& c);
  bool select_form(Instruction& i, const Token& mnemonic, const Candidates& c, std::vector<Operand>& written);
  bool fill_call(Instruction& i, const Candidates& c, CallText& call);
  void no_fit(const Token& mnemonic, const Candidates& c, const std::vector<Operand>& written);
  bool fits(const OperandDef& def, const Candidates::One& c, const Operand& o) const;
  bool fits_value(const OperandDef& def, const Candidates::One& c, const Operand& o) const;
  // Where each written operand goes among the form's; optional ones may be left out.
  bool align(const Candidates::One& c, const std::vector<Operand>& written, size_t w, size_t d,
             std::array<int8_t, 32>& where) const;
  bool resolve(Instruction& i);
  bool resolve_name(Operand& o, OperandKind role);
  bool resolve_elements(Operand& o);
  bool is_name(const Operand& o) const { return o.is(Operand::Kind::symbol) && o.id == no_id; }
  const Token& name_of(const Operand& o) const { return names_[o.bits]; }

  Lexer lexer_;
  std::string file_;
  bool is_for_sm_1x_ = false;
  bool leaves_words_out_ = false;  // the text may: it is for sm_1x, or before PTX 3.2
  Token token_, previous_;
  int depth_ = 0;  // of recursion, to refuse what would overflow the stack

  std::unordered_map<std::string_view, SymbolId> module_names_;
  std::unordered_map<std::string_view, Candidates> candidates_;
  std::vector<Token> names_;
  std::vector<Scope> scopes_;
  Scope module_scope_;  // registers that the module declares
  Function* function_ = nullptr;
  std::unordered_set<std::string> used_names_;  // in the function
  std::unordered_map<std::string, uint32_t> suffixes_;
  std::unordered_map<std::string, std::vector<std::string>> element_names_;  // of vectors of registers
  std::vector<uint32_t> label_alias_;  // LabelId -> LabelId it turned out to be

  struct PendingAddress {
    SymbolId variable;
    size_t relocation;
    Token name;
  };
  std::vector<PendingAddress> pending_addresses_;
  std::vector<PendingAddress> new_addresses_;  // of the variable being read
  std::unordered_map<uint64_t, uint32_t> locs_;
  std::vector<std::pair<uint32_t, std::string>> file_names_;  // .file index, name
  std::vector<uint32_t> loc_files_;                           // for each of Module::source_locs
  uint32_t source_ = no_id;
};

}  // namespace palladion::isa::detail
