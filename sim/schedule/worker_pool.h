#pragma once
// Host threads that share independent jobs: an arena of oneTBB. Which thread takes which job does not matter
// to any result.
#include <cstddef>
#include <functional>
#include <memory>

namespace palladion::sim {

// Threads of this host; what 0 means where a number of threads is asked for.
unsigned hardware_threads();

class WorkerPool {
 public:
  // So many threads, the caller among them; 0: all of the host. A pool that is made inside a job of another
  // pool shares the threads of that one: nested work never has more threads than the outermost pool.
  explicit WorkerPool(unsigned threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls job(i, worker) for every i < n; returns when all are done. The caller works too; jobs that run at
  // the same time have different workers, below workers(). An exception of a job is thrown to the caller.
  using Job = std::function<void(size_t, unsigned)>;
  void for_each(size_t n, const Job& job);
  unsigned workers() const;

  class Arena;

 private:
  std::shared_ptr<Arena> arena_;  // none: the caller works alone
};

}  // namespace palladion::sim
