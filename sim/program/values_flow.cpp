#include "sim/program/values_flow.h"

#include <algorithm>

#include "sim/program/deciding.h"

namespace palladion::sim {
namespace {

using isa::Footprint;

// Its results are made of its operands.
bool passes_on(const Footprint& f) {
  return f.values == isa::Values::lane_wise || f.values == isa::Values::combined;
}

// A tensor map that later copies use.
bool copies_tensor_map(const Footprint& f) {
  return !f.issues() && std::ranges::any_of(f.memory, [](const isa::MemoryUse& m) {
    return m.content == isa::Content::tensor_map && m.reads && !m.writes;
  });
}

// The symbol that an address is made of; no_id when it is in a register.
uint32_t symbol_of(const MicroOp& op, int address) {
  const isa::Operand& base = op.instruction->operands[static_cast<size_t>(address)].elements.front();
  return base.is(isa::Operand::Kind::symbol) ? base.id : isa::no_id;
}

// Control may read memory with it, if what is there is known: shared memory, variables of the module, strong
// accesses. Weak loads of GMEM read tensors.
bool may_read_control(const MicroOp& op, const Footprint& f) {
  const isa::MemoryUse& from = *f.read();
  if (may_be_shared(from.space)) return true;
  return from.space == isa::Space::global &&
         (f.order != isa::Order::weak || symbol_of(op, from.address) != isa::no_id);
}

}  // namespace

ValueFlow::ValueFlow(const Program& program, uint32_t pretended_source)
    : program_(program),
      pretended_(pretended_source),
      data_(program.code.size()),
      control_(program.code.size()),
      cell_causes_(program.module->symbols.size() + 1),
      cell_needs_(cell_causes_.size()) {
  find_graphs();
  find_needs();
  find_data();
}

void ValueFlow::find_graphs() {
  for (uint32_t f = 0; f < program_.function_start.size(); ++f) {
    if (program_.function_start[f] == isa::no_id) continue;
    isa::Cfg cfg = isa::build_cfg(program_.module->functions[f]);
    Liveness live(program_, f, cfg);
    graphs_.push_back({f, std::move(cfg), std::move(live)});
  }
}

ValueFlow::Sink ValueFlow::first_need(const Program& program, Pc pc) {
  const ValueFlow flow(program, pc);
  const auto found = std::ranges::find(flow.sinks_, pc, &Sink::source);
  return found == flow.sinks_.end() ? Sink{} : *found;
}

// Repeats until no cell of local memory changes: functions exchange values through it. Callees stand before
// their callers or behind them, so the order changes from one time to the next.
template <class T, class Run>
void ValueFlow::for_each_function(Direction direction, const Run& run) {
  bool ascending = true;
  do {
    changed_ = false;
    for (size_t k = 0; k < graphs_.size(); ++k) {
      const Graph& g = graphs_[ascending ? k : graphs_.size() - 1 - k];
      LiveFlow<T> flow(program_, g.function, g.cfg, g.live, direction);
      run(flow, program_.function_start[g.function], program_.register_offsets_base[g.function]);
    }
    ascending = !ascending;
  } while (changed_);
}

// --- local memory ---------------------------------------------------------------------------------
uint32_t ValueFlow::cell_of(const MicroOp& op, isa::Space space, int address) const {
  if (space != isa::Space::local && space != isa::Space::param) return isa::no_id;
  const uint32_t symbol = symbol_of(op, address);
  const bool in_entry = &program_.module->functions[op.function] == program_.entry;
  if (symbol == isa::no_id) return space == isa::Space::param && in_entry ? isa::no_id : any_cell();
  const auto& params = program_.entry->params;
  return std::ranges::find(params, symbol) != params.end() ? isa::no_id : symbol;
}

uint32_t ValueFlow::cell_cause(uint32_t cell) const {
  if (cell != any_cell()) return cell_causes_[cell] != 0 ? cell_causes_[cell] : cell_causes_.back();
  return first_cause_ == isa::no_id ? 0 : cell_causes_[first_cause_];
}

void ValueFlow::raise_cause(uint32_t cell, uint32_t cause) {
  if (cause == 0 || cell_causes_[cell] != 0) return;
  cell_causes_[cell] = cause;
  first_cause_ = std::min(first_cause_, cell);
  changed_ = true;
}

void ValueFlow::raise_needs(uint32_t cell, uint8_t needs) {
  changed_ |= (needs & ~cell_needs_[cell]) != 0;
  cell_needs_[cell] |= needs;
}

// Two blocks of arguments or results hold the same values: joins their cells.
void ValueFlow::pass_between(uint32_t caller, uint32_t callee, bool in) {
  raise_cause(in ? callee : caller, cell_cause(in ? caller : callee));
  raise_needs(in ? caller : callee, cell_needs_[in ? callee : caller]);
}

void ValueFlow::pass_arguments(const MicroOp& op, const isa::Call& call) {
  const auto& operands = op.instruction->operands;
  const auto pass = [&](int list, const std::vector<isa::SymbolId>& callee, bool in) {
    if (list < 0) return;
    const auto& blocks = operands[static_cast<size_t>(list)].elements;
    for (size_t i = 0; i < std::min(blocks.size(), callee.size()); ++i)
      if (blocks[i].is(isa::Operand::Kind::symbol)) pass_between(blocks[i].id, callee[i], in);
  };
  const isa::Operand& target = operands[static_cast<size_t>(call.function)];
  const isa::Module& module = *program_.module;
  const auto pass_to = [&](const isa::Function& callee) {
    pass(call.arguments, callee.params, true);
    pass(call.returns, callee.returns, false);
    if (callee.defined) return;
    for (const isa::SymbolId result : callee.returns)  // vprintf: nothing is printed
      raise_cause(result, op.pc + 1);
  };
  if (target.is(isa::Operand::Kind::symbol))
    return pass_to(module.functions[module.symbols[target.id].function]);
  for (const isa::Function& f : module.functions) pass_to(f);  // any of them may be the callee
}

// --- what control needs, backward -----------------------------------------------------------------
void ValueFlow::find_needs() {
  const auto join = [](uint8_t& into, uint8_t from) {
    const bool changed = (from & ~into) != 0;
    into |= from;
    return changed;
  };
  bool before;
  do {
    before = broadcasts_;
    for_each_function<uint8_t>(Direction::backward,
                               [&](LiveFlow<uint8_t>& flow, uint32_t start, uint32_t base) {
                                 flow.run(join, [&](const isa::Block& b, Needs& needs) {
                                   for (uint32_t i = b.last; i-- > b.first;)
                                     flow_back(program_.code[start + i], needs, base);
                                 });
                               });
  } while (broadcasts_ != before);
}

uint8_t ValueFlow::needs_of_stored(const MicroOp& op) const {
  const Footprint& f = program_.footprint(op);
  if (f.values != isa::Values::stored) return 0;
  const isa::MemoryUse& to = *f.written();
  if (const uint32_t cell = cell_of(op, to.space, to.address); cell != isa::no_id)
    return cell_needs_[cell] | cell_needs_.back();
  return broadcasts_ && may_be_shared(to.space) ? broadcast : 0;
}

void ValueFlow::note_load(const MicroOp& op, uint8_t results) {
  const Footprint& f = program_.footprint(op);
  const isa::MemoryUse& from = *f.read();
  if (const uint32_t cell = cell_of(op, from.space, from.address); cell != isa::no_id)
    raise_needs(cell, results);
  if (!may_read_control(op, f)) return;
  const bool strong = f.order != isa::Order::weak && may_be_global(from.space);
  if ((results & (strong ? needed | broadcast : needed)) == 0) return;
  control_[op.pc] = 1;
  broadcasts_ |= may_be_shared(from.space);
}

void ValueFlow::note_control(const MicroOp& op, uint8_t results) {
  const Footprint& f = program_.footprint(op);
  if (f.values == isa::Values::loaded) return note_load(op, results);
  if (copies_tensor_map(f)) control_[op.pc] = broadcasts_ = true;
  const isa::MemoryUse* const modified = f.values == isa::Values::combined ? f.read() : nullptr;
  if (modified == nullptr || results == 0) return;
  control_[op.pc] = 1;
  broadcasts_ |= may_be_shared(modified->space) && (results & needed) != 0;
}

void ValueFlow::flow_back(const MicroOp& op, Needs& needs, uint32_t base) {
  const Footprint& f = program_.footprint(op);
  uint8_t results = f.writes_carry ? needs.back() : 0;
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (use.writes) results |= needs[use.reg - base];
  });
  note_control(op, results);
  const bool guarded = op.guard >= 0;
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (use.writes && !guarded) needs[use.reg - base] = 0;
  });
  if (f.writes_carry && !guarded) needs.back() = 0;
  const uint8_t sources = passes_on(f) ? results : needs_of_stored(op);
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (use.reads) needs[use.reg - base] |= decides(f, use) ? needed : sources;
  });
  if (f.reads_carry) needs.back() |= sources;
}

