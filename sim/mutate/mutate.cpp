#include "sim/mutate/mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "isa/text/print.h"
#include "isa/verify/verify.h"
#include "sim/mutate/operators.h"

namespace palladion::sim::check {
namespace {

// Function indices that a call instruction may reach.
void callees(const Flow& flow, uint32_t at, std::set<uint32_t>& out) {
  const auto* call = flow.as<isa::Call>(at);
  if (call == nullptr) return;
  const auto add = [&](isa::SymbolId id) {
    for (const isa::Alias& alias : flow.module().aliases)
      if (alias.name == id) id = alias.target;
    if (flow.module().symbols[id].function != isa::no_id) out.insert(flow.module().symbols[id].function);
  };
  const isa::Operand& callee = *flow.operand(at, call->function);
  if (callee.is(isa::Operand::Kind::symbol)) return add(callee.id);
  for (const isa::CallTargets& targets : flow.function().call_targets)
    for (const isa::SymbolId id : targets.functions) add(id);
}

bool is_valid(const isa::Module& module, const isa::ArchSpec& arch) {
  return std::ranges::none_of(isa::verify(module, arch),
                              [](const isa::Diagnostic& d) { return d.severity != isa::Severity::warning; });
}

// Adds the mutant unless PTX has no such program.
void add_mutant(std::vector<Mutant>& out, const Flow& flow, const OperatorRow& row, Mutant mutant) {
  isa::Module changed = flow.module();
  isa::Function& function = changed.functions[mutant.function];
  Edit edit(changed, function, flow.arch());
  const auto edited = row.edit(edit, mutant.instruction, mutant.other);
  if (!edited || !is_valid(changed, flow.arch())) return;
  mutant.before = isa::print(flow.module(), flow.function(), flow.at(mutant.instruction));
  if (edited->at != isa::no_id) mutant.after = isa::print(changed, function, edit.at(edited->at));
  mutant.ptx_line = flow.at(mutant.instruction).origin.ptx_line;
  mutant.source = flow.at(mutant.instruction).origin.source;
  out.push_back(std::move(mutant));
}

void add_mutants(std::vector<Mutant>& out, const Flow& flow, uint32_t function, uint32_t at) {
  for (const OperatorRow& row : operator_rows()) {
    if (!row.fits(flow, at)) continue;
    const uint32_t other = row.partner == nullptr ? isa::no_id : row.partner(flow, at);
    if (row.partner != nullptr && other == isa::no_id) continue;
    add_mutant(out, flow, row,
               {.mutation = row.words.mutation, .function = function, .instruction = at, .other = other});
  }
}

}  // namespace

const std::vector<OperatorRow>& operator_rows() {
  static const std::vector<OperatorRow> rows = [] {
    std::vector<OperatorRow> all = delete_rows();
    for (const auto& more : {change_rows(), swap_rows()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return rows;
}

std::span<const MutationOperator> mutation_operators() {
  static const std::vector<MutationOperator> words = [] {
    std::vector<MutationOperator> all;
    for (const OperatorRow& row : operator_rows()) all.push_back(row.words);
    return all;
  }();
  return words;
}

std::string_view name(Mutation mutation) { return mutation_operators()[size_t(mutation)].name; }

std::string Mutant::description() const {
  const std::string change =
      after.empty() ? fmt::format("`{}`", before) : fmt::format("`{}` -> `{}`", before, after);
  return fmt::format("{}: {}", name(mutation), change);
}

std::vector<uint32_t> reachable_functions(const isa::Module& module, const isa::ArchSpec& arch,
                                          const isa::Function& entry) {
  std::set<uint32_t> all;
  std::vector<uint32_t> todo{module.symbols[entry.symbol].function};
  while (!todo.empty()) {
    const uint32_t f = todo.back();
    todo.pop_back();
    if (!all.insert(f).second) continue;
    const Flow flow(module, module.functions[f], arch);
    std::set<uint32_t> called;
    for (uint32_t i = 0; i < flow.size(); ++i) callees(flow, i, called);
    todo.insert(todo.end(), called.begin(), called.end());
  }
  return {all.begin(), all.end()};
}

std::vector<Mutant> mutants_of(const isa::Module& module, const isa::ArchSpec& arch, std::string_view entry) {
  std::vector<Mutant> out;
  const isa::Function* found = module.find_entry(entry);
  if (found == nullptr) return out;
  for (const uint32_t f : reachable_functions(module, arch, *found)) {
    const Flow flow(module, module.functions[f], arch);
    for (uint32_t at = 0; at < flow.size(); ++at) add_mutants(out, flow, f, at);
  }
  return out;
}

isa::Module apply(const isa::Module& module, const isa::ArchSpec& arch, const Mutant& mutant) {
  isa::Module changed = module;
  Edit edit(changed, changed.functions[mutant.function], arch);
  const auto edited = operator_rows()[size_t(mutant.mutation)].edit(edit, mutant.instruction, mutant.other);
  PLD_CHECK(edited.has_value(), mutant.description());
  return changed;
}

}  // namespace palladion::sim::check
