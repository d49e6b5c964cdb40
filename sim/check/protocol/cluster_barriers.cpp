#include "sim/check/protocol/cluster_barriers.h"

#include <bit>

#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {

const BarrierGeneration* ClusterBarriers::find(uint64_t number) const {
  for (const BarrierGeneration& g : generations_)
    if (g.number == number) return &g;
  return nullptr;
}

BarrierGeneration& ClusterBarriers::generation(uint64_t number) {
  for (BarrierGeneration& g : generations_)
    if (g.number == number) return g;
  if (generations_.size() >= 4) generations_.pop_front();
  generations_.push_back({.number = number});
  return generations_.back();
}

void ClusterBarriers::on(const ClusterBarrierEvent& e) {
  const Origin& origin = e.origin;
  const WarpOfCluster warp = p_.causality.index(origin);
  Arrived& a = arrived_[warp];
  BarrierGeneration& g = generation(e.generation);
  if (e.step == ClusterBarrierEvent::Step::pass) {
    check_wait(origin, a);
    p_.causality.acquire(warp, g.clock);
    return;
  }
  bool again = false;  // whether or not that generation has completed
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(m));
    again |= a.next[lane] != a.waited[lane];
    a.next[lane] = e.generation + 1;
  }
  if (again) check_twice(origin, a, e.generation);
  a.pc = origin.pc;
  g.arrivals.push_back({origin, p_.nth(origin), p_.now(origin)});
  p_.causality.release(p_.now(origin), g.clock);
}

void ClusterBarriers::check_twice(const Origin& origin, const Arrived& a, uint64_t number) {
  const FindingKey key{Code::unpaired_cluster_barrier, origin.pc, a.pc, 0};
  if (p_.reporter().seen(key, origin)) return;
  Finding f;
  f.message = say<Phrase::second_cluster_arrival>(number);
  f.object.kind = Object::Kind::cluster_barrier;
  Origin first = origin;
  first.pc = a.pc;
  f.sites = {p_.reporter().site(origin, Does::arrives),
             p_.reporter().site(first, Part{.does = Does::arrives, .earlier = true})};
  f.missing = say<Phrase::cluster_wait_between>();
  f.help = say<Phrase::wait_after_each_arrival>();
  p_.reporter().report(key, std::move(f));
}

// Every wait needs an arrival of its own.
void ClusterBarriers::check_wait(const Origin& origin, Arrived& a) {
  bool arrived = true;
  for (uint32_t m = origin.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(m));
    arrived &= a.next[lane] != 0 && a.next[lane] != a.waited[lane];
    a.waited[lane] = a.next[lane];
  }
  if (arrived) return;
  const FindingKey key{Code::unpaired_cluster_barrier, origin.pc, ~0U, 0};
  if (p_.reporter().seen(key, origin)) return;
  Finding f;
  f.message = say<Phrase::wait_without_arrival>();
  f.object.kind = Object::Kind::cluster_barrier;
  f.sites = {p_.reporter().site(origin, Does::waits)};
  f.missing = say<Phrase::cluster_arrival_before>();
  p_.reporter().report(key, std::move(f));
}

}  // namespace palladion::sim::check
