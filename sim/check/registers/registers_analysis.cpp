#include "sim/check/registers/registers_analysis.h"

#include <algorithm>
#include <set>

#include "sim/program/flow.h"
#include "sim/program/liveness.h"

namespace palladion::sim::check {
namespace {

using Rule = UnwrittenAnalysis::Rule;
using Sink = UnwrittenAnalysis::Sink;

using isa::Operation;

// `sub d, a, a` is zero whatever a is.
bool reads_one_twice(const isa::Instruction& i) {
  for (size_t k = 0; k < i.operands.size(); ++k)
    for (size_t j = k + 1; j < i.operands.size(); ++j)
      if (i.form->operands[k].reads && i.form->operands[j].reads &&
          i.operands[k].is(isa::Operand::Kind::reg) && i.operands[k] == i.operands[j])
        return true;
  return false;
}

// A comparison that is combined with a predicate may not matter.
bool is_combined(const isa::Instruction& i) { return i.operand("c") != nullptr; }

// What an unwritten operand makes of the results. Logic, shifts and bit fields may not depend on it.
Rule rule_of(const isa::Instruction& i) {
  switch (isa::operation(i)) {
    case Operation::select:
      return Rule::select;
    case Operation::move:
      return i.operands.back().is(isa::Operand::Kind::vector) ? Rule::all : Rule::any;
    case Operation::convert:  // of two values each makes a half of the result
      return i.operands.size() > 2 && i.operands[2].is(isa::Operand::Kind::reg) ? Rule::all : Rule::any;
    case Operation::compare:
    case Operation::set:
      return is_combined(i) || reads_one_twice(i) ? Rule::ends : Rule::any;
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::multiply_add:
    case Operation::fused_multiply_add:
    case Operation::divide:
    case Operation::remainder:
    case Operation::absolute:
    case Operation::negate:
    case Operation::minimum:
    case Operation::maximum:
    case Operation::function:
    case Operation::convert_address:
    case Operation::map_address:
      return reads_one_twice(i) ? Rule::ends : Rule::any;
    case Operation::select_by_sign:
    case Operation::copy_sign:
    case Operation::and_:
    case Operation::or_:
    case Operation::xor_:
    case Operation::not_:
    case Operation::logic3:
    case Operation::shift_left:
    case Operation::shift_right:
    case Operation::branch:
    case Operation::branch_indexed:
    case Operation::call:
    case Operation::return_:
    case Operation::exit:
    case Operation::trap:
    case Operation::other:
      return Rule::ends;
  }
  return Rule::ends;
}
Rule rule_of(const MicroOp& op) { return op.instruction == nullptr ? Rule::ends : rule_of(*op.instruction); }

// What the value of an operand that is neither guard nor address becomes: a matrix, data in memory, an
// operand of synchronisation, of an asynchronous operation or of an indirect branch; false: a value of
// registers.
bool value_sink(const MicroOp& op, const isa::Footprint& f, const RegisterUse& use, Sink& sink) {
  if (const auto* w = std::get_if<isa::Wgmma>(op.effect)) {
    sink = use.operand == w->acc ? Sink::accumulator : Sink::matrix;
    return use.operand != w->acc || may_accumulate(op, *w);
  }
  const isa::MemoryUse* const to = f.issues() ? nullptr : f.written();
  sink = f.products != 0 ? Sink::matrix : to != nullptr ? Sink::data : Sink::operand;
  if (to != nullptr) return !is_private(to->space);
  return f.products != 0 || f.issues() || f.at(isa::Sync::Object::cta_barrier) ||
         f.at(isa::Sync::Object::mbarrier) || f.next == isa::Control::branches;
}

// Indices into Program::register_offsets: a call writes them.
std::set<uint32_t> parameter_registers(const Program& program, uint32_t function) {
  const isa::Function& f = program.module->functions[function];
  std::set<uint32_t> out;
  for (const isa::SymbolId id : f.params) {
    const isa::Symbol& symbol = program.module->symbols[id];
    const auto at = std::ranges::find(f.registers, symbol.name, &isa::Register::name);
    if (symbol.variable.space == isa::Space::reg && at != f.registers.end())
      out.insert(program.register_offsets_base[function] + static_cast<uint32_t>(at - f.registers.begin()));
  }
  return out;
}

uint32_t address_lanes(const isa::Footprint& f) { return f.memory.empty() ? ~0U : f.memory.front().lanes; }

}  // namespace

bool sink_of(const Program& program, const MicroOp& op, const RegisterUse& use, RegisterSink& sink) {
  if (!use.reads) return false;
  if (use.operand < 0) {
    sink = Sink::guard;
    return true;
  }
  const isa::Footprint& f = program.footprint(op);
  if (!use.address) return value_sink(op, f, use, sink);
  sink = Sink::address;
  return !f.hint;
}

UnwrittenAnalysis::UnwrittenAnalysis(const Program& program)
    : watched_of_(program.code.size()),
      tracked_of_(program.register_offsets.size()),
      candidate_of_(program.register_offsets.size()) {
  for (uint32_t f = 0; f < program.function_start.size(); ++f)
    if (program.function_start[f] != isa::no_id) find_tracked(program, f);
}

// Those that are live where the function begins, and what instructions make of candidates.
void UnwrittenAnalysis::find_candidates(const Program& program, uint32_t function, const isa::Cfg& cfg) {
  const uint32_t start = program.function_start[function], base = program.register_offsets_base[function];
  candidates_.clear();
  const std::set<uint32_t> parameters = parameter_registers(program, function);
  const auto add = [&](uint32_t reg) {
    if (candidate_of_[reg] != 0 || parameters.contains(reg)) return false;
    candidates_.push_back(reg);
    candidate_of_[reg] = static_cast<uint32_t>(candidates_.size());
    return true;
  };
  if (cfg.blocks.empty()) return;
  const Liveness live(program, function, cfg);
  live.for_each_in(0, [&](uint32_t r) { add(base + r); });
  const State all(program.module->functions[function].registers.size(), 1);
  for (bool more = !candidates_.empty(); more;) {
    more = false;
    for (uint32_t i = 0; i < cfg.block_of.size(); ++i) {
      const MicroOp& op = program.code[start + i];
      if (!passes_on(program, op, all)) continue;
      for_each_register(program, op, [&](const RegisterUse& use) { more |= use.writes && add(use.reg); });
    }
  }
}

// What the instruction leaves: its destinations may be unwritten because its sources may be.
bool UnwrittenAnalysis::passes_on(const Program& program, const MicroOp& op, const State& unwritten) const {
  if (rule_of(op) == Rule::ends) return false;
  bool any = false;
  for_each_register(program, op, [&](const RegisterUse& use) {
    any |= use.reads && use.operand >= 0 && may_be_unwritten(unwritten, use.reg);
  });
  return any;
}

void UnwrittenAnalysis::flow_over(const Program& program, const MicroOp& op, State& unwritten) const {
  const bool passes = passes_on(program, op, unwritten);
  const bool guarded = op.guard >= 0;
  for_each_register(program, op, [&](const RegisterUse& use) {
    if (!use.writes || candidate_of_[use.reg] == 0) return;
    uint8_t& state = unwritten[candidate_of_[use.reg] - 1];
    if (passes)
      state = 1;
    else if (!guarded)
      state = 0;
  });
}

// visit(op, state before it), for all instructions that may run.
template <class Visit>
void UnwrittenAnalysis::walk(const Program& program, uint32_t function, const isa::Cfg& cfg,
                             const std::vector<State>& at, Visit&& visit) const {
  const uint32_t start = program.function_start[function];
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    State s = at[b];
    for (uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].last; ++i) {
      visit(program.code[start + i], s);
      flow_over(program, program.code[start + i], s);
    }
  }
}

