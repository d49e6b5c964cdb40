#pragma once
// Dataflow over a function's control-flow graph, until nothing changes. A state is one value a register.
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "isa/core/cfg.h"

namespace palladion::sim {

using FlowState = std::vector<uint8_t>;

namespace detail {
// `at` holds the state at the entry of each block; `next(block)` are those that its end flows into.
template <class State, class Next, class Join, class Transfer>
void flow(const isa::Cfg& cfg, std::vector<State>& at, std::deque<uint32_t> work, Next&& next, Join&& join,
          Transfer&& transfer) {
  std::vector<bool> queued(at.size(), true);
  while (!work.empty()) {
    const uint32_t b = work.front();
    work.pop_front();
    queued[b] = false;
    State state = at[b];
    transfer(cfg.blocks[b], state);
    for (const uint32_t n : next(cfg.blocks[b])) {
      if (!join(at[n], state) || queued[n]) continue;
      queued[n] = true;
      work.push_back(n);
    }
  }
}
}  // namespace detail

// The state at the beginning of each block. `reached` (the entry's, given) flows along the edges;
// blocks start from `nothing`; join(into, from) returns whether `into` changed.
template <class State, class Join, class Transfer>
std::vector<State> flow_forward(const isa::Cfg& cfg, const State& entry, const State& nothing, Join&& join,
                                Transfer&& transfer) {
  std::vector<State> at(cfg.blocks.size(), nothing);
  if (at.empty()) return at;
  at[0] = entry;
  std::deque<uint32_t> work;
  for (uint32_t b = 0; b < at.size(); ++b) work.push_back(b);
  detail::flow(
      cfg, at, std::move(work), [](const auto& block) -> const auto& { return block.successors; }, join,
      transfer);
  return at;
}

// The state at the end of each block, flowing against the edges; `exit` holds where the function is left.
template <class State, class Join, class Transfer>
std::vector<State> flow_backward(const isa::Cfg& cfg, const State& exit, const State& nothing, Join&& join,
                                 Transfer&& transfer) {
  std::vector<State> at(cfg.blocks.size(), nothing);
  std::deque<uint32_t> work;
  for (auto b = static_cast<uint32_t>(at.size()); b-- > 0;) {
    work.push_back(b);
    if (cfg.blocks[b].successors.empty()) at[b] = exit;
  }
  detail::flow(
      cfg, at, std::move(work), [](const auto& block) -> const auto& { return block.predecessors; }, join,
      transfer);
  return at;
}

// Joins "may be": one where either is not 0. Of two causes the first one is kept.
inline constexpr auto join_any = [](auto& into, const auto& from) {
  bool changed = false;
  for (size_t i = 0; i < into.size(); ++i) {
    if (from[i] == 0 || into[i] != 0) continue;
    into[i] = from[i];
    changed = true;
  }
  return changed;
};

}  // namespace palladion::sim
