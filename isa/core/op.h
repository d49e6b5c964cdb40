#pragma once
// An op, stated once: its words, meaning, requirements, effect and timing class.
// Parser, printer, verifier, machine, checkers, clock and the reference page derive from this.
#include <concepts>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "isa/core/effects.h"
#include "isa/core/form.h"
#include "isa/core/instruction.h"
#include "isa/core/module.h"

namespace palladion::isa {

// Which part of the SM an instruction occupies; numbers live in isa/arch only.
enum class Unit : uint8_t {
  none,  // vanishes in SASS or is free (labels, hints)
  alu,   // integer, logic, compare, select
  fma,   // f32 and half fma pipes, imad
  fp64,
  sfu,  // MUFU
  branch,
  lsu,  // loads, stores, shuffles, ldmatrix
  uniform,
  sync,  // barriers, fences, mbarriers
  tma,
  tensor,
};

struct Timing {
  Unit unit = Unit::alu;
  std::string_view latency;  // key into the architecture's latency table
};

// The kind of arithmetic or control flow, for analyses of values and paths: the checkers of unwritten and
// extraordinary values, the lowering to SASS, the control-flow graph. Anything else is `other`: nothing is
// concluded from it.
enum class Operation : uint8_t {
  other,
  move,
  select,          // a or b, by predicate c
  select_by_sign,  // a or b, by the sign of c
  add,
  subtract,
  multiply,
  multiply_add,
  fused_multiply_add,
  divide,
  remainder,
  absolute,
  negate,
  copy_sign,
  minimum,
  maximum,
  function,  // 1/x, roots, exponentials, logarithms, sine, cosine, tanh
  compare,   // to predicates
  set,       // to a value
  convert,
  convert_address,
  map_address,
  and_,
  or_,
  xor_,
  not_,
  logic3,
  shift_left,
  shift_right,
  branch,
  branch_indexed,
  call,
  return_,
  exit,
  trap,
};

// Wrapper without a default: leaving the clause out of an OpDef does not compile.
template <class T>
struct Clause {
  T value;
  Clause() = delete;
  template <class U>
    requires std::constructible_from<T, U&&>
  Clause(U&& v) : value(std::forward<U>(v)) {}          // NOLINT: implicit on purpose
  Clause(std::initializer_list<std::string_view> list)  // NOLINT
    requires std::constructible_from<T, std::initializer_list<std::string_view>>
      : value(list) {}
};

struct ArchSpec;  // isa/arch/arch.h

struct DecodeContext {
  const Module& module;
  const Function& function;
  const ArchSpec& arch;
  // Width in bits of a register operand, of an immediate: 0.
  int width(const Operand& operand) const;
};

using DecodeFn = Effect (*)(const Instruction&, const DecodeContext&);

// The timing class of all instructions of a definition, or a function of their words.
class TimingRule {
 public:
  constexpr TimingRule(Timing all) : all_(all) {}                      // NOLINT: implicit on purpose
  constexpr TimingRule(Timing (*of)(const Instruction&)) : of_(of) {}  // NOLINT
  Timing operator()(const Instruction& i) const { return of_ == nullptr ? all_ : of_(i); }

 private:
  Timing all_;
  Timing (*of_)(const Instruction&) = nullptr;
};

struct OpDef {
  Clause<std::string_view> name;
  Clause<std::string_view> doc;  // one or two sentences, and the manual's section
  Clause<std::vector<std::string_view>> syntax;
  Clause<TimingRule> timing;
  Clause<DecodeFn> effect;
  Operation operation = Operation::other;
};

// All that is stated under one name (`add` has an integer and a floating definition), with the forms
// compiled; each form knows its definition. `id` is dense, stable within a build.
struct Op {
  std::string_view name;
  uint16_t id;
  std::vector<Form> forms;
};

// All ops in the order of the families; built once, immutable.
std::span<const Op> all_ops();
const Op* find_op(std::string_view name);

// Each file in isa/ops states its definitions.
namespace ops {
std::vector<OpDef> moves(), integer(), extended_precision(), floating(), half(), conversions(), comparisons(),
    logic(), control(), memory(), atomics(), warp(), barriers(), async_copies(), tensor_copies(), matrix(),
    wmma(), video(), tcgen05(), textures(), system();
}
// The definitions of one file, "floating": built once, immutable.
std::span<const OpDef> family(std::string_view name);

// One list of several.
template <class T>
std::vector<T> joined(std::initializer_list<std::vector<T>> parts) {
  std::vector<T> all;
  for (const std::vector<T>& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Effect effect(const Instruction& i, const DecodeContext& context) {
  return i.form->def->effect.value(i, context);
}
inline Operation operation(const Instruction& i) { return i.form->def->operation; }
inline Timing timing(const Instruction& i) { return i.form->def->timing.value(i); }

}  // namespace palladion::isa