// --- where tensor data are, forward ---------------------------------------------------------------
void ValueFlow::find_data() {
  const auto join = [](uint32_t& into, uint32_t from) {  // of two causes the first one is kept
    if (from == 0 || into != 0) return false;
    into = from;
    return true;
  };
  const auto run = [&](bool last) {
    for_each_function<uint32_t>(Direction::forward,
                                [&](LiveFlow<uint32_t>& flow, uint32_t start, uint32_t base) {
                                  flow.run(join, [&](const isa::Block& b, Causes& causes) {
                                    for (uint32_t i = b.first; i < b.last; ++i)
                                      flow_over(program_.code[start + i], causes, base);
                                  });
                                  if (!last) return;
                                  flow.visit([&](const isa::Block& b, Causes& causes) {
                                    for (uint32_t i = b.first; i < b.last; ++i) {
                                      const MicroOp& op = program_.code[start + i];
                                      find_sinks(op, causes, base);
                                      flow_over(op, causes, base);
                                    }
                                  });
                                });
  };
  run(false);
  run(true);
}

uint32_t ValueFlow::cause_of_sources(const MicroOp& op, const Causes& causes, uint32_t base) const {
  const Footprint& f = program_.footprint(op);
  uint32_t cause = f.reads_carry ? causes.back() : 0;
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (cause == 0 && use.reads && !decides(f, use)) cause = causes[use.reg - base];
  });
  return cause;
}