void UnwrittenAnalysis::find_tracked(const Program& program, uint32_t function) {
  const uint32_t start = program.function_start[function];
  const isa::Cfg cfg = isa::build_cfg(program.module->functions[function]);
  find_candidates(program, function, cfg);
  if (candidates_.empty()) return;
  const size_t count = candidates_.size(), before = registers_.size();
  const auto at =
      flow_forward(cfg, State(count, 1), State(count), join_any, [&](const isa::Block& b, State& s) {
        for (uint32_t i = b.first; i < b.last; ++i) flow_over(program, program.code[start + i], s);
      });
  walk(program, function, cfg, at, [&](const MicroOp& op, const State& unwritten) {
    const Rule rule = rule_of(op);
    for_each_register(program, op, [&](const RegisterUse& use) {
      Sink sink;
      const bool matters = sink_of(program, op, use, sink) || (use.reads && rule != Rule::ends);
      if (!matters || !may_be_unwritten(unwritten, use.reg) || tracked_of_[use.reg] != 0) return;
      registers_.push_back(use.reg);
      tracked_of_[use.reg] = tracked();
    });
  });
  if (registers_.size() == before) return;
  walk(program, function, cfg, at,
       [&](const MicroOp& op, const State& unwritten) { watch(program, op, unwritten); });
}

void UnwrittenAnalysis::watch(const Program& program, const MicroOp& op, const State& unwritten) {
  Watched w{.rule = rule_of(op), .address_lanes = address_lanes(program.footprint(op))};
  bool passes = passes_on(program, op, unwritten), defines = false;
  for_each_register(program, op, [&](const RegisterUse& use) {
    const bool value = use.reads && use.operand >= 0;
    w.source_count += value;
    if (tracked_of_[use.reg] == 0) return;
    const uint32_t tracked = tracked_of_[use.reg] - 1;
    const bool may = may_be_unwritten(unwritten, use.reg);
    Sink sink;
    if (may && sink_of(program, op, use, sink)) w.sinks.push_back({tracked, sink});
    if (may && value && w.rule != Rule::ends) w.sources.push_back(tracked);
    if (may && w.rule == Rule::select) {
      if (use.operand == 1 || use.operand == 2) w.selected[use.operand - 1] = tracked;
      if (use.operand == 3) w.selector = tracked;
    }
    if (use.writes) {
      w.destinations.push_back(tracked);
      defines |= may;
    }
  });
  if (w.sinks.empty() && !(defines || (passes && !w.destinations.empty()))) return;
  watched_.push_back(std::move(w));
  watched_of_[op.pc] = static_cast<uint32_t>(watched_.size());
}

}  // namespace palladion::sim::check
