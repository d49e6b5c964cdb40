#include "sim/schedule/worker_pool.h"

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#ifdef PLD_THREAD_SANITIZER  // libtbb is not instrumented: the order that it guarantees is stated here
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#else
static void __tsan_acquire(void*) {}
static void __tsan_release(void*) {}
#endif

namespace palladion::sim {

class WorkerPool::Arena : public std::enable_shared_from_this<Arena> {
 public:
  explicit Arena(unsigned threads) : arena_(static_cast<int>(threads)) {
    // oneTBB limits itself to the host's threads unless more are requested.
    using tbb::global_control;
    if (threads > global_control::active_value(global_control::max_allowed_parallelism))
      limit_.emplace(global_control::max_allowed_parallelism, threads);
  }

  // The arena whose job the calling thread performs; null outside of jobs.
  static Arena* current() { return current_; }
  unsigned threads() const { return static_cast<unsigned>(arena_.max_concurrency()); }

  void for_each(size_t n, const Job& job) {
    Failure failure;
    const auto all = [&] {
      tbb::parallel_for(size_t{0}, n, [&](size_t i) { perform(job, i, failure); }, tbb::simple_partitioner());
    };
    __tsan_release(this);
    // A thread that waits for nested jobs may take more of them, but not begin another outer job meanwhile.
    if (current_ == this)
      tbb::this_task_arena::isolate(all);
    else
      arena_.execute(all);
    __tsan_acquire(this);
    if (failure.first) std::rethrow_exception(failure.first);
  }

 private:
  // The first exception of a job; later jobs do not begin. It does not pass through libtbb, whose libstdc++
  // may be another one than the program's.
  struct Failure {
    std::atomic<bool> failed = false;
    std::exception_ptr first;
    template <class Work>
    void guard(Work&& work) {
      if (failed) return;
      try {
        work();
      } catch (...) {
        if (!failed.exchange(true)) first = std::current_exception();
      }
    }
  };

  void perform(const Job& job, size_t i, Failure& failure) {
    struct Scope {
      explicit Scope(Arena* arena) : outer(std::exchange(current_, arena)) { __tsan_acquire(arena); }
      ~Scope() { __tsan_release(std::exchange(current_, outer)); }
      Arena* outer;
    };
    const Scope scope(this);
    failure.guard([&] { job(i, static_cast<unsigned>(tbb::this_task_arena::current_thread_index())); });
  }

  static thread_local Arena* current_;
  std::optional<tbb::global_control> limit_;
  tbb::task_arena arena_;
};

thread_local WorkerPool::Arena* WorkerPool::Arena::current_ = nullptr;

unsigned hardware_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

WorkerPool::WorkerPool(unsigned threads) {
  if (threads == 0) threads = hardware_threads();
  if (threads == 1) return;
  Arena* const outer = Arena::current();
  arena_ = outer != nullptr ? outer->shared_from_this() : std::make_shared<Arena>(threads);
}

WorkerPool::~WorkerPool() = default;

unsigned WorkerPool::workers() const { return arena_ == nullptr ? 1 : arena_->threads(); }

void WorkerPool::for_each(size_t n, const Job& job) {
  if (arena_ != nullptr && n > 1) return arena_->for_each(n, job);
  for (size_t i = 0; i < n; ++i) job(i, 0);
}

}  // namespace palladion::sim
