#pragma once
// Dataflow over a function's control-flow graph, until nothing changes. A state is one byte a register.
#include <cstdint>
#include <deque>
#include <vector>

#include "isa/cfg.h"

namespace palladion::sim::check {

using FlowState = std::vector<uint8_t>;

// What is true at the beginning of each block. `reached` (the entry's, given) flows along the edges;
// blocks start from `nothing`; join(into, from) returns whether `into` changed.
template <class Join, class Transfer>
std::vector<FlowState> flow_forward(const isa::Cfg& cfg, const FlowState& entry, const FlowState& nothing,
                                    Join&& join, Transfer&& transfer) {
  std::vector<FlowState> at(cfg.blocks.size(), nothing);
  if (at.empty()) return at;
  std::deque<uint32_t> work;
  std::vector<bool> queued(at.size(), true);
  for (uint32_t b = 0; b < at.size(); ++b) work.push_back(b);
  at[0] = entry;
  while (!work.empty()) {
    const uint32_t b = work.front();
    work.pop_front();
    queued[b] = false;
    FlowState state = at[b];
    transfer(cfg.blocks[b], state);
    for (const uint32_t s : cfg.blocks[b].successors) {
      if (!join(at[s], state) || queued[s]) continue;
      queued[s] = true;
      work.push_back(s);
    }
  }
  return at;
}

// What is true at the end of each block, flowing against the edges; `exit` holds where the function is left.
template <class Join, class Transfer>
std::vector<FlowState> flow_backward(const isa::Cfg& cfg, const FlowState& exit, const FlowState& nothing,
                                     Join&& join, Transfer&& transfer) {
  std::vector<FlowState> at(cfg.blocks.size(), nothing);
  std::deque<uint32_t> work;
  std::vector<bool> queued(at.size(), true);
  for (auto b = static_cast<uint32_t>(at.size()); b-- > 0;) {
    work.push_back(b);
    if (cfg.blocks[b].successors.empty()) at[b] = exit;
  }
  while (!work.empty()) {
    const uint32_t b = work.front();
    work.pop_front();
    queued[b] = false;
    FlowState state = at[b];
    transfer(cfg.blocks[b], state);
    for (const uint32_t p : cfg.blocks[b].predecessors) {
      if (!join(at[p], state) || queued[p]) continue;
      queued[p] = true;
      work.push_back(p);
    }
  }
  return at;
}

}  // namespace palladion::sim::check
