#include "sim/program/values_flow.h"

#include <algorithm>

#include "sim/program/flow.h"

namespace palladion::sim {
namespace {

// Its results are made of its operands.
bool passes_on(const MicroOp& op) {
  return is_lane_wise(op) || has_effect<isa::Shuffle, isa::Vote, isa::Match, isa::Redux, isa::MoveMatrix,
                                        isa::CtaBarrier, isa::Atomic>(op);
}

// Operands that decide what happens, beside addresses and guards.
struct ControlOperands {
  int k;
  bool is(auto... operands) const { return (... || (operands == k)); }

  bool operator()(const isa::BranchIndexed& e) const { return is(e.index); }
  bool operator()(const isa::Call& e) const { return is(e.function); }
  bool operator()(const isa::Nanosleep& e) const { return is(e.duration); }
  bool operator()(const isa::Fence& e) const { return is(e.size); }
  bool operator()(const isa::Shuffle& e) const { return is(e.members); }
  bool operator()(const isa::Vote& e) const { return is(e.members); }
  bool operator()(const isa::Match& e) const { return is(e.members); }
  bool operator()(const isa::Redux& e) const { return is(e.members); }
  bool operator()(const isa::Elect& e) const { return is(e.members); }
  bool operator()(const isa::WarpSync& e) const { return is(e.members); }
  bool operator()(const isa::CtaBarrier& e) const { return is(e.id, e.threads); }
  bool operator()(const isa::Mbarrier& e) const { return is(e.count, e.state, e.time_hint); }
  bool operator()(const isa::CpAsync& e) const { return is(e.src_size, e.ignore_src); }
  bool operator()(const isa::BulkCopy& e) const { return is(e.size, e.cta_mask, e.byte_mask); }
  bool operator()(const isa::TensorCopy& e) const { return is(e.cta_mask, e.im2col_offsets); }
  bool operator()(const isa::TensormapReplace& e) const { return is(e.ordinal, e.value); }
  bool operator()(const isa::Wgmma& e) const { return is(e.a_desc, e.b_desc, e.scale_d); }
  bool operator()(const auto&) const { return false; }
};

bool decides(const MicroOp& op, const RegisterUse& use) {
  if (!use.reads) return false;
  if (use.operand < 0) return !is_lane_wise(op);
  return use.address || std::visit(ControlOperands{use.operand}, *op.effect);
}

// The symbol that an address is made of; no_id when it is in a register.
uint32_t symbol_of(const MicroOp& op, int address) {
  const isa::Operand& base = op.instruction->operands[static_cast<size_t>(address)].elements.front();
  return base.is(isa::Operand::Kind::symbol) ? base.id : isa::no_id;
}

// Control may read memory with it, if what is there is known: shared memory, variables of the module, strong
// accesses. Weak loads of GMEM read tensors.
bool may_read_control(const MicroOp& op, const isa::Load& l) {
  if (may_be_shared(l.space)) return true;
  return l.space == isa::Space::global &&
         (l.order != isa::Order::weak || symbol_of(op, l.address) != isa::no_id);
}

}  // namespace

ValueFlow::ValueFlow(const Program& program, uint32_t pretended_source)
    : program_(program),
      pretended_(pretended_source),
      data_(program.code.size()),
      control_(program.code.size()),
      cell_causes_(program.module->symbols.size() + 1),
      cell_needs_(cell_causes_.size()) {
  find_needs();
  find_data();
}

ValueFlow::Sink ValueFlow::first_need(const Program& program, uint32_t pc) {
  const ValueFlow flow(program, pc);
  const auto found = std::ranges::find(flow.sinks_, pc, &Sink::source);
  return found == flow.sinks_.end() ? Sink{} : *found;
}

// Until no cell of local memory changes any more: functions and accesses meet there.
template <class State, class Flow>
void ValueFlow::for_each_function(Flow&& flow) {
  do {
    changed_ = false;
    for (uint32_t f = 0; f < program_.function_start.size(); ++f) {
      if (program_.function_start[f] == isa::no_id) continue;
      const isa::Function& function = program_.module->functions[f];
      flow(isa::build_cfg(function), program_.function_start[f], program_.register_offsets_base[f],
           State(function.registers.size() + 1));
    }
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
  const auto known = [](uint32_t cause) { return cause == 0; };
  const auto found = std::ranges::find_if_not(cell_causes_, known);
  return found == cell_causes_.end() ? 0 : *found;
}

void ValueFlow::raise_cause(uint32_t cell, uint32_t cause) {
  if (cause == 0 || cell_causes_[cell] != 0) return;
  cell_causes_[cell] = cause;
  changed_ = true;
}

void ValueFlow::raise_needs(uint32_t cell, uint8_t needs) {
  changed_ |= (needs & ~cell_needs_[cell]) != 0;
  cell_needs_[cell] |= needs;
}

// A block of arguments or results: what is known of one is known of the other.
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
  for (uint32_t f = 0; f < module.functions.size(); ++f) {  // an indirect call may reach any of them
    if (target.is(isa::Operand::Kind::symbol) && module.symbols[target.id].function != f) continue;
    pass(call.arguments, module.functions[f].params, true);
    pass(call.returns, module.functions[f].returns, false);
    if (!module.functions[f].defined)  // vprintf: nothing is printed
      for (const isa::SymbolId result : module.functions[f].returns) raise_cause(result, op.pc + 1);
  }
}

// --- what control needs, backward -----------------------------------------------------------------
void ValueFlow::find_needs() {
  const auto join = [](Needs& into, const Needs& from) {
    bool changed = false;
    for (size_t i = 0; i < into.size(); ++i) {
      changed |= (from[i] & ~into[i]) != 0;
      into[i] |= from[i];
    }
    return changed;
  };
  bool before;
  do {
    before = broadcasts_;
    for_each_function<Needs>([&](const isa::Cfg& cfg, uint32_t start, uint32_t base, const Needs& none) {
      flow_backward(cfg, none, none, join, [&](const isa::Block& b, Needs& needs) {
        for (uint32_t i = b.last; i-- > b.first;) flow_back(program_.code[start + i], needs, base);
      });
    });
  } while (broadcasts_ != before);
}

uint8_t ValueFlow::needs_of_stored(const MicroOp& op) const {
  const auto* s = effect_if<isa::Store>(op);
  if (s == nullptr) return broadcasts_ && has_effect<isa::StoreAsync>(op) ? broadcast : 0;
  if (const uint32_t cell = cell_of(op, s->space, s->address); cell != isa::no_id)
    return cell_needs_[cell] | cell_needs_.back();
  return broadcasts_ && may_be_shared(s->space) ? broadcast : 0;
}

void ValueFlow::note_control(const MicroOp& op, uint8_t results) {
  if (const auto* l = effect_if<isa::Load>(op)) {
    if (const uint32_t cell = cell_of(op, l->space, l->address); cell != isa::no_id)
      raise_needs(cell, results);
    if (!may_read_control(op, *l)) return;
    const bool strong = l->order != isa::Order::weak && may_be_global(l->space);
    if ((results & (strong ? needed | broadcast : needed)) == 0) return;
    control_[op.pc] = 1;
    broadcasts_ |= may_be_shared(l->space);
  }
  if (const auto* a = effect_if<isa::Atomic>(op); a != nullptr && results != 0) {
    control_[op.pc] = 1;
    broadcasts_ |= may_be_shared(a->space) && (results & needed) != 0;
  }
  if (const auto* f = effect_if<isa::Fence>(op); f != nullptr && f->copy_from >= 0)
    control_[op.pc] = broadcasts_ = true;  // the copy of a tensor map
}

void ValueFlow::flow_back(const MicroOp& op, Needs& needs, uint32_t base) {
  const auto* pure = effect_if<isa::Pure>(op);
  uint8_t results = pure != nullptr && pure->writes_carry ? needs.back() : 0;
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (use.writes) results |= needs[use.reg - base];
  });
  note_control(op, results);
  const bool guarded = op.guard >= 0;
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (use.writes && !guarded) needs[use.reg - base] = 0;
  });
  if (pure != nullptr && pure->writes_carry && !guarded) needs.back() = 0;
  const uint8_t sources = passes_on(op) ? results : needs_of_stored(op);
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (use.reads) needs[use.reg - base] |= decides(op, use) ? needed : sources;
  });
  if (pure != nullptr && pure->reads_carry) needs.back() |= sources;
}

