#include "sim/program/products.h"

#include <algorithm>
#include <variant>

namespace palladion::sim {
namespace {

bool merge_commits(std::vector<uint8_t>& into, const std::vector<uint8_t>& from) {
  if (into.empty()) {
    into = from;
    return true;
  }
  bool changed = false;
  for (size_t k = 0; k < into.size(); ++k) {
    changed |= from[k] < into[k];
    into[k] = std::min(into[k], from[k]);
  }
  return changed;
}

}  // namespace

ProductFlow::ProductFlow(const Program& program, uint32_t function) : p_(program), function_(function) {
  const isa::Function& f = program.module->functions[function];
  for (uint32_t i = 0; i < f.body.size(); ++i) {
    if (wgmma(i) == nullptr) continue;
    number_[i] = static_cast<uint32_t>(products_.size());
    products_.push_back(i);
  }
  if (products_.empty()) return;
  cfg_ = isa::build_cfg(f);
  flow();
}

const isa::Wgmma* ProductFlow::wgmma(uint32_t instruction) const {
  const isa::Effect* const e = op(instruction).effect;
  return e == nullptr ? nullptr : std::get_if<isa::Wgmma>(e);
}

void ProductFlow::flow() {
  at_start_.resize(cfg_.blocks.size());
  at_start_[0] = State(products_.size(), landed);
  std::vector<uint32_t> work{0};
  while (!work.empty()) {
    const uint32_t b = work.back();
    work.pop_back();
    State s = at_start_[b];
    for (uint32_t i = cfg_.blocks[b].first; i < cfg_.blocks[b].last; ++i) step(s, i);
    for (const uint32_t next : cfg_.blocks[b].successors)
      if (merge_commits(at_start_[next], s)) work.push_back(next);
  }
}

void ProductFlow::step(State& s, uint32_t i) const {
  const isa::Effect* const e = op(i).effect;
  if (e == nullptr) return;
  if (std::holds_alternative<isa::Wgmma>(*e)) {
    s[number_.at(i)] = 0;
  } else if (std::holds_alternative<isa::WgmmaCommit>(*e)) {
    for (uint8_t& commits : s)
      if (commits < most_commits) ++commits;
  } else if (const auto* wait = std::get_if<isa::WgmmaWait>(e)) {
    for (uint8_t& commits : s)
      if (commits > wait->n) commits = landed;
  }
}

}  // namespace palladion::sim
