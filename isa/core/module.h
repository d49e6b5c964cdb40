#pragma once
// A PTX module: the one representation that frontend, machine, printer and device share.
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "isa/core/diagnostic.h"
#include "isa/core/instruction.h"

namespace palladion::isa {

struct Register {
  std::string name;  // "%r1", unique in the function
  Type type = Type::b32;
};

enum class Linkage : uint8_t { none, visible, extern_, weak, common };

// A value in an initialiser that is an address: `generic(symbol)+offset` or `symbol+offset`.
struct Relocation {
  uint64_t at = 0;  // byte offset in the initialiser
  uint8_t size = 8;
  SymbolId symbol = no_id;
  int64_t addend = 0;
  bool generic = false;
};

// A variable of any space: globals, shared arrays, local arrays, parameters.
struct Variable {
  Space space = Space::global;
  Type type = Type::b8;
  uint32_t align = 0;          // bytes; 0 = natural
  uint32_t vector = 1;         // .v2, .v4
  std::vector<uint64_t> dims;  // empty = scalar; a first dim of 0 = unsized (extern shared)
  std::vector<uint8_t> init;   // bytes, little endian; shorter than the variable = zeros follow
  std::vector<Relocation> relocations;
  bool pointer = false;  // .param .u64 .ptr
  Space pointee = Space::generic;
  uint32_t pointee_align = 0;
  bool managed = false;  // .attribute(.managed): the host reaches it at the same address
  // Bytes taken; 0 for unsized.
  uint64_t size() const;
  uint64_t alignment() const;
};

struct Symbol {
  enum class Kind : uint8_t { variable, function };
  std::string name;
  Kind kind = Kind::variable;
  Linkage linkage = Linkage::none;
  uint32_t function = no_id;  // Kind::function: index into Module::functions
  uint32_t scope =
      no_id;          // SymbolId of the owning function, for parameters and local variables; no_id = module
  Variable variable;  // Kind::variable
};

struct Label {
  std::string name;
  uint32_t target = no_id;  // index of the instruction that follows it (may be one past the last)
};

// A list of labels for brx.idx, by name. The operand that names it is of kind label with the index into
// Function::branch_targets.
struct BranchTargets {
  std::string name;
  std::vector<LabelId> labels;
};

// The possible callees of an indirect call: a .callprototype, or the functions of a .calltargets list. The
// operand that names it is of kind label with the index into Function::call_targets.
struct CallTargets {
  std::string name;
  std::vector<SymbolId> functions;  // .calltargets
  bool prototype = false;           // .callprototype
  bool noreturn = false;
  std::vector<Variable> returns, params;
};

// .pragma "text"; within a body it applies from the instruction that follows it.
struct Pragma {
  std::string text;
  uint32_t before = 0;  // index of an instruction
};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct Function {
  std::string name;
  SymbolId symbol = no_id;
  bool entry = false;
  bool defined = true;  // false: declaration (vprintf)
  bool noreturn = false;
  std::vector<SymbolId> params;   // Symbol with Space::param (entries, and .param of .func) or Space::reg
  std::vector<SymbolId> returns;  // of a .func
  std::vector<Register> registers;
  std::vector<SymbolId> locals;  // shared, local and param variables declared in the body
  std::vector<Label> labels;
  std::vector<BranchTargets> branch_targets;
  std::vector<CallTargets> call_targets;
  std::vector<Instruction> body;

  // Performance directives; absent = none.
  std::optional<Dim3> maxntid, reqntid, reqnctapercluster;
  std::optional<uint32_t> minnctapersm, maxnctapersm, maxnreg, maxclusterrank;
  bool explicitcluster = false;
  std::vector<std::string> pragmas;           // of the whole function
  std::vector<Pragma> body_pragmas;           // in the order of `before`
  std::vector<std::string> other_directives;  // ".abi_preserve 8": no meaning here, printed back
};

// The author's name for a part of a variable's memory: an array of a frontend kernel within its block of
// shared memory. Several names may share bytes at different times.
struct BufferName {
  SymbolId symbol = no_id;
  uint64_t offset = 0;  // bytes from the symbol
  uint64_t bytes = 0;
  std::string name;
  std::string element;         // "f16", "mbarrier"
  std::vector<int64_t> shape;  // of the array, as its author sees it
};

// .alias name, target: both are function symbols; calls of `name` reach `target`.
struct Alias {
  SymbolId name = no_id, target = no_id;
};

// A place of instructions: most of them share the frames around it.
struct SourceFrame {
  SourceLoc at;
  std::string function;     // symbol of the function that stands there; empty: it was not inlined
  std::string label;        // of the function's name in the debug sections, as .loc refers to it
  uint32_t caller = no_id;  // of Module::frames: where the function was inlined
};

struct Module {
  uint32_t version_major = 8, version_minor = 7;  // .version
  std::string target = "sm_90a";
  std::string file;  // the PTX that it was read from; empty: text in memory, or recorded
  std::vector<std::string> target_options;  // texmode_independent, debug, ...
  uint32_t address_size = 64;
  std::vector<Symbol> symbols;
  std::deque<Function> functions;  // a deque: references stay valid while one is added
  std::vector<std::string> files;  // .file, index - 1
  std::vector<SourceFrame> frames;
  std::vector<Alias> aliases;
  std::vector<std::string> pragmas;         // at module level
  std::vector<std::string> debug_sections;  // .section ... { } kept as text
  std::vector<BufferName> buffers;          // for messages; PTX text does not carry them

  const Function* find_function(std::string_view name) const;
  const Function* find_entry(std::string_view name) const;  // empty name: the only entry, else nullptr
  SymbolId find_symbol(std::string_view name, uint32_t scope = no_id) const;
  // The line that its author wants to see: the innermost of author.h's first owner. Null: unknown.
  const SourceLoc* source(uint32_t frame) const;
  const SourceLoc* source(const Instruction& i) const { return source(i.origin.source); }
  // Where it stands and where that was inlined; empty: it is not inlined, `source` says all.
  Frames frames_of(const Instruction& i) const;
};

// Bytes of an entry's parameter block and the offset of each parameter, with natural alignment.
struct ParamLayout {
  std::vector<uint32_t> offsets;
  uint32_t size = 0;
};
// `base`: where the block lies, from which alignment counts; 0 but for blocks in a device's constant bank.
ParamLayout param_layout(const Module& module, const Function& function, uint32_t base = 0);

}  // namespace palladion::isa
