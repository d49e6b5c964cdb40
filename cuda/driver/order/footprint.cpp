#include "cuda/driver/order/footprint.h"

#include <bit>
#include <map>
#include <set>
#include <utility>

#include "isa/core/effects.h"
#include "sim/launch/launch.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/state/cluster.h"
#include "sim/program/program.h"

namespace palladion::cuda::driver {
namespace {

constexpr size_t most_ranges = 1 << 20;  // of a cluster

const isa::GridDependency* control_of(const sim::Program& program, sim::Pc pc) {
  const isa::Effect* const effect = program.code[pc].effect;
  return effect != nullptr ? std::get_if<isa::GridDependency>(effect) : nullptr;
}

// Atomic for the threads of other grids.
bool is_strong(const sim::Access& a) {
  return a.order != isa::Order::weak && (a.scope == isa::Scope::gpu || a.scope == isa::Scope::sys);
}

}  // namespace

class Footprint::Part {
 public:
  explicit Part(bool programmatic) : programmatic_(programmatic) {}

  void on(const sim::Access& a) {
    // Constant memory lies in global memory, where the host writes it.
    const isa::Space space = a.space == isa::Space::const_ ? isa::Space::global : a.space;
    if (space != isa::Space::global && space != isa::Space::generic) return;
    order::Touched& t = touched_by(a.origin);
    const bool strong = is_strong(a), reads = a.kind != sim::Access::Kind::write,
               writes = a.kind != sim::Access::Kind::read;
    for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
      const uint64_t at = a.addresses[std::countr_zero(m)];
      if (sim::space_of(space, at) != isa::Space::global) continue;
      if (reads) (strong ? t.strong_read : t.read).add(at, at + a.size);
      if (writes) (strong ? t.strong_written : t.written).add(at, at + a.size);
      if (!strong) continue;
      if (writes && (fenced_ || releases(a.order))) t.released.add(at, at + a.size);
      if (reads && acquires(a.order)) t.acquired.add(at, at + a.size);
      if (reads) unfenced_.add(at, at + a.size);
    }
    bound(t);
  }
  void on(const sim::AsyncIssue& a) {
    order::Touched& t = touched_by(a.origin);
    for (const sim::Piece& p : a.reads)
      if (p.space == isa::Space::global) t.read.add(p.address, p.address + p.bytes);
    for (const sim::Piece& p : a.writes)
      if (p.space == isa::Space::global)
        (a.reduces ? t.strong_written : t.written).add(p.address, p.address + p.bytes);
    bound(t);
  }
  void on(const sim::Fenced& f) {
    const auto* const fence = std::get_if<isa::Fence>(f.origin.effect);
    if (fence == nullptr || fence->proxy || fence->scope < isa::Scope::gpu) return;
    fenced_ = true;
    touched_by(f.origin).acquired.add(unfenced_);
    unfenced_.clear();
  }
  void on(const sim::Executed& e) {
    const auto* const control = std::get_if<isa::GridDependency>(e.origin.effect);
    if (control == nullptr) return;
    if (control->wait) {
      waits = true;
      waited_[key(e.origin)] |= e.origin.lanes;
    } else {
      triggers = true;
      triggers_early |= (e.origin.lanes & ~waited_[key(e.origin)]) != 0;
    }
  }
  // Lanes that synchronise with one that has waited.
  void on(const sim::WarpSynced& w) {
    if (!waits) return;
    uint32_t& lanes = waited_[key(w.origin)];
    if ((lanes & w.origin.lanes) != 0) lanes |= w.origin.lanes;
  }
  void on(const sim::CtaBarrierEvent& b) {
    meet({0, b.origin.cta_rank, b.id}, b.origin, b.origin.lanes,
         b.step == sim::CtaBarrierEvent::Step::arrive);
  }
  void on(const sim::ClusterBarrierEvent& b) {
    meet({1, 0, 0}, b.origin, b.origin.lanes, b.step == sim::ClusterBarrierEvent::Step::arrive);
  }
  void on(const sim::MbarrierEvent& b) {
    const bool arrives =
        b.action != isa::MbarrierAction::test_wait && b.action != isa::MbarrierAction::try_wait;
    if (arrives || b.succeeded) meet({2, 0, b.address}, b.origin, b.lanes, arrives);
  }

  order::Touched waited, early;
  bool waits = false, triggers = false, triggers_early = false;

 private:
  using Warp = std::pair<uint16_t, uint16_t>;
  struct Barrier {
    int kind = 0;
    uint16_t rank = 0;
    uint32_t address = 0;
    friend auto operator<=>(const Barrier&, const Barrier&) = default;
  };

  static Warp key(const sim::Origin& o) { return {o.cta_rank, o.warp}; }
  static bool releases(isa::Order o) {
    return o == isa::Order::release || o == isa::Order::acq_rel || o == isa::Order::sc;
  }
  static bool acquires(isa::Order o) {
    return o == isa::Order::acquire || o == isa::Order::acq_rel || o == isa::Order::sc;
  }
  order::Touched& touched_by(const sim::Origin& o) {
    if (!programmatic_ || !waits) return programmatic_ ? early : waited;
    const auto at = waited_.find(key(o));
    return at != waited_.end() && (o.lanes & ~at->second) == 0 ? waited : early;
  }
  void meet(const Barrier& barrier, const sim::Origin& o, uint32_t lanes, bool arrives) {
    if (!waits) return;
    if (!arrives && met_.contains(barrier)) waited_[key(o)] |= lanes;
    if (arrives && (waited_[key(o)] & lanes) != 0) met_.insert(barrier);
  }
  // What is beyond the limit is not kept.
  static void bound(order::Touched& t) {
    for (order::Ranges* r : {&t.read, &t.written, &t.strong_read, &t.strong_written})
      if (r->size() > most_ranges) {
        r->clear();
        t.incomplete = true;
      }
  }

  bool programmatic_;
  bool fenced_ = false;
  order::Ranges unfenced_;  // strong reads that no fence follows yet
  std::map<Warp, uint32_t> waited_;
  std::set<Barrier> met_;  // at which a thread that had waited has arrived
};

Footprint::Footprint() = default;
Footprint::~Footprint() = default;

void Footprint::start(const sim::RunView& run) {
  program_ = run.program;
  has_control_ = false;
  for (sim::Pc pc{0}; pc < program_->code.size(); ++pc) has_control_ |= control_of(*program_, pc) != nullptr;
  const sim::LaunchState& launch = *run.launch;
  parts_.clear();
  parts_.resize(launch.grid.count() / launch.cluster.count());
}

void Footprint::observe(sim::ClusterState& cluster, sim::ClusterEvents& events) {
  parts_[cluster.index] = std::make_unique<Part>(has_control_);
  events.add(*parts_[cluster.index]);
}

bool Footprint::watches(sim::Pc pc) const { return has_control_ && control_of(*program_, pc) != nullptr; }

void Footprint::retire(sim::ClusterState& cluster) {
  const std::unique_ptr<Part> part = std::move(parts_[cluster.index]);
  if (!part) return;
  waited.add(part->waited);
  early.add(part->early);
  waits |= part->waits;
  triggers |= part->triggers;
  triggers_early |= part->triggers_early;
}

}  // namespace palladion::cuda::driver
