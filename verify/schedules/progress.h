#pragma once
// How the caller of an engine follows and ends it.
#include <atomic>
#include <functional>

namespace palladion::verify {

template <class Step>
struct Progress {
  // Set from outside: the engine stops its runs and returns what it has.
  const std::atomic<bool>* stop = nullptr;
  // After each step; one call at a time, from any thread.
  std::function<void(const Step&)> step;

  bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

}  // namespace palladion::verify
