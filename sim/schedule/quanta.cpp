#include "sim/schedule/quanta.h"

#include <algorithm>
#include <numeric>

#include "sim/machine/exec/shuffle.h"

namespace palladion::sim {
namespace {

constexpr uint64_t longest_quantum = 1 << 22;  // warp instructions of one cluster between two boundaries
constexpr uint64_t look_again = 1 << 6;        // instructions before a look at clusters that repeated states
constexpr uint64_t spin_quantum = 1 << 16;     // the same once nothing has changed for a whole quantum
// Spins that count or read clocks never repeat a state, nor does a long sequence of strong loads: after this
// many boundaries without a change a run is reported as a hang nevertheless.
constexpr uint32_t stuck_boundaries = 1 << 20;
// Looks at which a random schedule must be seen in a loop of states.
constexpr uint32_t random_returns = 4;

// Frees the memory of a cluster that has ended but is not retired.
void end_cluster(const RunContext& context, ClusterState& cluster) {
  context.run_of(cluster).emit(ClusterEnded{});
  for (CtaState& cta : cluster.ctas) {
    cta.shared = {};
    cta.warps.clear();
    cta.tensor.words = {};
  }
}

// One quantum of each resident cluster; `repeated`: all repeated their states before. Those that pause go on
// together.
std::vector<Quantum> run_quanta(Grid& grid, uint64_t budget, bool repeated) {
  const auto resident = grid.resident();
  std::vector<Quantum> ran(resident.size());
  for (size_t i = 0; i < ran.size(); ++i) {
    ran[i].progress = resident[i]->progress;
    ran[i].look_at = repeated ? look_again : Quantum::first_look;
    ran[i].repeated = repeated;
  }
  std::vector<size_t> going(resident.size());
  std::iota(going.begin(), going.end(), size_t{0});
  while (true) {
    grid.workers().for_each(going.size(), [&](size_t k, unsigned) {
      ClusterState& c = *resident[going[k]];
      Quantum& quantum = ran[going[k]];
      if (c.ctas.empty()) start_cluster(grid.context(), c);
      run_quantum(grid.context(), c, budget, quantum);
      if (!quantum.paused && c.finished()) end_cluster(grid.context(), c);
    });
    std::erase_if(going, [&](size_t i) { return !ran[i].paused; });
    if (going.empty()) return ran;
    grid.notify_boundary();
  }
}

}  // namespace

Quanta::Quanta(const RunOptions& options)
    : quantum_(options.quantum != 0 ? options.quantum : longest_quantum),
      budget_(0),
      returns_(options.schedule.kind == Schedule::Kind::seeded ? random_returns : 1) {
  if (options.max_instructions != 0) quantum_ = std::min(quantum_, options.max_instructions);
  if (options.max_warp_instructions != 0) quantum_ = std::min(quantum_, options.max_warp_instructions);
  budget_ = quantum_;
}

void Quanta::admit(Grid& grid) {
  while (!grid.state.free.empty() && grid.more_clusters()) grid.admit();
}

void Quanta::run(Grid& grid) {
  const auto resident = grid.resident();
  const bool repeated = passed_.repeats;
  passed_ = {.resident = resident.size(), .repeats = true};
  for (const Quantum& q : run_quanta(grid, budget_, repeated)) {
    passed_.repeats &= q.repeats || q.executed == 0;
    passed_.useful |= q.useful;
    passed_.executed |= q.executed != 0;
    passed_.cut_short |= q.executed >= budget_;
  }
  grid.perform_stores();
  grid.notify_boundary();
  std::vector<ClusterState*> order(resident.begin(), resident.end());
  if (const uint64_t seed = grid.context().launch.options.lanes; seed != 0)
    shuffle(order, scramble(seed) ^ grid.progress());
  for (ClusterState* c : order) {
    if (c->faulted) continue;
    const bool had_ended = c->finished();
    passed_.performed |= run_quantum_boundary(grid.context(), *c);
    if (!had_ended && c->finished()) end_cluster(grid.context(), *c);  // it waited for reductions alone
  }
}

void Quanta::retire(Grid& grid) {
  const std::vector<ClusterState*> resident(grid.resident().begin(), grid.resident().end());
  for (ClusterState* c : resident) {
    if (c->finished())
      grid.leave(*c);
    else
      grid.take_findings(*c);
  }
}

bool Quanta::stuck(Grid& grid) {
  const uint64_t progress = grid.progress(), outside = progress - grid.inner_changes();
  const bool left = grid.resident().size() != passed_.resident;
  const bool changed = progress != last_progress_ || left;
  const bool changed_outside = outside != last_outside_ || left;
  last_progress_ = progress;
  last_outside_ = outside;
  budget_ = changed ? quantum_ : std::min(quantum_, spin_quantum);
  if (!hash_) hash_.emplace(grid.context().program);
  if (changed_outside) returns_.reset();
  if (changed) {
    spins_.reset();
    quiet_ = 0;
    return !changed_outside && returns_.all_return(grid.resident(), *hash_);
  }
  if (!passed_.cut_short) ++quiet_;
  const bool nothing_runs = !passed_.useful && !passed_.performed && !passed_.executed;
  if (passed_.repeats && !passed_.performed) return true;
  return nothing_runs || spins_.all_spin(grid.resident(), *hash_) || quiet_ >= stuck_boundaries;
}

void Quanta::memory_changed() {
  last_progress_ = ~0ULL;
  spins_.reset();
  quiet_ = 0;
}

}  // namespace palladion::sim
