#include "sim/check/protocol/bypass_analysis.h"

#include <algorithm>

#include "sim/program/reach.h"

namespace palladion::sim::check {
namespace {

template <class Effect>
const Effect* effect_of_op(const MicroOp& op) {
  return op.effect == nullptr ? nullptr : std::get_if<Effect>(op.effect);
}

bool jumps(const MicroOp& op) {
  return effect_of_op<isa::Branch>(op) != nullptr || effect_of_op<isa::BranchIndexed>(op) != nullptr;
}

// By block: those whose last instruction decides whether it is executed (control dependence: Ferrante,
// Ottenstein, Warren, "The Program Dependence Graph and Its Use in Optimization", 1987).
std::vector<std::vector<uint32_t>> deciders_of(const isa::Cfg& cfg) {
  std::vector<std::vector<uint32_t>> out(cfg.blocks.size());
  for (uint32_t b = 0; b < cfg.blocks.size(); ++b) {
    const isa::Block& block = cfg.blocks[b];
    if (block.successors.size() < 2) continue;
    for (uint32_t at : block.successors)
      for (; at != block.reconverge && at != isa::no_id; at = cfg.blocks[at].reconverge) {
        if (!out[at].empty() && out[at].back() == b) break;  // the rest was found by another way
        out[at].push_back(b);
      }
  }
  return out;
}

// By block: whether control can reach it from `from` without entering `by` or `to`.
std::vector<bool> reached(const isa::Cfg& cfg, uint32_t from, uint32_t by, uint32_t to) {
  std::vector<bool> seen(cfg.blocks.size());
  std::vector<uint32_t> work;
  const auto add = [&](uint32_t b) {
    if (b == by || b == to || seen[b]) return;
    seen[b] = true;
    work.push_back(b);
  };
  add(from);
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    for (const uint32_t s : cfg.blocks[b].successors) add(s);
  }
  return seen;
}

bool is_visible(isa::Space s) {
  return s == isa::Space::generic || s == isa::Space::global || s == isa::Space::shared_cta ||
         s == isa::Space::shared_cluster;
}

}  // namespace

bool needs_whole_warp(const MicroOp& op) {
  if (op.effect == nullptr || effect_of_op<isa::Shuffle>(op) != nullptr) return false;
  if (const auto* const b = effect_of_op<isa::CtaBarrier>(op)) return b->aligned;
  if (const auto* const b = effect_of_op<isa::ClusterBarrier>(op)) return b->aligned;
  const isa::Participants who = isa::footprint(*op.effect).participants;
  return who == isa::Participants::warp || who == isa::Participants::warpgroup;
}

BypassAnalysis::BypassAnalysis(const Program& program) : program_(program) {
  if (std::ranges::none_of(program.code, needs_whole_warp)) return;
  for (uint32_t f = 0; f < program.function_start.size(); ++f)
    if (program.function_start[f] != isa::no_id) add_function(f);
  find_decisions();
}

void BypassAnalysis::add_function(uint32_t index) {
  const isa::Function& text = program_.module->functions[index];
  Function& f = functions_[index];
  f.start = program_.function_start[index];
  f.end = f.start + static_cast<uint32_t>(text.body.size());
  f.cfg = isa::build_cfg(text);
  f.deciders = deciders_of(f.cfg);
}

// From what needs a whole warp back to the decisions before it, and to the calls of its function.
void BypassAnalysis::find_decisions() {
  decides_.resize(program_.code.size());
  std::vector<Pc> work;
  std::vector<bool> seen(program_.code.size());  // by first pc of a block
  const auto add = [&](Pc pc) {
    if (program_.code[pc].guard >= 0 && !jumps(program_.code[pc])) decides_[pc] = true;
    const Function& f = function_of(pc);
    const Pc first = f.start + f.cfg.blocks[f.block_of(pc)].first;
    if (seen[first]) return;
    seen[first] = true;
    work.push_back(first);
  };
  for (Pc pc; pc < program_.code.size(); ++pc) {
    if (program_.code[pc].instruction == nullptr) continue;
    if (needs_whole_warp(program_.code[pc])) add(pc);
  }
  std::vector<bool> entered(program_.function_start.size());
  while (!work.empty()) {
    const Pc pc = work.back();
    work.pop_back();
    const Function& f = function_of(pc);
    for (const uint32_t b : f.deciders[f.block_of(pc)]) {
      decides_[f.last(b)] = true;
      add(f.last(b));
    }
    const uint32_t own = program_.code[pc].function;
    if (entered[own]) continue;
    entered[own] = true;
    for (const Pc call : calls_of(own)) add(call);
  }
}

