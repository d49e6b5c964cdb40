#include "sim/check/observers.h"

#include <algorithm>

#include "sim/program/program.h"
#include "sim/launch/finding.h"

namespace palladion::sim::check {
namespace {

struct Part {
  std::unique_ptr<ClusterObserver> observer;
  const std::vector<bool>* watched = nullptr;  // by pc
};

class ClusterObservers final : public ClusterObserver {
 public:
  explicit ClusterObservers(std::vector<Part> parts) : parts_(std::move(parts)) {}

  void began() override {
    each([](ClusterObserver& o) { o.began(); });
  }
  void reached(const Origin& who) override {
    watching(who, [&](ClusterObserver& o) { o.reached(who); });
  }
  void executes(const Origin& who) override {
    watching(who, [&](ClusterObserver& o) { o.executes(who); });
  }
  void executed(const Origin& who) override {
    watching(who, [&](ClusterObserver& o) { o.executed(who); });
  }
  void accessed(const Origin& who, const Access& a) override {
    each([&](ClusterObserver& o) { o.accessed(who, a); });
  }
  void fenced(const Origin& who) override {
    each([&](ClusterObserver& o) { o.fenced(who); });
  }
  void warp_synced(const Origin& who) override {
    each([&](ClusterObserver& o) { o.warp_synced(who); });
  }
  void mbarrier(const Origin& who, const MbarrierEvent& e) override {
    each([&](ClusterObserver& o) { o.mbarrier(who, e); });
  }
  void cta_barrier(const Origin& who, const CtaBarrierEvent& e) override {
    each([&](ClusterObserver& o) { o.cta_barrier(who, e); });
  }
  void cluster_barrier(const Origin& who, const ClusterBarrierEvent& e) override {
    each([&](ClusterObserver& o) { o.cluster_barrier(who, e); });
  }
  void issued(const Origin& who, const AsyncIssue& issue) override {
    each([&](ClusterObserver& o) { o.issued(who, issue); });
  }
  void joined(const Origin& who, uint64_t id) override {
    each([&](ClusterObserver& o) { o.joined(who, id); });
  }
  void async_read(uint64_t id) override {
    each([&](ClusterObserver& o) { o.async_read(id); });
  }
  void async_landed(uint64_t id) override {
    each([&](ClusterObserver& o) { o.async_landed(id); });
  }
  void committed(const Origin& who, GroupKind kind) override {
    each([&](ClusterObserver& o) { o.committed(who, kind); });
  }
  void waited(const Origin& who, GroupKind kind, uint64_t allowed, bool read_only) override {
    each([&](ClusterObserver& o) { o.waited(who, kind, allowed, read_only); });
  }
  void arrival_deferred(const Origin& who, uint64_t id, std::span<const uint64_t> awaited) override {
    each([&](ClusterObserver& o) { o.arrival_deferred(who, id, awaited); });
  }
  void registers_set(const Origin& who, uint32_t before, uint32_t after) override {
    each([&](ClusterObserver& o) { o.registers_set(who, before, after); });
  }
  void exited(const Origin& who) override {
    each([&](ClusterObserver& o) { o.exited(who); });
  }
  void stalled(const Origin& who, Stall why, uint64_t from) override {
    each([&](ClusterObserver& o) { o.stalled(who, why, from); });
  }
  void worked(uint64_t id, Resource unit, uint64_t from, uint64_t to) override {
    each([&](ClusterObserver& o) { o.worked(id, unit, from, to); });
  }
  void ended() override {
    each([](ClusterObserver& o) { o.ended(); });
  }

 private:
  template <class F>
  void each(const F& tell) {
    for (const Part& p : parts_) tell(*p.observer);
  }
  template <class F>
  void watching(const Origin& who, const F& tell) {
    for (const Part& p : parts_)
      if ((*p.watched)[who.pc]) tell(*p.observer);
  }

  std::vector<Part> parts_;
};

}  // namespace

void Observers::start(const RunView& run) {
  watched_.clear();
  for (Observer* o : all_) {
    o->start(run);
    std::vector<bool>& watched = watched_.emplace_back(run.program->code.size());
    for (uint32_t pc = 0; pc < watched.size(); ++pc) watched[pc] = o->watches(pc);
  }
}

std::unique_ptr<ClusterObserver> Observers::observe(ClusterState& cluster) {
  std::vector<Part> parts;
  for (size_t i = 0; i < all_.size(); ++i)
    if (auto part = all_[i]->observe(cluster)) parts.push_back({std::move(part), &watched_[i]});
  if (parts.empty()) return nullptr;
  if (parts.size() == 1 && all_.size() == 1) return std::move(parts.front().observer);
  return std::make_unique<ClusterObservers>(std::move(parts));
}

bool Observers::watches(uint32_t pc) const {
  return std::ranges::any_of(watched_, [&](const std::vector<bool>& w) { return w[pc]; });
}

void Observers::edge(std::span<ClusterState* const> resident) {
  for (Observer* o : all_) o->edge(resident);
}

void Observers::retire(ClusterState& cluster) {
  for (Observer* o : all_) o->retire(cluster);
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
