#include "sim/clock/sm/waits.h"

#include <algorithm>
#include <array>
#include <bit>

namespace palladion::sim::hardware {
namespace {

using Parameter = double isa::ClockParameters::*;

// What a lane group waits for, the stall reason, and the cycles from the event until it goes on: null where
// one cycle is enough, or where the barrier says.
struct Row {
  Wait::Kind kind;
  Stall stall;
  Parameter wake = nullptr;
  Parameter wake_by_copy = nullptr;
};
using Kind = Wait::Kind;
using P = isa::ClockParameters;
constexpr std::array rows{
    Row{Kind::none, Stall::wait},
    Row{Kind::convergence, Stall::convergence},
    Row{Kind::mbarrier, Stall::mbarrier, &P::mbarrier_wake, &P::mbarrier_wake_tx},
    Row{Kind::cta_barrier, Stall::barrier},
    Row{Kind::cluster_barrier, Stall::cluster_barrier},
    Row{Kind::bulk_group, Stall::async_group, &P::async_group_wake, &P::async_group_wake},
    Row{Kind::cp_async_group, Stall::async_group, &P::async_group_wake, &P::async_group_wake},
    Row{Kind::wgmma_group, Stall::gmma},
    Row{Kind::registers, Stall::registers},
    Row{Kind::tensor_memory, Stall::registers},
    Row{Kind::quantum_boundary, Stall::long_scoreboard},
    Row{Kind::poll, Stall::sleeping},
};

const Row& row(Wait::Kind kind) { return *std::ranges::find(rows, kind, &Row::kind); }

}  // namespace

Stall stall_of(Wait::Kind kind) { return row(kind).stall; }

uint64_t Waits::wake(Wait::Kind kind, bool by_copy) const {
  const Row& r = row(kind);
  const Parameter cycles = by_copy ? r.wake_by_copy : r.wake;
  return cycles == nullptr ? 1 : whole_cycles(p_->*cycles);
}

uint64_t Waits::barrier(uint32_t threads) const {
  const uint32_t warps = (threads + 31) / 32;
  return cycle_of(p_->barrier_latency + p_->barrier_per_warp * warps);
}

uint64_t Waits::cluster_barrier(size_t ctas, uint32_t warp) const {
  const int doublings = static_cast<int>(std::bit_width(std::min<size_t>(ctas, 8))) - 1;
  return cycle_of(p_->cluster_barrier_latency + p_->cluster_barrier_per_warp * (warp + 1) +
                  p_->cluster_barrier_per_doubling * std::max(0, doublings - 1));
}

}  // namespace palladion::sim::hardware
