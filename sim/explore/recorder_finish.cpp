// From what was recorded to skeletons, and all clusters of a run.
#include <fmt/format.h>

#include <algorithm>

#include "sim/check/core/context.h"
#include "sim/explore/recorder.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {

// Objects by kind and address, places by warp and pc: not in the order in which this schedule met them.
void SkeletonRecorder::normalise(Skeleton& s) {
  std::vector<uint32_t> object(objects_.size()), place(places_.size());
  for (const auto& [key, at] : object_index_) {
    object[at] = static_cast<uint32_t>(s.objects.size());
    s.objects.push_back(objects_[at]);
  }
  std::vector<Origin> places;
  for (const auto& [key, at] : place_index_) {
    place[at] = static_cast<uint32_t>(places.size());
    places.push_back(places_[at]);
  }
  places_ = std::move(places);
  for (SyncThread& t : s.threads) {
    for (SyncOp& op : t.ops) {
      op.object = object[op.object];
      op.place = place[op.place];
    }
  }
}

Skeleton SkeletonRecorder::make() {
  if (full()) {
    Skeleton none;
    none.incomplete = fmt::format("a cluster has more than {} events of synchronisation", limit_);
    places_.clear();
    return none;
  }
  for (const auto& [id, where] : deferred_) {  // the run was stopped before they landed
    run_.warps[where.first][where.second].op.kind = SyncKind::nothing;
    run_.signals.erase(id);
  }
  Skeleton s;
  make_threads(run_, s);
  normalise(s);
  for (const auto& [line, what] : frozen_) s.frozen.push_back(fmt::format("{} (line {})", what, line));
  for (const uint32_t line : requests_)
    s.frozen.push_back(
        fmt::format("a request to cancel a launch got the answer of this run (line {})", line));
  s.answers = requests_.size();
  if (!ended_) s.incomplete = "the recorded run did not reach its end";
  run_ = {};
  return s;
}

void SkeletonRecorder::name(const RunView& run, Skeleton& skeleton) const {
  for (const Origin& o : places_) skeleton.places.push_back(plain_site(run, cluster_, o));
  for (SyncObject& o : skeleton.objects) {
    switch (o.kind) {
      case SyncObject::Kind::mbarrier:
        o.object = check::mbarrier_object(run, cluster_,
                                          SharedAddress(uint32_t{o.cta_rank} << cta_rank_shift | o.address));
        break;
      case SyncObject::Kind::cta_barrier:
        o.object = {.kind = Object::Kind::barrier, .number = o.address};
        break;
      case SyncObject::Kind::cluster_barrier:
        o.object.kind = Object::Kind::cluster_barrier;
        break;
      case SyncObject::Kind::registers:
        o.object.kind = Object::Kind::register_pool;
        break;
    }
  }
}

// --- all clusters ---------------------------------------------------------------------------------
void SkeletonObserver::start(const RunView& run) {
  run_ = run;
  clusters_.clear();
  recorded_.clear();
  by_hash_.clear();
  operations_ = 0;
}

// An equal share for each of the clusters that can run at once, by CTAs, threads and shared memory of an SM.
uint64_t SkeletonObserver::cluster_limit() const {
  const LaunchState& l = *run_.launch;
  const uint64_t of_cluster = l.cluster.count();
  const auto limit = [](int of_the_chip) { return static_cast<uint64_t>(of_the_chip); };
  const uint64_t of_sm =
      std::min({limit(l.arch->max_ctas_per_sm),
                limit(l.arch->max_threads_per_sm) / std::max<uint64_t>(l.block.count(), 1) + 1,
                limit(l.arch->shared_bytes_per_sm) / (l.dynamic_shared + run_.program->reserved_shared)});
  const uint64_t resident =
      std::min(l.grid.count() / of_cluster, of_sm * limit(l.arch->sm_count) / of_cluster + 1);
  return limits_.events / std::max<uint64_t>(resident, 1);
}

void SkeletonObserver::observe(ClusterState& cluster, ClusterEvents& events) {
  events.add(
      clusters_.add(cluster, std::make_unique<SkeletonRecorder>(cluster, *run_.program, cluster_limit())));
}

bool SkeletonObserver::watches(Pc pc) const {
  const MicroOp& op = run_.program->code[pc];
  return op.instruction != nullptr && op.effect != nullptr &&
         SkeletonRecorder::watches(*op.instruction, *op.effect);
}

void SkeletonObserver::retire(ClusterState& cluster) {
  const std::unique_ptr<SkeletonRecorder> recorder = clusters_.take(cluster);
  if (recorder == nullptr) return;
  Skeleton s = recorder->finish();
  const uint64_t hash = s.structural_hash();
  for (auto [at, end] = by_hash_.equal_range(hash); at != end; ++at) {
    if (!recorded_[at->second].skeleton.same_structure(s)) continue;
    ++recorded_[at->second].clusters;
    return;
  }
  operations_ += s.operations();
  if (operations_ > limits_.operations) {
    s = {};
    s.incomplete = fmt::format("the clusters differ, in more than {} operations", limits_.operations);
    if (!recorded_.empty() && recorded_.back().skeleton.same_structure(s)) {
      ++recorded_.back().clusters;
      return;
    }
  } else {
    recorder->name(run_, s);
  }
  by_hash_.emplace(hash, recorded_.size());
  recorded_.push_back({std::move(s), 1});
}

}  // namespace palladion::sim::check
