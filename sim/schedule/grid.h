#pragma once
// The execution of a grid: which clusters are resident, which have ended, and their results.
//
// A run is a sequence of quanta. Within a quantum clusters execute independently, on several host threads; at
// its boundary their shared accesses (strong accesses of GMEM, reductions, requests to L2) are performed in a
// fixed order on one thread. The Advance defines the length of a quantum and the order: by instructions, or
// by the clock.
#include <memory>
#include <span>
#include <vector>

#include "sim/launch/launch.h"
#include "sim/schedule/cluster_runner.h"
#include "sim/schedule/endless.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::sim {

// The state of a grid without GMEM. Plain data: copying it is a snapshot.
struct GridState {
  std::vector<ClusterState> slots;  // one a resident cluster, which occupies it until it is retired
  std::vector<uint32_t> resident;   // slots in use, in the order in which their clusters started
  std::vector<uint32_t> free;       // the others, the next one last
  uint64_t started = 0, finished = 0;
  uint64_t taken = 0;       // of the started ones: not run, their work was taken over by others
  uint64_t progress = 0;    // of clusters that are retired
  uint64_t boundaries = 0;  // passed so far
  bool faulted = false, over = false;
  EndlessWatch endless;
  RunResult result;  // so far
};

class Grid;

// Executes resident clusters up to the next quantum boundary. All its state is copied by `clone`.
class Advance {
 public:
  virtual ~Advance() = default;
  // Starts the clusters that fit on the SMs.
  virtual void admit(Grid& grid) = 0;
  // Executes the resident clusters up to the next boundary, and performs the ordered accesses.
  virtual void run(Grid& grid) = 0;
  // Retires clusters that have ended.
  virtual void retire(Grid& grid) = 0;
  // True when no state can change any more.
  virtual bool stuck(Grid& grid) = 0;
  // GMEM may have been changed from outside since it was stuck.
  virtual void memory_changed() {}
  // The grid has ended: final results.
  virtual void finish(Grid&) {}
  // A copy is a snapshot; `restored` connects it to the grid whose state was restored.
  virtual std::unique_ptr<Advance> clone() const = 0;
  virtual void restored(Grid&) {}
};

class Grid : public UnstartedClusters {
 public:
  // `slots`: how many clusters may be resident at once.
  Grid(const RunContext& context, const RunOptions& options, uint64_t clusters, uint64_t slots,
       RunResult result);

  // Executes up to the next boundary; false when the grid has ended.
  bool advance(Advance& how);
  // The same; but when nothing can proceed and lanes spin on memory, `waits` becomes true and the grid has
  // not ended: it goes on when something outside has changed the memory.
  bool advance_or_wait(Advance& how);
  bool waits = false;
  // Restores an earlier or later state of this grid.
  void restore(const GridState& saved);

  GridState state;

  // --- for an Advance ---
  const RunContext& context() const { return context_; }
  const RunOptions& options() const { return options_; }
  WorkerPool& workers() { return workers_; }
  std::span<ClusterState* const> resident() const { return resident_; }
  bool more_clusters() const { return state.started < clusters_; }
  // Gives the next cluster a slot; start_cluster creates its CTAs.
  ClusterState& admit();
  // Gives the work of the next cluster to another one (cluster launch control).
  std::optional<uint32_t> take() override;
  // The cluster has ended or cannot proceed; frees its slot.
  void leave(ClusterState& cluster);
  // Moves the findings of a resident cluster into the result.
  void take_findings(ClusterState& cluster);
  // Writes the clusters' plain stores to GMEM, in the order in which the clusters started.
  void perform_stores();
  // Notifies observers before the boundary's accesses are performed.
  void notify_boundary();
  uint64_t instructions() const;
  uint64_t progress() const;
  uint64_t inner_changes() const;  // of resident clusters

 private:
  uint64_t clusters_done() const { return state.finished + state.taken; }
  uint64_t index_of(uint64_t started);
  void collect(ClusterState& cluster);
  void destroy_retired();  // what observers leave of clusters, on all workers
  bool over_limit();
  bool loops_for_ever();
  bool advance(Advance& how, bool may_wait);
  void finish(Advance& how);

  const RunContext& context_;
  const RunOptions& options_;
  uint64_t clusters_;
  WorkerPool workers_;
  std::vector<ClusterState*> resident_;  // as state.resident
  std::vector<uint32_t> order_;          // of a random start
};

}  // namespace palladion::sim
