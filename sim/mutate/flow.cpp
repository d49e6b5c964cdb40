#include "sim/mutate/flow.h"

#include <algorithm>

namespace palladion::sim::check {
namespace {

using isa::Operand;

template <class F>
void for_each_register(const Operand& operand, F&& visit) {
  if (operand.is(Operand::Kind::reg)) visit(operand.id);
  for (const Operand& element : operand.elements) for_each_register(element, visit);
}

}  // namespace

Flow::Flow(const isa::Module& module, const isa::Function& function, const isa::ArchSpec& arch)
    : module_(module), function_(function), arch_(arch), cfg_(isa::build_cfg(function)) {
  const isa::DecodeContext context{module, function, arch};
  for (const isa::Instruction& i : function.body) {
    effects_.push_back(isa::effect(i, context));
    footprints_.push_back(isa::footprint(effects_.back()));
  }
  find_dominators();
  find_definitions();
}

// The largest solution of: a block is dominated by itself and by what dominates all its predecessors.
void Flow::find_dominators() {
  const size_t n = cfg_.blocks.size();
  dominators_.assign(n, std::vector<bool>(n, true));
  if (n == 0) return;
  dominators_[0].assign(n, false);
  dominators_[0][0] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = 1; b < n; ++b) {
      std::vector<bool> meet(n, true);
      for (const uint32_t p : cfg_.blocks[b].predecessors)
        for (size_t i = 0; i < n; ++i) meet[i] = meet[i] && dominators_[p][i];
      meet[b] = true;
      if (meet == dominators_[b]) continue;
      dominators_[b] = std::move(meet);
      changed = true;
    }
  }
}

void Flow::find_definitions() {
  definitions_.resize(function_.registers.size());
  for (uint32_t i = 0; i < size(); ++i)
    for (size_t k = 0; k < std::min(at(i).operands.size(), at(i).form->operands.size()); ++k)
      if (at(i).form->operands[k].writes)
        for_each_register(at(i).operands[k], [&](isa::RegId id) { definitions_[id].push_back(i); });
}

bool Flow::dominated(uint32_t index, uint32_t by) const {
  const uint32_t block = cfg_.block_of[index], other = cfg_.block_of[by];
  return block == other ? by < index : dominators_[block][other];
}

bool Flow::available(const Operand& operand, uint32_t index) const {
  bool all = true;
  for_each_register(operand, [&](isa::RegId id) {
    const auto& at = definitions_[id];
    all = all && at.size() == 1 && dominated(index, at.front());
  });
  return all;
}

bool Flow::backward(uint32_t index, const Visit& visit) const {
  bool started = false;
  std::vector<bool> seen(cfg_.blocks.size());
  std::vector<uint32_t> todo;
  const auto walk = [&](uint32_t block, uint32_t end) {
    for (uint32_t i = end; i-- > cfg_.blocks[block].first;)
      if (!visit(i)) return;
    started = started || block == 0;
    for (const uint32_t p : cfg_.blocks[block].predecessors)
      if (!seen[p]) seen[p] = true, todo.push_back(p);
  };
  walk(cfg_.block_of[index], index);
  while (!todo.empty()) {
    const uint32_t block = todo.back();
    todo.pop_back();
    walk(block, cfg_.blocks[block].last);
  }
  return started;
}

void Flow::forward(uint32_t index, const Visit& visit) const {
  std::vector<bool> seen(cfg_.blocks.size());
  std::vector<uint32_t> todo;
  const auto walk = [&](uint32_t block, uint32_t begin) {
    for (uint32_t i = begin; i < cfg_.blocks[block].last; ++i)
      if (!visit(i)) return;
    for (const uint32_t s : cfg_.blocks[block].successors)
      if (!seen[s]) seen[s] = true, todo.push_back(s);
  };
  walk(cfg_.block_of[index], index + 1);
  while (!todo.empty()) {
    const uint32_t block = todo.back();
    todo.pop_back();
    walk(block, cfg_.blocks[block].first);
  }
}

}  // namespace palladion::sim::check
