#include "sim/clock/grid/grid.h"

#include <algorithm>

#include "sim/clock/group/group.h"
#include "sim/clock/memory/sites.h"
#include "sim/clock/report/grid_report.h"
#include "sim/schedule/deadlock_spin.h"

namespace palladion::sim::hardware {
namespace {

// Instructions without a change of any barrier or memory before a run is looked at for endless spins.
constexpr uint64_t quiet_instructions = 1 << 20;
// Waits that time out in a row, before it is a deadlock even if the program counts them.
constexpr uint64_t most_timeouts = 1 << 10;

// What does not change during a run: clones share it.
struct Setup {
  Setup(const RunOptions& options, const isa::ArchSpec& arch, const isa::ClockParameters& parameters,
        const sass::Lowered& lowered, const GridShape& grid)
      : p(parameters.at_sm_clock()), shape(grid), l2(options.l2), chip(sites(arch)), costs(lowered, p) {}

  const isa::ClockParameters p;
  const GridShape shape;
  const L2Start l2;
  const std::vector<Site> chip;
  const InstructionCosts costs;
};

class ClockedGroups final : public Advance {
 public:
  ClockedGroups(const RunContext& context, const RunOptions& options, const isa::ArchSpec& arch,
                const isa::ClockParameters& parameters, const sass::Lowered& lowered, const GridShape& shape);

  void admit(Grid& grid) override;
  void run(Grid& grid) override;
  void retire(Grid& grid) override;
  bool stuck(Grid& grid) override;
  void finish(Grid& grid) override;
  std::unique_ptr<Advance> clone() const override { return std::make_unique<ClockedGroups>(*this); }
  void restored(Grid&) override {
    for (SmGroup& g : groups_) g.rebind();
  }

 private:
  void share_networks(const isa::ArchSpec& arch);
  void place(Grid& grid, SmGroup& group, Cycle time);
  Cycles for_cluster() const { return setup_->shape.ctas_per_cluster > 1 ? p_.launch_cluster : 0; }
  Cycle earliest() const;
  void boundary(Grid& grid, Cycle end);
  template <class Left>
  std::vector<std::pair<Left, SmGroup*>> gather(std::vector<Left> SmGroup::* left, Cycle end = never);
  bool time_out(Grid& grid, bool again);
  bool gives_up(Grid& grid);

