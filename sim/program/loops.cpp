#include "sim/program/loops.h"

#include <algorithm>
#include <utility>

namespace palladion::sim {
namespace {

std::vector<uint32_t> reverse_postorder(const isa::Cfg& cfg) {
  std::vector<uint32_t> out;
  std::vector<bool> seen(cfg.blocks.size(), false);
  std::vector<std::pair<uint32_t, size_t>> stack{{0, 0}};
  seen[0] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    const auto& successors = cfg.blocks[block].successors;
    if (next == successors.size()) {
      out.push_back(block);
      stack.pop_back();
      continue;
    }
    const uint32_t s = successors[next++];
    if (seen[s]) continue;
    seen[s] = true;
    stack.emplace_back(s, 0);
  }
  std::ranges::reverse(out);
  return out;
}

}  // namespace

Loops::Loops(const isa::Cfg& cfg)
    : cfg_(cfg), dominator_(cfg.blocks.size(), isa::no_id), order_(cfg.blocks.size(), isa::no_id) {
  if (cfg.blocks.empty()) return;
  find_dominators();
  find_loops();
}

// Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
void Loops::find_dominators() {
  const std::vector<uint32_t> blocks = reverse_postorder(cfg_);
  for (uint32_t k = 0; k < blocks.size(); ++k) order_[blocks[k]] = k;
  dominator_[0] = 0;
  const auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) (order_[a] > order_[b] ? a : b) = dominator_[order_[a] > order_[b] ? a : b];
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const uint32_t b : blocks) {
      if (b == 0) continue;
      uint32_t by = isa::no_id;
      for (const uint32_t p : cfg_.blocks[b].predecessors)
        if (dominator_[p] != isa::no_id) by = by == isa::no_id ? p : meet(by, p);
      changed |= std::exchange(dominator_[b], by) != by;
    }
  }
}

// A loop of each edge that leads back to a block which dominates its source.
void Loops::find_loops() {
  for (uint32_t tail = 0; tail < cfg_.blocks.size(); ++tail) {
    for (const uint32_t head : cfg_.blocks[tail].successors) {
      if (!dominates(head, tail)) continue;
      std::vector<bool> in(cfg_.blocks.size(), false);
      in[head] = true;
      std::vector<uint32_t> work{tail};
      while (!work.empty()) {
        const uint32_t b = work.back();
        work.pop_back();
        if (in[b] || dominator_[b] == isa::no_id) continue;
        in[b] = true;
        for (const uint32_t p : cfg_.blocks[b].predecessors) work.push_back(p);
      }
      loops_.push_back({head, std::move(in)});
    }
  }
}

bool Loops::dominates(uint32_t by, uint32_t b) const {
  if (dominator_[by] == isa::no_id || dominator_[b] == isa::no_id) return false;
  while (order_[b] > order_[by]) b = dominator_[b];
  return b == by;
}

bool Loops::stays(uint32_t a, uint32_t b) const {
  return std::ranges::none_of(loops_, [&](const Loop& l) { return l.blocks[a] && !l.blocks[b]; });
}

bool Loops::keeps(uint32_t a, uint32_t b, uint32_t c) const {
  return std::ranges::none_of(loops_,
                              [&](const Loop& l) { return l.blocks[a] && l.blocks[b] && !l.blocks[c]; });
}

bool Loops::share(uint32_t a, uint32_t b, const std::vector<bool>& but) const {
  return std::ranges::any_of(loops_,
                             [&](const Loop& l) { return !but[l.head] && l.blocks[a] && l.blocks[b]; });
}

}  // namespace palladion::sim
