#include "sim/schedule/worker_pool.h"

namespace palladion::sim {

WorkerPool::WorkerPool(unsigned threads) {
  for (unsigned i = 1; i < threads; ++i) threads_.emplace_back([this, i] { work(i); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void WorkerPool::drain(unsigned worker) {
  while (true) {
    const size_t i = next_.fetch_add(1);
    if (i >= count_) return;
    (*job_)(i, worker);
  }
}

void WorkerPool::work(unsigned worker) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    start_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    drain(worker);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

void WorkerPool::for_each(size_t n, const Job& job) {
  if (threads_.empty() || n <= 1) {
    for (size_t i = 0; i < n; ++i) job(i, 0);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    count_ = n;
    next_ = 0;
    busy_ = static_cast<unsigned>(threads_.size());
    ++round_;
  }
  start_.notify_all();
  drain(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
}

}  // namespace palladion::sim
