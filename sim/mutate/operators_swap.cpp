#include "sim/mutate/operators.h"

namespace palladion::sim::check {
namespace {

using isa::MbarrierAction;

enum class SiteKind : uint8_t { none, init, arrival, wait, barrier };

SiteKind kind_of(const Flow& flow, uint32_t at) {
  if (flow.as<isa::CtaBarrier>(at) != nullptr) return SiteKind::barrier;
  const auto* m = flow.as<isa::Mbarrier>(at);
  if (m == nullptr) return SiteKind::none;
  switch (m->action) {
    case MbarrierAction::init:
      return SiteKind::init;
    case MbarrierAction::arrive:
      return SiteKind::arrival;
    case MbarrierAction::test_wait:
    case MbarrierAction::try_wait:
      return SiteKind::wait;
    default:
      return SiteKind::none;
  }
}

int barrier_operand(const isa::Effect& effect) {
  if (const auto* b = std::get_if<isa::CtaBarrier>(&effect)) return b->id;
  const auto* m = std::get_if<isa::Mbarrier>(&effect);
  return m == nullptr ? -1 : m->address;
}

bool same_window(const Flow& flow, uint32_t a, uint32_t b) {
  const auto *x = flow.as<isa::Mbarrier>(a), *y = flow.as<isa::Mbarrier>(b);
  return x == nullptr || y == nullptr || x->space == y->space;
}

// The next site of the same kind that names another barrier; both names must be known at both sites.
uint32_t next_other_barrier(const Flow& flow, uint32_t at) {
  const SiteKind kind = kind_of(flow, at);
  const isa::Operand& mine = *flow.operand(at, barrier_operand(flow.effect(at)));
  for (uint32_t i = at + 1; i < flow.size(); ++i) {
    if (kind_of(flow, i) != kind || !same_window(flow, at, i)) continue;
    const isa::Operand& other = *flow.operand(i, barrier_operand(flow.effect(i)));
    if (other != mine && flow.available(other, at) && flow.available(mine, i)) return i;
  }
  return isa::no_id;
}

bool is_mbarrier_site(const Flow& flow, uint32_t at) {
  const SiteKind kind = kind_of(flow, at);
  return kind != SiteKind::none && kind != SiteKind::barrier;
}

bool is_barrier(const Flow& flow, uint32_t at) { return kind_of(flow, at) == SiteKind::barrier; }

std::optional<Edited> swap(Edit& edit, uint32_t at, uint32_t other) {
  const isa::DecodeContext context{edit.module(), edit.function(), edit.arch()};
  const int mine = barrier_operand(isa::effect(edit.at(at), context));
  const int its = barrier_operand(isa::effect(edit.at(other), context));
  std::swap(edit.at(at).operands[size_t(mine)], edit.at(other).operands[size_t(its)]);
  return Edited{at};
}

}  // namespace

std::vector<OperatorRow> swap_rows() {
  using M = Mutation;
  return {
      {{M::swap_mbarriers, "swap mbarriers", "two inits, arrivals or waits exchange their mbarriers"},
       is_mbarrier_site,
       swap,
       next_other_barrier},
      {{M::swap_barrier_ids, "swap bar ids", "two barriers exchange their ids"},
       is_barrier,
       swap,
       next_other_barrier},
  };
}

}  // namespace palladion::sim::check
