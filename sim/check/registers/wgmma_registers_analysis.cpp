#include "sim/check/registers/wgmma_registers_analysis.h"

#include <algorithm>
#include <map>

#include "isa/text/print.h"
#include "sim/program/flow.h"

namespace palladion::sim::check {
namespace {

constexpr uint8_t idle = 255;    // no wgmma on the register is in flight
constexpr uint8_t oldest = 200;  // this many commits, or more

template <class T>
const T* effect_of(const MicroOp& op) {
  return op.effect == nullptr ? nullptr : std::get_if<T>(op.effect);
}

bool guarded(const MicroOp& op) { return op.guard >= 0; }

// A mov of registers, or one that packs or unpacks them: ptxas gives both one place.
bool is_copy(const MicroOp& op) {
  if (op.instruction == nullptr || isa::operation(*op.instruction) != isa::Operation::move) return false;
  const isa::Operand& from = op.instruction->operands.back();
  const auto is_register = [](const isa::Operand& o) { return o.is(isa::Operand::Kind::reg); };
  return is_register(from) ||
         (from.is(isa::Operand::Kind::vector) && std::ranges::all_of(from.elements, is_register));
}

// A copy of a register, behind an instruction: kept as it was, computed with, or overwritten or awaited.
enum class CopyState : uint8_t { kept, used, over };

CopyState state_behind(const Program& program, const MicroOp& op, uint32_t copy) {
  if (effect_of<isa::WgmmaWait>(op) != nullptr && !guarded(op)) return CopyState::over;
  CopyState state = CopyState::kept;
  for_each_register(program, op, [&](const RegisterUse& use) {
    if (use.reg != copy || state == CopyState::used) return;
    const bool looks = use.reads && !is_copy(op) && effect_of<isa::Wgmma>(op) == nullptr;
    state = looks ? CopyState::used : CopyState::over;
  });
  return state;
}

// On some path from the copy an instruction computes with it without a wgmma.wait_group before: what it
// computes with is what the register held while the wgmma ran.
bool copy_is_used_early(const Program& program, const isa::Cfg& cfg, Pc pc) {
  const uint32_t start = program.function_start[program.code[pc].function];
  uint32_t copy = 0;
  for_each_register(program, program.code[pc], [&](const RegisterUse& use) {
    if (use.writes) copy = use.reg;
  });
  std::vector<bool> seen(cfg.blocks.size());
  std::vector<std::pair<uint32_t, uint32_t>> todo{{cfg.block_of[pc - start], pc - start + 1}};
  while (!todo.empty()) {
    auto [block, at] = todo.back();
    todo.pop_back();
    CopyState state = CopyState::kept;
    for (; at < cfg.blocks[block].last && state == CopyState::kept; ++at)
      state = state_behind(program, program.code[start + at], copy);
    if (state == CopyState::used) return true;
    if (state == CopyState::over) continue;
    for (const uint32_t next : cfg.blocks[block].successors)
      if (!seen[next]) seen[next] = true, todo.emplace_back(next, cfg.blocks[next].first);
  }
  return false;
}

bool join_youngest(FlowState& into, const FlowState& from) {
  bool changed = false;
  for (size_t i = 0; i < into.size(); ++i) {
    if (from[i] >= into[i]) continue;
    into[i] = from[i];
    changed = true;
  }
  return changed;
}

}  // namespace

WgmmaAnalysis::WgmmaAnalysis(const Program& program)
    : access_(program.code.size()),
      wgmma_(program.code.size()),
      text_(program.code.size()),
      fragment_of_(program.register_offsets.size()) {
  find_operands(program);
  if (operands_.empty()) return;
  number_texts(program);
  for (uint32_t f = 0; f < program.function_start.size(); ++f)
    if (program.function_start[f] != isa::no_id) find_accesses(program, f);
}

void WgmmaAnalysis::find_operands(const Program& program) {
  for (Pc pc{0}; pc < program.code.size(); ++pc) {
    const auto* wgmma = effect_of<isa::Wgmma>(program.code[pc]);
    if (wgmma == nullptr) continue;
    Operands& o = operands_.emplace_back();
    o.wgmma = wgmma;
    wgmma_[pc] = static_cast<uint32_t>(operands_.size());
    for_each_register(program, program.code[pc], [&](const RegisterUse& use) {
      if (use.operand == wgmma->acc) o.accumulator_registers.push_back(use.reg);
      if (use.operand >= 0 && use.operand == wgmma->a_regs) o.a_registers.push_back(use.reg);
    });
  }
  find_fragments();
}

// Refines from "no operand" by one operand after the other.
void WgmmaAnalysis::find_fragments() {
  const auto refine = [&](const std::vector<uint32_t>& registers) {
    std::map<uint32_t, uint32_t> split;  // a fragment: what becomes of its registers that are named here
    for (const uint32_t r : registers) {
      const auto [at, fresh] = split.try_emplace(fragment_of_[r], fragments_ + 1);
      if (fresh) ++fragments_;
      fragment_of_[r] = at->second;
      split.try_emplace(at->second, at->second);  // named twice
    }
  };
  for (const Operands& o : operands_) {
    refine(o.accumulator_registers);
    refine(o.a_registers);
  }
  std::map<uint32_t, uint32_t> dense;
  for (uint32_t& f : fragment_of_)
    if (f != 0) f = dense.try_emplace(f, dense.size() + 1).first->second;
  fragments_ = static_cast<uint32_t>(dense.size());
  const auto fragments_of = [&](const std::vector<uint32_t>& registers) {
    std::vector<uint32_t> out;
    for (const uint32_t r : registers) out.push_back(fragment_of_[r] - 1);
    std::ranges::sort(out);
    out.erase(std::ranges::unique(out).begin(), out.end());
    return out;
  };
  for (Operands& o : operands_) {
    o.accumulators = fragments_of(o.accumulator_registers);
    o.a = fragments_of(o.a_registers);
  }
}

uint32_t WgmmaAnalysis::one_of(uint32_t fragment, const std::vector<uint32_t>& registers) const {
  return *std::ranges::find(registers, fragment + 1, [&](uint32_t r) { return fragment_of_[r]; });
}

void WgmmaAnalysis::number_texts(const Program& program) {
  std::map<std::string, uint32_t> known;
  for (Pc pc{0}; pc < program.code.size(); ++pc) {
    const MicroOp& op = program.code[pc];
    const bool family = effect_of<isa::Wgmma>(op) || effect_of<isa::WgmmaFence>(op) ||
                        effect_of<isa::WgmmaCommit>(op) || effect_of<isa::WgmmaWait>(op);
    if (!family) continue;
    const isa::Module& module = *program.module;
    const std::string text = isa::print(module, module.functions[op.function], *op.instruction);
    text_[pc] = known.emplace(text, known.size() + 1).first->second;
  }
}

// A call changes nothing here: registers belong to one function, and what a callee waits for is left out, so
// that too much is watched, never too little.
void WgmmaAnalysis::flow_over(const MicroOp& op, FlowState& ages) const {
  if (const Operands* o = wgmma(op.pc)) {
    for (const uint32_t r : o->accumulators) ages[r] = 0;
    for (const uint32_t r : o->a) ages[r] = 0;
  } else if (effect_of<isa::WgmmaCommit>(op) != nullptr && !guarded(op)) {
    for (uint8_t& age : ages)
      if (age < oldest) ++age;
  } else if (const auto* wait = effect_of<isa::WgmmaWait>(op); wait != nullptr && !guarded(op)) {
    for (uint8_t& age : ages)
      if (age > wait->n) age = idle;
  }
}

void WgmmaAnalysis::flow_back(const MicroOp& op, FlowState& exposed) const {
  if (effect_of<isa::WgmmaFence>(op) != nullptr && !guarded(op)) std::ranges::fill(exposed, uint8_t{0});
  if (const Operands* o = wgmma(op.pc)) {
    for (const uint32_t r : o->accumulators) exposed[r] = 1;
    for (const uint32_t r : o->a) exposed[r] = 1;
  }
}

void WgmmaAnalysis::find_accesses(const Program& program, uint32_t function) {
  const isa::Function& f = program.module->functions[function];
  const uint32_t start = program.function_start[function];
  const isa::Cfg cfg = isa::build_cfg(f);
  // A second call of a device function finds its registers as the last call left them.
  const FlowState entry(fragments_, f.entry ? idle : uint8_t{0});
  const FlowState exit(fragments_, f.entry ? uint8_t{0} : uint8_t{1});
  const auto ages = flow_forward(cfg, entry, FlowState(fragments_, idle), join_youngest,
                                 [&](const isa::Block& b, FlowState& s) {
                                   for (uint32_t at = b.first; at < b.last; ++at)
                                     flow_over(program.code[start + at], s);
                                 });
  const auto exposed =
      flow_backward(cfg, exit, FlowState(fragments_), join_any, [&](const isa::Block& b, FlowState& s) {
        for (uint32_t at = b.last; at-- > b.first;) flow_back(program.code[start + at], s);
      });
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    const isa::Block& block = cfg.blocks[b];
    std::vector<FlowState> after(block.last - block.first);
    FlowState state = exposed[b];
    for (uint32_t at = block.last; at-- > block.first;) {
      after[at - block.first] = state;
      flow_back(program.code[start + at], state);
    }
    state = ages[b];
    for (uint32_t at = block.first; at < block.last; ++at) {
      add_access(program, cfg, Pc(start + at), state, after[at - block.first]);
      flow_over(program.code[start + at], state);
    }
  }
}

void WgmmaAnalysis::add_access(const Program& program, const isa::Cfg& cfg, Pc pc, const FlowState& ages,
                               const FlowState& exposed) {
  if (wgmma_[pc] != 0) return;
  Access access;
  const bool copies = is_copy(program.code[pc]);
  for_each_register(program, program.code[pc], [&](const RegisterUse& use) {
    if (fragment_of_[use.reg] == 0) return;
    const uint32_t f = fragment_of_[use.reg] - 1;
    if (ages[f] == idle && exposed[f] == 0) return;
    const auto same = [&](const Part& p) { return p.fragment == f && p.writes == use.writes; };
    if (std::ranges::none_of(access, same)) {
      const bool looks = copies && ages[f] != idle && copy_is_used_early(program, cfg, pc);
      access.push_back({f, use.reg, use.writes, copies, looks});
    }
  });
  if (access.empty()) return;
  accesses_.push_back(std::move(access));
  access_[pc] = static_cast<uint32_t>(accesses_.size());
}

}  // namespace palladion::sim::check