// --- where tensor data are, forward ---------------------------------------------------------------
void ValueFlow::find_data() {
  const auto run = [&](bool last) {
    for_each_function<Causes>([&](const isa::Cfg& cfg, uint32_t start, uint32_t base, const Causes& none) {
      const auto at = flow_forward(cfg, none, none, join_any, [&](const isa::Block& b, Causes& causes) {
        for (uint32_t i = b.first; i < b.last; ++i) flow_over(program_.code[start + i], causes, base);
      });
      for (uint32_t b = 0; last && b < cfg.blocks.size(); ++b) {
        Causes causes = at[b];
        for (uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].last; ++i) {
          const MicroOp& op = program_.code[start + i];
          find_sinks(op, causes, base);
          flow_over(op, causes, base);
        }
      }
    });
  };
  run(false);
  run(true);
}

uint32_t ValueFlow::cause_of_sources(const MicroOp& op, const Causes& causes, uint32_t base) const {
  const auto* pure = effect_if<isa::Pure>(op);
  uint32_t cause = pure != nullptr && pure->reads_carry ? causes.back() : 0;
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (cause == 0 && use.reads && !decides(op, use)) cause = causes[use.reg - base];
  });
  return cause;
}

uint32_t ValueFlow::cause_of_load(const MicroOp& op, const isa::Load& l) const {
  if (l.space == isa::Space::local || l.space == isa::Space::param) {
    const uint32_t cell = cell_of(op, l.space, l.address);
    return cell == isa::no_id ? 0 : cell_cause(cell);
  }
  if (l.space == isa::Space::const_) return 0;
  return control_[op.pc] != 0 && op.pc != pretended_ ? 0 : op.pc + 1;
}

