#pragma once
// What an Observer keeps for each cluster that runs: its subscribers.
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace palladion::sim {

struct ClusterState;

// The subscribers that an Observer created, one a cluster, until it removes them.
template <class T>
class PerCluster {
 public:
  // Called on any host thread, as Observer::observe is.
  T& add(const ClusterState& cluster, std::unique_ptr<T> subscriber) {
    const std::lock_guard lock(mutex_);
    return *(made_[&cluster] = std::move(subscriber));
  }
  // Null when there is none; the owner stays the same. Called on any host thread, too.
  T* find(const ClusterState& cluster) const {
    const std::lock_guard lock(mutex_);
    const auto at = made_.find(&cluster);
    return at == made_.end() ? nullptr : at->second.get();
  }
  // Null when there is none.
  std::unique_ptr<T> take(const ClusterState& cluster) {
    auto node = made_.extract(&cluster);
    return node.empty() ? nullptr : std::move(node.mapped());
  }
  void clear() { made_.clear(); }  // before the next run

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const ClusterState*, std::unique_ptr<T>> made_;
};

}  // namespace palladion::sim