// The calls that may enter the function.
std::vector<Pc> BypassAnalysis::calls_of(uint32_t function) const {
  std::vector<Pc> out;
  for (Pc pc; pc < program_.code.size(); ++pc) {
    const MicroOp& op = program_.code[pc];
    const auto* const call = effect_of_op<isa::Call>(op);
    if (call == nullptr) continue;
    const DecodedOperand& callee = op.operands[call->function];
    if (callee.kind != DecodedOperand::Kind::function || callee.id == function) out.push_back(pc);
  }
  return out;
}

std::vector<Pc> BypassAnalysis::decisions_before(Pc pc) const {
  std::vector<Pc> out;
  if (program_.code[pc].guard >= 0) out.push_back(pc);
  const Function& f = function_of(pc);
  std::vector<bool> seen(f.cfg.blocks.size());
  std::vector<uint32_t> work{f.block_of(pc)};
  while (!work.empty()) {
    const uint32_t block = work.back();
    work.pop_back();
    for (const uint32_t b : f.deciders[block]) {
      if (seen[b]) continue;
      seen[b] = true;
      out.push_back(f.last(b));
      work.push_back(b);
    }
  }
  return out;
}

bool BypassAnalysis::goes_around(Pc decision, Pc side, Pc meeting, std::optional<Pc> exit) const {
  if (decision == meeting) return true;  // its own guard
  const Function& f = function_of(decision);
  if (!f.holds(side)) return false;
  const uint32_t from = f.block_of(decision), to = f.block_of(side), at = f.block_of(meeting);
  const uint32_t join = f.cfg.blocks[from].reconverge;
  const std::vector<bool> way = reached(f.cfg, to, from, join);
  if (way[at]) return false;
  if (f.loops == nullptr) f.loops = std::make_unique<Loops>(f.cfg);
  if (!f.loops->keeps(from, at, to)) return false;
  if (!exit) return true;
  if (f.holds(*exit)) return join != isa::no_id && !way[f.block_of(*exit)];
  return join != isa::no_id && program_.code[*exit].function == program_.code[program_.start].function;
}

bool BypassAnalysis::matters_behind(Pc decision, Pc meeting) const {
  Pc from = decision + 1;
  if (decision != meeting) {
    const Function& f = function_of(decision);
    const uint32_t join = f.cfg.blocks[f.block_of(decision)].reconverge;
    if (join == isa::no_id) return true;
    from = f.start + f.cfg.blocks[join].first;
  }
  std::vector<Pc> starts{from};
  std::vector<bool> left(program_.function_start.size());
  for (size_t k = 0; k < starts.size(); ++k) {  // functions are left for where they were called
    const uint32_t own = program_.code[starts[k]].function;
    if (left[own]) continue;
    left[own] = true;
    for (const Pc call : calls_of(own)) starts.push_back(call + 1);
  }
  const std::vector<bool> behind = reachable(program_, starts);
  for (Pc pc; pc < behind.size(); ++pc) {
    const isa::Footprint& f = program_.footprints[pc];
    if (!behind[pc] || program_.code[pc].instruction == nullptr) continue;
    if (f.sync.object != isa::Sync::Object::none || f.participants != isa::Participants::lanes) return true;
    for (const isa::MemoryUse& use : f.memory)
      if (use.reads && is_visible(use.space)) return true;
  }
  return false;
}

}  // namespace palladion::sim::check