uint32_t ValueFlow::cause_of_results(const MicroOp& op, uint32_t sources) const {
  if (const auto* l = effect_if<isa::Load>(op)) return cause_of_load(op, *l);
  if (has_effect<isa::LoadMatrix, isa::Wgmma, isa::Mma>(op)) return op.pc + 1;
  if (op.pc == pretended_) return op.pc + 1;
  return passes_on(op) ? sources : 0;
}

// What an instruction leaves in memory.
void ValueFlow::note_memory(const MicroOp& op, uint32_t sources) {
  if (const auto* call = effect_if<isa::Call>(op)) pass_arguments(op, *call);
  const auto* s = effect_if<isa::Store>(op);
  if (s == nullptr) return;
  const uint32_t cell = s->space == isa::Space::generic ? any_cell() : cell_of(op, s->space, s->address);
  if (cell != isa::no_id) raise_cause(cell, sources);
}

void ValueFlow::flow_over(const MicroOp& op, Causes& causes, uint32_t base) {
  const uint32_t sources = cause_of_sources(op, causes, base), results = cause_of_results(op, sources);
  note_memory(op, sources);
  const bool stores = has_effect<isa::Store, isa::StoreAsync, isa::ReduceAsync, isa::Atomic>(op);
  const bool moves = has_effect<isa::StoreMatrix, isa::CpAsync, isa::BulkCopy, isa::TensorCopy>(op);
  if (moves || (stores ? sources : results) != 0) data_[op.pc] = 1;
  const auto set = [&](uint32_t& cause) {
    if (results != 0)
      cause = results;
    else if (op.guard < 0)
      cause = 0;
  };
  for_each_register(program_, op, [&](const RegisterUse& use) {
    if (use.writes) set(causes[use.reg - base]);
  });
  if (const auto* pure = effect_if<isa::Pure>(op); pure != nullptr && pure->writes_carry) set(causes.back());
}

void ValueFlow::find_sinks(const MicroOp& op, const Causes& causes, uint32_t base) {
  for_each_register(program_, op, [&](const RegisterUse& use) {
    const uint32_t cause = causes[use.reg - base];
    if (cause == 0 || !decides(op, use)) return;
    if (!sinks_.empty() && sinks_.back().pc == op.pc && sinks_.back().operand == use.operand) return;
    sinks_.push_back({op.pc, use.operand, use.address, cause - 1});
  });
}

}  // namespace palladion::sim
