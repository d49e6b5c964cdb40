#include "sim/clock/grid/grid.h"

#include <algorithm>
#include <thread>

#include "sim/clock/memory/sites.h"
#include "sim/clock/report/grid_report.h"
#include "sim/clock/sm/group.h"
#include "sim/schedule/deadlock_spin.h"
#include "sim/schedule/results.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::sim::hardware {
namespace {

// Instructions without a change of any barrier or memory before a run is looked at for endless spins.
constexpr uint64_t quiet_instructions = 1 << 20;
// Waits that time out in a row, before it is a deadlock even if the program counts them.
constexpr uint64_t patience = 1 << 10;

class Grid {
 public:
  Grid(const RunContext& context, const RunOptions& options, const isa::ArchSpec& arch,
       const isa::ClockParameters& parameters, const GridShape& shape, RunResult& result);
  void run();

 private:
  void crowd();
  void place(SmGroup& group, uint64_t time);
  void first_wave();
  double for_cluster() const { return shape_.ctas_per_cluster > 1 ? p_.launch_cluster : 0; }
  uint64_t earliest() const;
  void edge(uint64_t end);
  template <class Left>
  std::vector<std::pair<Left, SmGroup*>> gather(std::vector<Left> SmGroup::* left, uint64_t end = never);
  void retire();
  void collect(ClusterState& c);
  bool time_out(uint64_t time, bool again);
  bool stuck(uint64_t time);
  bool over_budget();
  void deadlock();
  uint64_t instructions() const;
  uint64_t progress() const;
  void report();

