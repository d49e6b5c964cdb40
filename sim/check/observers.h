#pragma once
// Several observers of one run: each is told of everything, as if it were alone.
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/launch/event.h"

namespace palladion::sim::check {

// The clusters' observers that an Observer made, until they retire. ClusterState::observer may be one of
// these or one that hands events on to it.
template <class T>
class PerCluster {
 public:
  // Called on any host thread, as Observer::observe is.
  std::unique_ptr<ClusterObserver> add(const ClusterState& cluster, std::unique_ptr<T> observer) {
    const std::lock_guard lock(mutex_);
    made_[&cluster] = observer.get();
    return observer;
  }
  T* find(const ClusterState& cluster) const {
    const auto at = made_.find(&cluster);
    return at == made_.end() ? nullptr : at->second;
  }
  void forget(const ClusterState& cluster) { made_.erase(&cluster); }
  void clear() { made_.clear(); }

 private:
  std::mutex mutex_;
  std::unordered_map<const ClusterState*, T*> made_;
};

class Observers final : public Observer {
 public:
  // Told in this order; they must outlive the run.
  explicit Observers(std::vector<Observer*> all) : all_(std::move(all)) {}

  void start(const RunView& run) override;
  std::unique_ptr<ClusterObserver> observe(ClusterState& cluster) override;
  bool watches(uint32_t pc) const override;
  void edge(std::span<ClusterState* const> resident) override;
  void retire(ClusterState& cluster) override;
  // The first that can explain it does; the others are told as well.
  bool deadlocked(std::span<const ClusterState* const> resident, bool more_clusters,
                  Finding& finding) override;
  void finish(std::vector<Finding>& findings) override;

 private:
  std::vector<Observer*> all_;
  std::vector<std::vector<bool>> watched_;  // by observer, by pc
};

}  // namespace palladion::sim::check
