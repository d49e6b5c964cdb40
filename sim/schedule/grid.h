#pragma once
// A grid on its way through the machine: which clusters are resident, which have ended, what they left
// behind.
//
// A run goes from boundary to boundary. Up to one, clusters run on their own, on several host threads; at it,
// what they share (strong accesses of GMEM, reductions, requests to L2) is performed in a fixed order on one
// thread. How far a boundary is, and what order means, is the Advance's: a quantum of instructions, or the
// clock's.
#include <memory>
#include <span>
#include <vector>

#include "sim/launch/launch.h"
#include "sim/schedule/cluster_runner.h"
#include "sim/schedule/worker_pool.h"

namespace palladion::sim {

// Everything that a grid is but GMEM. Plain data: copying it is a snapshot.
struct GridState {
  std::vector<ClusterState> slots;  // one a resident cluster, which stays in it until it leaves
  std::vector<uint32_t> resident;   // slots in use, in the order in which their clusters started
  std::vector<uint32_t> free;       // the others, the next one last
  uint64_t started = 0, finished = 0;
  uint64_t progress = 0;    // of clusters that have left
  uint64_t boundaries = 0;  // passed so far
  bool faulted = false, over = false;
  RunResult result;  // so far
};

class Grid;

// How resident clusters come to the next boundary. All its state is copied by `clone`.
class Advance {
 public:
  virtual ~Advance() = default;
  // Starts clusters for which there is room.
  virtual void admit(Grid& grid) = 0;
  // Runs the resident clusters to the next boundary, and performs what is ordered there.
  virtual void run(Grid& grid) = 0;
  // Lets clusters leave that have ended.
  virtual void retire(Grid& grid) = 0;
  // True when nothing can ever change any more.
  virtual bool stuck(Grid& grid) = 0;
  // The grid is over: its last words.
  virtual void finish(Grid&) {}
  // A copy is a snapshot; `restored` joins one to the grid whose state was put back.
  virtual std::unique_ptr<Advance> clone() const = 0;
  virtual void restored(Grid&) {}
};

class Grid {
 public:
  // `slots`: how many clusters may be resident at once.
  Grid(const RunContext& context, const RunOptions& options, uint64_t clusters, uint64_t slots,
       RunResult result);

  // To the next boundary; false when the grid is over.
  bool advance(Advance& how);
  // Goes back to, or forward to, a state of this grid.
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
  // The cluster has ended or cannot go on; its slot becomes free.
  void leave(ClusterState& cluster);
  // Moves its findings into the result while it stays.
  void take_findings(ClusterState& cluster);
  // Observers see the boundary before its accesses are performed.
  void notify_boundary();
  uint64_t instructions() const;
  uint64_t progress() const;

 private:
  uint64_t index_of(uint64_t started);
  void collect(ClusterState& cluster);
  bool over_limit();
  void finish(Advance& how);

  const RunContext& context_;
  const RunOptions& options_;
  uint64_t clusters_;
  WorkerPool workers_;
  std::vector<ClusterState*> resident_;  // as state.resident
  std::vector<uint32_t> order_;          // of a random start
};

}  // namespace palladion::sim
