#pragma once
// A few host threads that run the same job over indices 0..n-1. Which thread takes which index does
// not matter to any result.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace palladion::sim {

class WorkerPool {
 public:
  explicit WorkerPool(unsigned threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls job(i, worker) for every i < n; returns when all are done. The caller works too, as worker 0.
  using Job = std::function<void(size_t, unsigned)>;
  void for_each(size_t n, const Job& job);
  unsigned workers() const { return static_cast<unsigned>(threads_.size()) + 1; }

 private:
  void work(unsigned worker);
  void drain(unsigned worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const Job* job_ = nullptr;
  size_t count_ = 0;
  std::atomic<size_t> next_{0};
  unsigned busy_ = 0;
  uint64_t round_ = 0;
  bool stop_ = false;
};

}  // namespace palladion::sim
