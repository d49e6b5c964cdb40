#include "sim/check/observers.h"

#include <algorithm>
#include <iterator>

#include "sim/launch/finding.h"

namespace palladion::sim::check {

void Observers::start(const RunView& run) {
  for (Observer* o : all_) o->start(run);
}

void Observers::observe(ClusterState& cluster, ClusterEvents& events) {
  for (Observer* o : all_) o->observe(cluster, events);
}

bool Observers::watches(Pc pc) const {
  return std::ranges::any_of(all_, [pc](const Observer* o) { return o->watches(pc); });
}

void Observers::at_quantum_boundary(std::span<ClusterState* const> resident) {
  for (Observer* o : all_) o->at_quantum_boundary(resident);
}

bool Observers::wants_pause(const ClusterState& cluster) const {
  return std::ranges::any_of(all_, [&](const Observer* o) { return o->wants_pause(cluster); });
}

void Observers::retire(ClusterState& cluster) {
  for (Observer* o : all_) o->retire(cluster);
}

std::vector<std::shared_ptr<void>> Observers::take_retired() {
  std::vector<std::shared_ptr<void>> all;
  for (Observer* o : all_) std::ranges::move(o->take_retired(), std::back_inserter(all));
  return all;
}

bool Observers::deadlocked(std::span<const ClusterState* const> resident, bool more_clusters,
                           Finding& finding) {
  bool explained = false;
  for (Observer* o : all_) {
    Finding more = finding;
    if (!o->deadlocked(resident, more_clusters, more) || explained) continue;
    finding = std::move(more);
    explained = true;
  }
  return explained;
}

void Observers::finish(std::vector<Finding>& findings) {
  for (Observer* o : all_) o->finish(findings);
}

}  // namespace palladion::sim::check
