#pragma once
// Dataflow of values that matter only in registers with a later reader: as flow.h, but between blocks the
// values of live registers alone are kept. So a program of very many blocks and registers takes no more than
// it has live values.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/program/liveness.h"
#include "sim/program/registers.h"

namespace palladion::sim {

enum class Direction : uint8_t { forward, backward };

// A state is one T for each register of the function and one more, which is kept everywhere; T{} is where all
// blocks begin.
template <class T>
class LiveFlow {
 public:
  using State = std::vector<T>;

  LiveFlow(const Program& program, uint32_t function, const isa::Cfg& cfg, const Liveness& live, Direction d)
      : program_(program), function_(function), cfg_(cfg), live_(live), forward_(d == Direction::forward) {
    at_.resize(cfg.blocks.size());
    for (uint32_t b = 0; b < at_.size(); ++b) {
      size_t kept = 0;
      for_kept(b, [&](uint32_t) { ++kept; });
      at_[b].resize(kept + 1);
    }
    state_.resize(program.module->functions[function].registers.size() + 1);
  }

  // Until nothing changes. transfer(block, state) takes a state through a block; join(into, from) of one
  // value returns whether `into` changed.
  template <class Join, class Transfer>
  void run(const Join& join, const Transfer& transfer) {
    const auto count = static_cast<uint32_t>(at_.size());
    std::deque<uint32_t> work;
    for (uint32_t b = 0; b < count; ++b) work.push_back(forward_ ? b : count - 1 - b);
    std::vector<bool> queued(count, true);
    while (!work.empty()) {
      const uint32_t b = work.front();
      work.pop_front();
      queued[b] = false;
      const isa::Block& block = cfg_.blocks[b];
      take(b);
      transfer(block, state_);
      for (const uint32_t n : forward_ ? block.successors : block.predecessors) {
        if (!give(n, join) || queued[n]) continue;
        queued[n] = true;
        work.push_back(n);
      }
      clear(b);
    }
  }

  // visit(block, state where it begins, or ends when the flow goes backward): after run(), all blocks.
  template <class Visit>
  void visit(const Visit& visit) {
    for (uint32_t b = 0; b < at_.size(); ++b) {
      take(b);
      visit(cfg_.blocks[b], state_);
      clear(b);
    }
  }

 private:
  template <class Visit>
  void for_kept(uint32_t b, const Visit& visit) const {
    forward_ ? live_.for_each_in(b, visit) : live_.for_each_out(b, visit);
  }

  void take(uint32_t b) {
    size_t k = 0;
    for_kept(b, [&](uint32_t r) { state_[r] = at_[b][k++]; });
    state_.back() = at_[b].back();
  }
  template <class Join>
  bool give(uint32_t b, const Join& join) {
    size_t k = 0;
    bool changed = join(at_[b].back(), state_.back());
    for_kept(b, [&](uint32_t r) { changed |= join(at_[b][k++], state_[r]); });
    return changed;
  }
  void clear(uint32_t b) {
    const uint32_t start = program_.function_start[function_],
                   base = program_.register_offsets_base[function_];
    for_kept(b, [&](uint32_t r) { state_[r] = T{}; });
    for (uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].last; ++i)
      for_each_register(program_, program_.code[start + i],
                        [&](const RegisterUse& use) { state_[use.reg - base] = T{}; });
  }

  const Program& program_;
  const uint32_t function_;
  const isa::Cfg& cfg_;
  const Liveness& live_;
  const bool forward_;
  std::vector<State> at_;  // by block: of the registers that are kept, and the one besides
  State state_;
};

}  // namespace palladion::sim
