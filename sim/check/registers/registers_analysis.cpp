#include "sim/check/registers/registers_analysis.h"

#include <algorithm>
#include <string_view>

#include "sim/program/flow.h"

namespace palladion::sim::check {
namespace {

using Rule = UnwrittenAnalysis::Rule;
using Sink = UnwrittenAnalysis::Sink;

template <class T>
const T* effect_of(const MicroOp& op) {
  return op.effect == nullptr ? nullptr : std::get_if<T>(op.effect);
}

template <class... T>
bool is_any(const MicroOp& op) {
  return (... || (effect_of<T>(op) != nullptr));
}

bool computes(const MicroOp& op) {
  return is_any<isa::Pure, isa::Approx, isa::ConvertAddress, isa::MapShared>(op);
}

constexpr std::string_view arithmetic[] = {
    "mov", "add", "sub", "mul", "mad",  "fma", "div",  "rem",   "abs",  "neg", "min",  "max", "cvt",
    "ex2", "lg2", "sin", "cos", "tanh", "rcp", "sqrt", "rsqrt", "setp", "set", "cvta", "mapa"};

// `sub d, a, a` is zero whatever a is.
bool reads_one_twice(const isa::Instruction& i) {
  for (size_t k = 0; k < i.operands.size(); ++k)
    for (size_t j = k + 1; j < i.operands.size(); ++j)
      if (i.form->operands[k].reads && i.form->operands[j].reads &&
          i.operands[k].is(isa::Operand::Kind::reg) && i.operands[k] == i.operands[j])
        return true;
  return false;
}

Rule rule_of(const MicroOp& op) {
  if (!computes(op)) return Rule::ends;
  const isa::Instruction& i = *op.instruction;
  if (i.op->name == "selp") return Rule::select;
  if (std::ranges::find(arithmetic, i.op->name) == std::end(arithmetic)) return Rule::ends;
  if (i.op->name == "mov") return i.operands.back().is(isa::Operand::Kind::vector) ? Rule::all : Rule::any;
  // A comparison that is combined with a predicate may not matter.
  const bool combined = (i.op->name == "setp" || i.op->name == "set") && i.operand("c") != nullptr;
  return combined || reads_one_twice(i) ? Rule::ends : Rule::any;
}

// A store to local memory or to the parameters of a call is a copy like any other.
bool keeps_to_itself(isa::Space s) { return s == isa::Space::local || s == isa::Space::param; }

// What it means that the operand's value is used; false: nothing.
bool sink_of(const MicroOp& op, const RegisterUse& use, Sink& sink) {
  if (!use.reads) return false;
  if (use.operand < 0) {
    sink = Sink::guard;
    return true;
  }
  if (use.address) {
    sink = Sink::address;
    return !is_any<isa::Prefetch>(op);
  }
  if (const auto* w = effect_of<isa::Wgmma>(op)) {
    sink = use.operand == w->acc ? Sink::accumulator : Sink::matrix;
    return use.operand != w->acc || may_accumulate(op, *w);
  }
  if (const auto* s = effect_of<isa::Store>(op)) {
    sink = Sink::data;
    return !keeps_to_itself(s->space);
  }
  sink = is_any<isa::Mma>(op)                        ? Sink::matrix
         : is_any<isa::Atomic, isa::StoreMatrix>(op) ? Sink::data
                                                     : Sink::operand;
  return is_any<isa::Mma, isa::Atomic, isa::StoreMatrix, isa::StoreAsync, isa::ReduceAsync, isa::CtaBarrier,
                isa::Mbarrier, isa::BulkCopy, isa::TensorCopy, isa::CpAsync, isa::BranchIndexed>(op);
}

uint32_t address_lanes(const MicroOp& op) {
  const auto of = [](int count) { return count >= 4 ? ~0U : (1U << 8 * count) - 1; };
  if (const auto* m = effect_of<isa::LoadMatrix>(op)) return of(m->count);
  if (const auto* m = effect_of<isa::StoreMatrix>(op)) return of(m->count);
  return ~0U;
}

// What the instruction leaves: 1 when its destinations may be unwritten because its sources may be.
bool passes_on(const Program& program, const MicroOp& op, const FlowState& unwritten, uint32_t base) {
  if (rule_of(op) == Rule::ends) return false;
  bool any = false;
  for_each_register(program, op, [&](const RegisterUse& use) {
    any |= use.reads && use.operand >= 0 && unwritten[use.reg - base] != 0;
  });
  return any;
}

void flow_over(const Program& program, const MicroOp& op, FlowState& unwritten, uint32_t base) {
  const bool passes = passes_on(program, op, unwritten, base);
  const bool guarded = op.guard >= 0;
  for_each_register(program, op, [&](const RegisterUse& use) {
    if (!use.writes) return;
    uint8_t& state = unwritten[use.reg - base];
    if (passes)
      state = 1;
    else if (!guarded)
      state = 0;
  });
}

}  // namespace

UnwrittenAnalysis::UnwrittenAnalysis(const Program& program)
    : watched_of_(program.code.size()), tracked_of_(program.register_offsets.size()) {
  for (uint32_t f = 0; f < program.function_start.size(); ++f)
    if (program.function_start[f] != isa::no_id) find_tracked(program, f);
}

// visit(op, state before it), for all instructions that may run.
template <class Visit>
void UnwrittenAnalysis::walk(const Program& program, uint32_t function, Visit&& visit) const {
  const isa::Function& f = program.module->functions[function];
  const uint32_t start = program.function_start[function], base = program.register_offsets_base[function];
  const isa::Cfg cfg = isa::build_cfg(f);
  const size_t count = f.registers.size();
  const auto at =
      flow_forward(cfg, State(count, 1), State(count), join_any, [&](const isa::Block& b, State& s) {
        for (uint32_t i = b.first; i < b.last; ++i) flow_over(program, program.code[start + i], s, base);
      });
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    State s = at[b];
    for (uint32_t i = cfg.blocks[b].first; i < cfg.blocks[b].last; ++i) {
      visit(program.code[start + i], s);
      flow_over(program, program.code[start + i], s, base);
    }
  }
}

void UnwrittenAnalysis::find_tracked(const Program& program, uint32_t function) {
  const uint32_t base = program.register_offsets_base[function];
  const size_t before = registers_.size();
  walk(program, function, [&](const MicroOp& op, const State& unwritten) {
    const Rule rule = rule_of(op);
    for_each_register(program, op, [&](const RegisterUse& use) {
      Sink sink;
      const bool matters = sink_of(op, use, sink) || (use.reads && rule != Rule::ends);
      if (!matters || unwritten[use.reg - base] == 0 || tracked_of_[use.reg] != 0) return;
      registers_.push_back(use.reg);
      tracked_of_[use.reg] = tracked();
    });
  });
  if (registers_.size() == before) return;
  walk(program, function,
       [&](const MicroOp& op, const State& unwritten) { watch(program, op, unwritten, base); });
}

void UnwrittenAnalysis::watch(const Program& program, const MicroOp& op, const State& unwritten,
                              uint32_t base) {
  Watched w{.rule = rule_of(op), .address_lanes = address_lanes(op)};
  bool passes = passes_on(program, op, unwritten, base), defines = false;
  for_each_register(program, op, [&](const RegisterUse& use) {
    const bool value = use.reads && use.operand >= 0;
    w.source_count += value;
    if (tracked_of_[use.reg] == 0) return;
    const uint32_t tracked = tracked_of_[use.reg] - 1;
    const bool may = unwritten[use.reg - base] != 0;
    Sink sink;
    if (may && sink_of(op, use, sink)) w.sinks.push_back({tracked, sink});
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
