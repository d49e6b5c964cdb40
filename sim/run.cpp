#include "sim/run.h"

#include <algorithm>
#include <stdexcept>

#include "sim/clock/grid/grid.h"
#include "sim/run_parts.h"
#include "sim/schedule/quanta.h"
#include "sim/snapshot.h"

namespace palladion::sim {
namespace {

// The kernel's parameters stand in GMEM while it runs.
Address place_parameters(GlobalMemory& memory, const std::vector<uint8_t>& params) {
  const Address base = memory.allocate(params.size(), "kernel parameters");
  std::copy(params.begin(), params.end(), memory.find(base, params.size()));
  return base;
}

// Without a clock; the clock keeps to what the SMs have room for.
uint64_t slots_of(const RunParts& parts, const RunResult& result) {
  const uint64_t wanted = parts.clock == nullptr ? parts.launch.options.resident_clusters : 0;
  return wanted != 0 ? wanted : result.resident_clusters;
}

uint64_t clusters_of(const LaunchState& launch) { return launch.grid.count() / launch.cluster.count(); }

RunResult with_residency(RunResult result, const LaunchState& launch) {
  result.resident_clusters =
      std::max<uint64_t>(1, uint64_t{result.resident_ctas_per_sm} *
                                static_cast<uint64_t>(launch.arch->sm_count) / launch.cluster.count());
  return result;
}

// By pc: whether the observer wants to see the instruction executed.
std::vector<uint8_t> watched(const Program& program, const Observer& observer) {
  std::vector<uint8_t> watch;
  for (Pc pc{0}; pc < program.code.size(); ++pc) watch.push_back(observer.watches(pc));
  return watch;
}

}  // namespace

// It stays where it is: the grid refers to the rest.
struct Run::Held {
  Held(RunParts p, RunResult result);
  ~Held();
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  void begin_observing();
  std::unique_ptr<Advance> schedule(uint32_t ctas_per_sm) const;

  RunParts parts;
  std::vector<uint8_t> watch;
  std::vector<std::unique_ptr<ClusterEvents>> events;  // by cluster, while it is resident
  RunContext context;
  Grid grid;
  std::unique_ptr<Advance> how;
};

Run::Held::Held(RunParts p, RunResult result)
    : parts(std::move(p)),
      context{*parts.program,
              parts.launch,
              *parts.memory,
              parts.launch.options.schedule,
              parts.launch.options.observer,
              nullptr,
              parts.launch.options.stop,
              {},
              nullptr},
      grid(context, parts.launch.options, clusters_of(parts.launch), slots_of(parts, result),
           std::move(result)) {
  parts.launch.param_base = place_parameters(*parts.memory, parts.launch.params);
  if (parts.program->tracks_global) parts.memory->track_unmaterialised();
  context.unstarted = &grid;
  begin_observing();
  how = schedule(grid.state.result.resident_ctas_per_sm);
}

Run::Held::~Held() {
  parts.memory->forget_unmaterialised();
  parts.memory->release(parts.launch.param_base);
}

void Run::Held::begin_observing() {
  Observer* const observer = parts.launch.options.observer;
  if (observer == nullptr) return;
  events.clear();
  events.resize(clusters_of(parts.launch));
  context.events = events;
  observer->start({parts.program.get(), &parts.launch, parts.memory});
  watch = watched(*parts.program, *observer);
  context.watch = watch.data();
}

std::unique_ptr<Advance> Run::Held::schedule(uint32_t ctas_per_sm) const {
  if (parts.clock == nullptr) return std::make_unique<Quanta>(parts.launch.options);
  return hardware::clocked_groups(context, parts.launch.options, *parts.launch.arch, *parts.clock,
                                  *parts.lowered,
                                  {.clusters = clusters_of(parts.launch),
                                   .ctas_per_cluster = static_cast<uint32_t>(parts.launch.cluster.count()),
                                   .ctas_per_sm = ctas_per_sm,
                                   .shared_bytes = parts.program->static_shared + parts.launch.dynamic_shared,
                                   .written = parts.launch.written});
}

Run::Run(RunResult refused) : refused_(std::move(refused)) {}
Run::Run(RunParts parts, RunResult result) {
  result = with_residency(std::move(result), parts.launch);
  held_ = std::make_unique<Held>(std::move(parts), std::move(result));
}
Run::~Run() = default;
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&&) noexcept = default;

bool Run::advance() {
  if (held_ == nullptr) return false;
  held_->parts.memory->index();
  return held_->grid.advance(*held_->how);
}
Run::Step Run::step() {
  if (held_ == nullptr) return Step::over;
  held_->parts.memory->index();
  if (!held_->grid.advance_or_wait(*held_->how)) return Step::over;
  return held_->grid.waits ? Step::waits : Step::on;
}
uint64_t Run::outside_changes() const {
  return held_ == nullptr ? 0 : held_->grid.progress() - held_->grid.inner_changes();
}
uint64_t Run::position() const { return held_ == nullptr ? 0 : held_->grid.state.boundaries; }

Snapshot Run::snapshot() const {
  return {held_->grid.state, held_->how->clone(), held_->parts.memory->image()};
}

void Run::restore(const Snapshot& snapshot) {
  if (held_->parts.launch.options.observer != nullptr && snapshot.position() != 0)
    throw std::logic_error("a run with an observer goes back to its launch only");
  held_->parts.memory->restore(snapshot.memory);
  held_->grid.restore(snapshot.grid);
  held_->how = snapshot.schedule->clone();
  held_->how->restored(held_->grid);
  held_->begin_observing();
}

const RunResult& Run::result() const { return held_ == nullptr ? refused_ : held_->grid.state.result; }
RunResult Run::take_result() { return std::move(held_ == nullptr ? refused_ : held_->grid.state.result); }

}  // namespace palladion::sim
