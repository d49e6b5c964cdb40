#pragma once
// Host threads that share independent jobs: an arena of oneTBB. Which thread takes which job does not matter
// to any result.
#include <cstddef>
#include <functional>
#include <memory>

namespace palladion::sim {

// Threads of this host; what 0 means where a number of threads is given.
unsigned hardware_threads();

class WorkerPool {
 public:
  // This number of threads, including the caller; 0: all of the host. A pool that is created inside a job of
  // another pool shares that pool's threads: nested work never has more threads than the outermost pool.
  explicit WorkerPool(unsigned threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls job(i, worker) for every i < n; returns when all are done. The caller works too; jobs that run at
  // the same time have different workers, below workers(). An exception of a job is rethrown in the caller.
  using Job = std::function<void(size_t, unsigned)>;
  void for_each(size_t n, const Job& job);
  unsigned workers() const;

  class Arena;

 private:
  std::shared_ptr<Arena> arena_;  // none: the caller works alone
};

}  // namespace palladion::sim
