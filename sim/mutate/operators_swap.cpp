#include "sim/mutate/operators.h"

namespace palladion::sim::check {
namespace {

enum class SiteKind : uint8_t { none, init, arrival, wait, barrier };

SiteKind kind_of(const Flow& flow, uint32_t at) {
  const isa::Sync& s = flow.footprint(at).sync;
  if (s.object == isa::Sync::Object::cta_barrier) return SiteKind::barrier;
  if (s.object != isa::Sync::Object::mbarrier) return SiteKind::none;
  return s.initialises ? SiteKind::init
         : s.arrives   ? SiteKind::arrival
         : s.waits     ? SiteKind::wait
                       : SiteKind::none;
}

const isa::Operand& barrier_of(const Flow& flow, uint32_t at) {
  return *flow.operand(at, flow.footprint(at).sync.operand);
}

bool same_window(const Flow& flow, uint32_t a, uint32_t b) {
  return flow.footprint(a).sync.space == flow.footprint(b).sync.space;
}

// The next site of the same kind that names another barrier; both names must be known at both sites.
uint32_t next_other_barrier(const Flow& flow, uint32_t at) {
  const SiteKind kind = kind_of(flow, at);
  const isa::Operand& mine = barrier_of(flow, at);
  for (uint32_t i = at + 1; i < flow.size(); ++i) {
    if (kind_of(flow, i) != kind || !same_window(flow, at, i)) continue;
    const isa::Operand& other = barrier_of(flow, i);
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
  const auto barrier = [&](uint32_t index) -> isa::Operand& {
    const isa::Footprint f = isa::footprint(isa::effect(edit.at(index), context));
    return edit.at(index).operands[size_t(f.sync.operand)];
  };
  std::swap(barrier(at), barrier(other));
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
