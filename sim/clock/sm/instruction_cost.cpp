#include "sim/clock/sm/instruction_cost.h"

#include <algorithm>
#include <array>

namespace palladion::sim::hardware {
namespace {

using isa::Unit;
using sass::whole;

// The resource that a unit's pipe is; units without a row occupy the issue slot alone.
struct PipeRow {
  Unit unit;
  Resource resource;
};
constexpr std::array pipes{
    PipeRow{Unit::alu, Resource::alu},       PipeRow{Unit::fma, Resource::fma},
    PipeRow{Unit::fp64, Resource::fp64},     PipeRow{Unit::sfu, Resource::sfu},
    PipeRow{Unit::lsu, Resource::smem},      PipeRow{Unit::tma, Resource::tma},
    PipeRow{Unit::tensor, Resource::tensor},
};

Resource resource_of(Unit pipe) {
  const auto* const row = std::ranges::find(pipes, pipe, &PipeRow::unit);
  return row == pipes.end() ? Resource::issue : row->resource;
}

// What a warp waits for that needs a result that came this way; without a row, by the unit.
struct ResultRow {
  Path path;
  Stall stall;
};
constexpr std::array results{
    ResultRow{Path::global_load, Stall::long_scoreboard},
    ResultRow{Path::global_atomic, Stall::long_scoreboard},
    ResultRow{Path::cluster_load, Stall::long_scoreboard},
    ResultRow{Path::shared_load, Stall::short_scoreboard},
};

Stall result_of(Path path, Unit unit) {
  const auto* const row = std::ranges::find(results, path, &ResultRow::path);
  if (row != results.end()) return row->stall;
  return unit == Unit::sfu || unit == Unit::lsu ? Stall::short_scoreboard : Stall::wait;
}

// A warp issues its next wgmma the later the more columns this one has; other instructions follow sooner.
void price_wgmma(InstructionCost& c) {
  c.interval = std::max(4.0, c.columns / 8.0 - 4);
  c.held = std::max(1.0, c.interval - 14);
}

// A vote or a reduction of the lanes' values, and the steps around it.
class GatherCosts {
 public:
  explicit GatherCosts(const isa::ClockParameters& p)
      : alu_(latency(p, "alu")),
        step_(latency(p, "shfl") + alu_),
        reduce_(latency(p, "redux")),
        count_(latency(p, "vote") + latency(p, "popc")) {}

  void price(InstructionCost& c) const {
    using sass::Gather;
    if (c.gather == Gather::none) return;
    const uint32_t sum = c.gather == Gather::count ? count_ : c.gather == Gather::scan ? 5 * step_ : reduce_;
    c.gathering = c.gather == Gather::again ? 0 : 3 * alu_ + sum;
    c.scattering = c.scatters ? step_ : 0;
  }

 private:
  static uint32_t latency(const isa::ClockParameters& p, std::string_view key) {
    return whole(p.cost(key).latency);
  }
  uint32_t alu_, step_, reduce_, count_;
};

InstructionCost cost_of(const sass::LoweredInstruction& lowered, const isa::ClockParameters& p) {
  InstructionCost c{lowered};
  const isa::OpCost row = c.row == sass::no_row ? isa::OpCost{.latency = 0} : p.ops[c.row];
  c.occupies = resource_of(c.pipe);
  c.result = result_of(c.path, c.unit);
  c.interval = std::max(1.0, row.interval * c.halves * c.registers);
  c.held = std::max<double>({1.0, row.held, static_cast<double>(c.slots)});
  c.latency = whole(row.latency);
  if (c.row == isa::op_key("atom_shared_cas")) c.port = 2;
  if (c.releases) c.release = whole(p.cost("fence_gpu").latency);
  if (c.columns != 0) price_wgmma(c);
  return c;
}

}  // namespace

InstructionCosts::InstructionCosts(const sass::Lowered& lowered, const isa::ClockParameters& parameters)
    : lowered_(lowered),
      fence_interval_(parameters.cost("fence_gpu").interval),
      hand_over_(whole_cycles(parameters.issue_other_pipe)),
      branch_predicate_(whole_cycles(parameters.issue_branch_predicate)) {
  const GatherCosts gathers(parameters);
  costs_.reserve(lowered.code.size());
  for (const sass::LoweredInstruction& l : lowered.code) {
    costs_.push_back(cost_of(l, parameters));
    gathers.price(costs_.back());
  }
}

}  // namespace palladion::sim::hardware