  std::shared_ptr<const Setup> setup_;
  const isa::ClockParameters& p_;  // of the setup
  MemoryClock memory_;
  std::vector<SmGroup> groups_;
  std::vector<std::vector<LineTime>> lines_;  // by host thread, by pc
  SpinDetector spins_;
  StateHash hash_;
  Course course_;
  Cycle last_;              // cycle in which the latest quantum began
  bool idle_ = false;       // no group has an event left
  uint64_t fruitless_ = 0;  // times in a row that all waits timed out and nothing changed
  uint64_t quiet_since_ = 0, last_progress_ = ~0ULL;
  Cycles next_start_ = 0;
};

ClockedGroups::ClockedGroups(const RunContext& context, const RunOptions& options, const isa::ArchSpec& arch,
                             const isa::ClockParameters& parameters, const sass::Lowered& lowered,
                             const GridShape& shape)
    : setup_(std::make_shared<Setup>(options, arch, parameters, lowered, shape)),
      p_(setup_->p),
      memory_(p_, arch),
      hash_(context.program) {
  const uint64_t shared = uint64_t{shape.shared_bytes} * shape.ctas_per_sm;
  const auto l1 = static_cast<uint64_t>(parameters.l1_bytes);
  const std::vector<SmPlacement> placements = placements_of(
      arch, setup_->chip, shape.clusters, shape.ctas_per_cluster, parameters.launch_cluster_sms);
  groups_.reserve(placements.size());
  for (const SmPlacement& placement : placements)
    groups_.emplace_back(context, setup_->costs, p_, placement.first, shape.ctas_per_cluster,
                         shared + 8192 < l1 ? l1 - shared : 8192);
  course_.gpc_ends.assign(setup_->chip.back().gpc + 1, Cycle());
  course_.ctas_an_sm = static_cast<double>(shape.clusters * shape.ctas_per_cluster) / arch.sm_count;
  share_networks(arch);
  if (options.l2 == L2Start::warm) memory_.warm_up(context.memory, shape.written);
}

void ClockedGroups::place(Grid& grid, SmGroup& group, Cycle time) {
  ClusterState& c = grid.admit();
  for (const Sm& sm : group.sms()) c.sms.push_back(setup_->chip[sm.id].number);
  // The distributor hands out one CTA after the other.
  time = std::max(time, cycle_of(next_start_));
  next_start_ =
      std::max(next_start_, time_of(time)) + p_.launch_cta_interval * setup_->shape.ctas_per_cluster;
  c.now = time;
  start_cluster(grid.context(), c);
  group.start(c, time);
  course_.first_start = std::min(course_.first_start, time);
}

// Three TPCs of a GPC share their way to the clusters' network: its SMs get in each other's way when clusters
// work on all three; a CPC with fewer has none of that.
void ClockedGroups::share_networks(const isa::ArchSpec& arch) {
  const GridShape& shape = setup_->shape;
  const std::vector<Site>& chip = setup_->chip;
  const auto clusters = std::min<uint64_t>(shape.clusters, groups_.size());
  if (shape.ctas_per_cluster < 2 || !fill_cpcs(arch, chip, clusters, shape.ctas_per_cluster)) return;
  for (SmGroup& g : groups_)
    if (chip[g.sms().front().id].whole_cpc) g.share_network();
}

// The first wave: CTAs go to all SMs before an SM gets its second one. Later clusters follow those that
// leave.
void ClockedGroups::admit(Grid& grid) {
  if (grid.state.started != 0) return;
  const Cycle time = cycle_of(for_cluster() + (setup_->l2 == L2Start::cold ? p_.launch_cold : 0));
  for (uint32_t level = 0; level < setup_->shape.ctas_per_sm; ++level)
    for (size_t g = 0; g < groups_.size() && grid.more_clusters(); ++g) place(grid, groups_[g], time);
}

Cycle ClockedGroups::earliest() const {
  Cycle time = never;
  for (const SmGroup& g : groups_) time = std::min(time, g.next_event());
  return time;
}

// What the groups have left for the boundary, up to `end`, in the order of its time over all of them.
template <class Left>
std::vector<std::pair<Left, SmGroup*>> ClockedGroups::gather(std::vector<Left> SmGroup::* left, Cycle end) {
  std::vector<std::pair<Left, SmGroup*>> all;
  for (SmGroup& g : groups_) {
    for (const Left& l : g.*left)
      if (l.time < end) all.emplace_back(l, &g);
    std::erase_if(g.*left, [end](const Left& l) { return l.time < end; });
  }
  std::ranges::stable_sort(all, {}, [](const auto& e) { return e.first.time; });
  return all;
}

void ClockedGroups::boundary(Grid& grid, Cycle end) {
  grid.perform_stores();
  grid.notify_boundary();
  for (const auto& [access, group] : gather(&SmGroup::accesses, end)) group->perform(access);
  for (const auto& [landing, group] : gather(&SmGroup::landings)) group->land(landing);
  std::vector<Batch*> batches;
  for (SmGroup& g : groups_)
    if (!g.batch().requests.empty()) batches.push_back(&g.batch());
  memory_.serve(batches);
  for (SmGroup& g : groups_) g.answer();
}

void ClockedGroups::run(Grid& grid) {
  const Cycle begin = earliest();
  idle_ = begin == never;
  if (idle_) return;
  // No answer of L2 comes back sooner: what SMs ask within a quantum is answered at its end.
  const Cycle quantum = cycle_of(
      std::max(32.0, std::min(p_.l2_latency - p_.l2_spread - p_.l2_slice_spread, p_.l2_atomic_latency)));
  // Warps that had an access performed at the boundary are behind the others: these wait for them.
  const Cycle end(begin + quantum);
  last_ = std::max(last_, begin);
  if (lines_.empty())
    lines_.assign(grid.workers().workers(), std::vector<LineTime>(grid.context().program.code.size()));
  std::vector<SmGroup*> active;
  for (SmGroup& g : groups_)
    if (g.next_event() < end) active.push_back(&g);
  grid.workers().for_each(active.size(),
                          [&](size_t i, unsigned worker) { active[i]->run_until(end, lines_[worker]); });
  boundary(grid, end);
}

// Clusters that have ended make room for the next, in the order of their ends.
void ClockedGroups::retire(Grid& grid) {
  for (const auto& [end, group] : gather(&SmGroup::finished)) {
    course_.last_end = std::max(course_.last_end, end.time);
    Cycle& gpc_end = course_.gpc_ends[setup_->chip[group->sms().front().id].gpc];
    gpc_end = std::max(gpc_end, end.time);
    ClusterState& cluster = group->cluster(end.cluster);
    if (cluster.finished()) grid.context().run_of(cluster).emit(ClusterEnded{});
    group->remove(cluster);
    grid.leave(cluster);
    if (grid.more_clusters() && !grid.state.faulted)
      place(grid, *group,
            end.time + whole_cycles(p_.launch_cta_replace +
                                    p_.launch_warp * grid.context().launch.warps_per_cta() + for_cluster()));
  }
}

bool ClockedGroups::time_out(Grid& grid, bool again) {
  bool any = false;
  for (SmGroup& g : groups_)
    for (ClusterState* c : grid.resident())
      if (c->sms.front() == setup_->chip[g.sms().front().id].number)
        any |= g.time_out(*c, last_ + whole_cycles(p_.mbarrier_timeout), again);
  return any;
}

// Nothing has an event left: waits time out, again and again while that leads to states that were not there
// before. When all warps come back to where they were, or nothing has come of it for long, it is a deadlock.
bool ClockedGroups::gives_up(Grid& grid) {
  if (time_out(grid, false)) {
    fruitless_ = 0;
    return false;
  }
  return ++fruitless_ >= most_timeouts || spins_.all_spin(grid.resident(), hash_) || !time_out(grid, true);
}

bool ClockedGroups::stuck(Grid& grid) {
  if (idle_) return gives_up(grid);
  const uint64_t done = grid.instructions(), changes = grid.progress();
  if (changes != last_progress_) {
    last_progress_ = changes;
    quiet_since_ = done;
    spins_.reset();
    return false;
  }
  if (done - quiet_since_ <= quiet_instructions) return false;
  quiet_since_ = done;
  return spins_.all_spin(grid.resident(), hash_);
}

void ClockedGroups::finish(Grid& grid) {
  for (const SmGroup& g : groups_) course_.last_end = std::max(course_.last_end, g.drained());
  grid.state.result.clock = report_of(*grid.context().program.arch, p_, course_, groups_, memory_);
  grid.state.result.clock.lines = lines_of(lines_);
}

}  // namespace

std::unique_ptr<Advance> clocked_groups(const RunContext& context, const RunOptions& options,
                                        const isa::ArchSpec& arch, const isa::ClockParameters& parameters,
                                        const sass::Lowered& lowered, const GridShape& shape) {
  return std::make_unique<ClockedGroups>(context, options, arch, parameters, lowered, shape);
}

}  // namespace palladion::sim::hardware