uint32_t ValueFlow::cause_of_load(const MicroOp& op) const {
  const isa::MemoryUse& from = *program_.footprint(op).read();
  if (from.space == isa::Space::local || from.space == isa::Space::param) {
    const uint32_t cell = cell_of(op, from.space, from.address);
    return cell == isa::no_id ? 0 : cell_cause(cell);
  }
  if (from.space == isa::Space::const_) return 0;
  return control_[op.pc] != 0 && op.pc != pretended_ ? 0 : op.pc + 1;
}

uint32_t ValueFlow::cause_of_results(const MicroOp& op, uint32_t sources) const {
  const Footprint& f = program_.footprint(op);
  if (f.values == isa::Values::loaded) return cause_of_load(op);
  if (f.values == isa::Values::tensor || op.pc == pretended_) return op.pc + 1;
  return passes_on(f) ? sources : 0;
}

// What an instruction writes to memory.
void ValueFlow::note_memory(const MicroOp& op, uint32_t sources) {
  if (const auto* call = std::get_if<isa::Call>(op.effect)) pass_arguments(op, *call);
  const Footprint& f = program_.footprint(op);
  if (f.values != isa::Values::stored) return;
  const isa::MemoryUse& to = *f.written();
  const uint32_t cell = to.space == isa::Space::generic ? any_cell() : cell_of(op, to.space, to.address);
  if (cell != isa::no_id) raise_cause(cell, sources);
}

void ValueFlow::flow_over(const MicroOp& op, Causes& causes, uint32_t base) {
  const Footprint& f = program_.footprint(op);
  const uint32_t sources = cause_of_sources(op, causes, base), results = cause_of_results(op, sources);
  note_memory(op, sources);
  const bool stores =
      f.writes_memory() && (f.values == isa::Values::stored || f.values == isa::Values::combined);
  if ((stores ? sources : results) != 0) data_[op.pc] = 1;
  const auto set = [&](uint32_t& cause) {
    if (results != 0)
      cause = results;
    else if (op.guard < 0)
      cause = 0;
  };
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (use.writes) set(causes[use.reg - base]);
  });
  if (f.writes_carry) set(causes.back());
}

void ValueFlow::find_sinks(const MicroOp& op, const Causes& causes, uint32_t base) {
  for_each_register(program_, op, [&](const RegisterUse& use) {
    const uint32_t cause = causes[use.reg - base];
    if (cause == 0 || !decides(program_.footprint(op), use)) return;
    if (!sinks_.empty() && sinks_.back().pc == op.pc && sinks_.back().operand == use.operand) return;
    sinks_.push_back({op.pc, use.operand, use.address, cause - 1});
  });
}

}  // namespace palladion::sim