  const RunContext& context_;
  const RunOptions& options_;
  const isa::ClockParameters p_;
  const GridShape& shape_;
  const std::vector<Site> sites_;
  RunResult& result_;
  Prices prices_;
  MemoryClock memory_;
  std::vector<std::unique_ptr<SmGroup>> groups_;
  std::vector<std::unique_ptr<ClusterState>> resident_;
  std::vector<std::vector<LineTime>> lines_;  // by host thread, by pc
  SpinDetector spins_;
  Course course_;
  uint64_t next_ = 0, finished_ = 0, progress_done_ = 0;
  uint64_t fruitless_ = 0;  // times in a row that all waits timed out and nothing changed
  uint64_t quiet_since_ = 0, last_progress_ = ~0ULL;
  double next_start_ = 0;
  bool faulted_ = false;
};

Grid::Grid(const RunContext& context, const RunOptions& options, const isa::ArchSpec& arch,
           const isa::ClockParameters& parameters, const GridShape& shape, RunResult& result)
    : context_(context),
      options_(options),
      p_(parameters.at_sm_clock()),
      shape_(shape),
      sites_(sites(arch)),
      result_(result),
      prices_(context.program, p_),
      memory_(p_, arch),
      spins_(context.program) {
  const uint64_t shared = uint64_t{shape.shared_bytes} * shape.ctas_per_sm;
  const auto l1 = static_cast<uint64_t>(parameters.l1_bytes);
  for (const Seat& seat :
       seats_of(sites_, shape.clusters, shape.ctas_per_cluster, parameters.launch_cluster_sms)) {
    groups_.push_back(std::make_unique<SmGroup>(context, prices_, p_, seat.first, shape.ctas_per_cluster,
                                                shared + 8192 < l1 ? l1 - shared : 8192));
  }
  course_.gpc_ends.assign(sites_.back().gpc + 1, 0);
  course_.ctas_an_sm = static_cast<double>(shape.clusters * shape.ctas_per_cluster) / context.launch.sm_count;
  crowd();
  if (options.l2 == L2Start::warm) memory_.warm_up(context.memory, shape.written);
}

void Grid::place(SmGroup& group, uint64_t time) {
  auto c = std::make_unique<ClusterState>();
  c->index = static_cast<uint32_t>(next_++);
  for (const Sm& sm : group.sms()) c->sms.push_back(sites_[sm.id].number);
  // The distributor hands out one CTA after the other.
  time = std::max(time, static_cast<uint64_t>(next_start_));
  next_start_ =
      std::max(next_start_, static_cast<double>(time)) + p_.launch_cta_interval * shape_.ctas_per_cluster;
  c->now = time;
  start_cluster(context_, *c);
  group.start(*c, time);
  course_.first_start = std::min(course_.first_start, time);
  resident_.push_back(std::move(c));
}

// Three TPCs of a GPC share their way to the clusters' network: its SMs get in each other's way when clusters
// work on all three; a CPC with fewer has none of that. Clusters go round the GPCs, and in a GPC round these
// CPCs.
void Grid::crowd() {
  const auto clusters = std::min<uint64_t>(shape_.clusters, groups_.size());
  const uint64_t cpcs = sites_.back().cpc + 1;
  if (shape_.ctas_per_cluster < 2 || clusters * shape_.ctas_per_cluster <= cpcs * (cpc_sms - 2)) return;
  std::vector<uint32_t> sms(cpcs, 0);
  for (const Site& site : sites_) ++sms[site.cpc];
  for (const auto& g : groups_)
    if (sms[sites_[g->sms().front().id].cpc] == cpc_sms) g->crowd();
}

// CTAs go to all SMs before an SM gets its second one.
void Grid::first_wave() {
  for (uint32_t level = 0; level < shape_.ctas_per_sm; ++level) {
    for (size_t g = 0; g < groups_.size() && next_ < shape_.clusters; ++g) {
      place(*groups_[g],
            static_cast<uint64_t>(for_cluster() + (options_.l2 == L2Start::cold ? p_.launch_cold : 0)));
    }
  }
}

uint64_t Grid::earliest() const {
  uint64_t time = never;
  for (const auto& g : groups_) time = std::min(time, g->next_event());
  return time;
}

// What the groups have left for the edge, up to `end`, in the order of its time over all of them.
template <class Left>
std::vector<std::pair<Left, SmGroup*>> Grid::gather(std::vector<Left> SmGroup::* left, uint64_t end) {
  std::vector<std::pair<Left, SmGroup*>> all;
  for (const auto& g : groups_) {
    for (const Left& l : (*g).*left)
      if (l.time < end) all.emplace_back(l, g.get());
    std::erase_if((*g).*left, [end](const Left& l) { return l.time < end; });
  }
  std::ranges::stable_sort(all, {}, [](const auto& e) { return e.first.time; });
  return all;
}

void Grid::edge(uint64_t end) {
  if (options_.observer != nullptr) {
    std::vector<ClusterState*> view;
    view.reserve(resident_.size());
    for (const auto& c : resident_) view.push_back(c.get());
    options_.observer->edge(view);
  }
  for (const auto& [access, group] : gather(&SmGroup::accesses, end)) group->perform(access);
  for (const auto& [landing, group] : gather(&SmGroup::landings)) group->land(landing);
  std::vector<Batch*> batches;
  for (const auto& g : groups_)
    if (!g->batch.requests.empty()) batches.push_back(&g->batch);
  memory_.serve(batches);
  for (const auto& g : groups_) g->answer();
}

void Grid::collect(ClusterState& c) {
  if (c.observer) {
    if (c.finished()) c.observer->ended();
    options_.observer->retire(c);
  }
  progress_done_ += c.progress;
  faulted_ |= take_results(c, result_);
}

// Clusters that have ended make room for the next, in the order of their ends.
void Grid::retire() {
  const auto all = gather(&SmGroup::finished);
  for (const auto& [end, group] : all) {
    course_.last_end = std::max(course_.last_end, end.time);
    uint64_t& gpc_end = course_.gpc_ends[sites_[group->sms().front().id].gpc];
    gpc_end = std::max(gpc_end, end.time);
    ClusterState& cluster = group->cluster(end.cluster);
    if (cluster.finished()) {
      result_.ctas += cluster.ctas.size();
      ++finished_;
    }
    collect(cluster);
    group->remove(cluster);
    std::erase_if(resident_, [&](const auto& c) { return c.get() == &cluster; });
    if (next_ < shape_.clusters && !faulted_)
      place(*group, end.time + static_cast<uint64_t>(p_.launch_cta_replace +
                                                     p_.launch_warp * context_.launch.warps_per_cta() +
                                                     for_cluster()));
  }
  if (!all.empty() && options_.progress) options_.progress(finished_, shape_.clusters);
}

uint64_t Grid::instructions() const {
  uint64_t sum = result_.instructions;
  for (const auto& c : resident_) sum += c->instructions;
  return sum;
}
uint64_t Grid::progress() const {
  uint64_t sum = progress_done_;
  for (const auto& c : resident_) sum += c->progress;
  return sum;
}

void Grid::deadlock() {
  report_deadlock(context_.program, resident_, next_ < shape_.clusters, options_.observer, result_);
}

bool Grid::time_out(uint64_t time, bool again) {
  bool any = false;
  for (const auto& g : groups_)
    for (const auto& c : resident_)
      if (c->sms.front() == sites_[g->sms().front().id].number)
        any |= g->time_out(*c, time + static_cast<uint64_t>(p_.mbarrier_timeout), again);
  return any;
}

// Nothing has an event left: waits time out, again and again while that leads to states that were not there
// before. When all warps come back to where they were, or nothing has come of it for long, it is a deadlock.
bool Grid::stuck(uint64_t time) {
  if (time_out(time, false)) {
    fruitless_ = 0;
    return false;
  }
  if (++fruitless_ < patience && !spins_.all_spin(resident_) && time_out(time, true)) return false;
  deadlock();
  return true;
}

bool Grid::over_budget() {
  const uint64_t done = instructions(), changes = progress();
  if (changes != last_progress_) {
    last_progress_ = changes;
    quiet_since_ = done;
    spins_.reset();
  } else if (done - quiet_since_ > quiet_instructions) {
    quiet_since_ = done;
    if (spins_.all_spin(resident_)) {
      deadlock();
      return true;
    }
  }
  if (options_.max_instructions == 0 || done <= options_.max_instructions) return false;
  result_.findings.push_back(given_up(done));
  return true;
}

void Grid::run() {
  const unsigned threads =
      options_.threads != 0 ? options_.threads : std::max(1U, std::thread::hardware_concurrency());
  WorkerPool pool(static_cast<unsigned>(std::min<size_t>(threads, groups_.size())));
  lines_.assign(pool.workers(), std::vector<LineTime>(context_.program.code.size()));
  // No answer of L2 comes back sooner: what SMs ask within a quantum is answered at its end.
  const auto quantum = static_cast<uint64_t>(
      std::max(32.0, std::min(p_.l2_latency - p_.l2_spread - p_.l2_slice_spread, p_.l2_atomic_latency)));
  first_wave();
  uint64_t last = 0;
  std::vector<SmGroup*> active;
  while (!resident_.empty() && !faulted_) {
    const uint64_t begin = earliest();
    if (begin == never) {
      if (stuck(last)) break;
      continue;
    }
    // Warps that had an access performed at the edge are behind the others: these wait for them.
    const uint64_t end = begin + quantum;
    last = std::max(last, begin);
    active.clear();
    for (const auto& g : groups_)
      if (g->next_event() < end) active.push_back(g.get());
    pool.for_each(active.size(),
                  [&](size_t i, unsigned worker) { active[i]->run_until(end, lines_[worker]); });
    edge(end);
    retire();
    if (options_.stop != nullptr && options_.stop->load()) {
      result_.interrupted = true;
      break;
    }
    if (over_budget()) break;
  }
  for (auto& c : resident_) collect(*c);
  result_.completed = finished_ == shape_.clusters;
  report();
}

void Grid::report() {
  for (const auto& g : groups_) course_.last_end = std::max(course_.last_end, g->drained());
  result_.clock = report_of(p_, course_, groups_, memory_);
  result_.clock.lines = lines_of(lines_);
}

}  // namespace

void run_grid(const RunContext& context, const RunOptions& options, const isa::ArchSpec& arch,
              const isa::ClockParameters& parameters, const GridShape& shape, RunResult& result) {
  Grid(context, options, arch, parameters, shape, result).run();
}

}  // namespace palladion::sim::hardware
