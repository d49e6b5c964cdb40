#include "sim/check/cluster_checker.h"

#include "isa/core/footprint.h"

namespace palladion::sim::check {

// The order of construction is the order of the members; each part sees those before it.
ClusterChecker::ClusterChecker(const RunView& run, ClusterState& cluster, const Options& options,
                               const WatchAnalysis& analysis, const ArrayBounds& arrays, Locations& locations)
    : options_(options),
      order_(cluster, locations),
      reporter_(run, cluster),
      context_{run, cluster, order_, reporter_},
      ledger_(context_),
      shared_races_(context_, order_, ledger_, options_),
      global_races_(context_, order_, ledger_, options_),
      memory_(context_, order_, shared_races_),
      watch_(context_, analysis, options_),
      bounds_(context_, arrays) {
  shared_races_.use(memory_.records());
}

void ClusterChecker::reached(const Origin& who) { watch_.reached(who); }
void ClusterChecker::executes(const Origin& who) { watch_.executes(who); }
void ClusterChecker::executed(const Origin& who) { watch_.executed(who); }

void ClusterChecker::accessed(const Origin& who, const Access& a) {
  // A strong access of memory that others write can see different values in other schedules.
  if (a.order != isa::Order::weak && a.kind != Access::Kind::write) timing_dependent_ = true;
  if (a.kind == Access::Kind::atomic && std::get_if<isa::Atomic>(who.effect)->dst >= 0)
    timing_dependent_ = true;
  if (options_.barrier) ledger_.accessed(who, a);
  memory_.accessed(who, a);
  watch_.accessed(who, a);
  if (options_.memory) bounds_.accessed(who, a);
}

void ClusterChecker::fenced(const Origin& who) {
  order_.fenced(who);
  watch_.fenced(who);
}

void ClusterChecker::warp_synced(const Origin& who) { order_.warp_synced(who); }

// The protocol is judged by what the actor knew before the operation, memory by what it knows after it.
void ClusterChecker::mbarrier(const Origin& who, const MbarrierEvent& e) {
  reporter_.mbarrier(who, e);
  if (options_.barrier) ledger_.mbarrier(who, e);
  // A wait whose result nobody looks at orders nothing, whatever it returned here.
  using A = isa::MbarrierAction;
  const bool waits = e.action == A::test_wait || e.action == A::try_wait;
  if (!waits || !options_.barrier || ledger_.mbarriers().result_used(who.pc)) order_.mbarrier(who, e);
  memory_.mbarrier(who, e);
}

void ClusterChecker::cta_barrier(const Origin& who, const CtaBarrierEvent& e) {
  reporter_.cta_barrier(who, e);
  if (options_.barrier) ledger_.cta_barrier(who, e);
  order_.cta_barrier(who, e);
  generations_ += static_cast<uint64_t>(e.completed);
}

void ClusterChecker::cluster_barrier(const Origin& who, const ClusterBarrierEvent& e) {
  reporter_.cluster_barrier(who, e);
  if (options_.barrier) ledger_.cluster_barrier(who, e);
  order_.cluster_barrier(who, e);
  generations_ += static_cast<uint64_t>(e.completed);
}

void ClusterChecker::joined(const Origin& who, uint64_t id) {
  reporter_.joined(who, id);
  order_.joined(who, id);
  watch_.joined(who, id);
}

void ClusterChecker::issued(const Origin& who, const AsyncIssue& e) {
  ++async_operations_;
  reporter_.issued(who, e);
  if (options_.barrier) ledger_.issued(who, e);
  const std::shared_ptr<AsyncRecord> op = order_.record(e.id);
  op->issuer = who;
  op->occurrence = reporter_.occurrence(who.cta_rank, who.warp, who.pc);
  op->name = e.name;
  op->group = e.group;
  op->async_proxy = isa::footprint(*who.effect).uses(isa::Proxy::async);
  op->reduces = e.reduces;
  op->lane_exact = e.group == GroupKind::cp_async;
  op->layout = e.layout;
  op->mbarriers.assign(e.mbarriers.begin(), e.mbarriers.end());
  order_.issued(who, op);
  memory_.issued(who, e, op, order_.issuers_view(who, *op));
  watch_.issued(who, e);
  if (options_.memory) bounds_.issued(who, e);
}

void ClusterChecker::async_landed(uint64_t id) {
  if (options_.barrier) ledger_.async_landed(id);
  order_.landed(id);
  watch_.async_landed(id);
}

void ClusterChecker::committed(const Origin& who, GroupKind kind) {
  reporter_.committed(who, kind);
  if (options_.barrier) ledger_.committed(who, kind);
  order_.committed(who, kind);
  watch_.committed(who, kind);
}

void ClusterChecker::waited(const Origin& who, GroupKind kind, uint64_t allowed, bool read_only) {
  reporter_.waited(who, kind, allowed, read_only);
  if (options_.barrier) ledger_.waited(who, kind, allowed, read_only);
  order_.waited(who, kind, allowed, read_only);
  watch_.waited(who, kind, allowed, read_only);
}

void ClusterChecker::arrival_deferred(const Origin& who, uint64_t id, std::span<const uint64_t>) {
  order_.arrival_deferred(who, id);
}

void ClusterChecker::registers_set(const Origin& who, uint32_t before, uint32_t after) {
  reporter_.registers_set(who, before, after);
  if (options_.barrier) ledger_.registers_set(who, before, after);
  watch_.registers_set(who, before, after);
}

void ClusterChecker::exited(const Origin& who) {
  if (options_.barrier) ledger_.exited(who);
}

void ClusterChecker::ended() {
  if (options_.barrier) ledger_.ended();
  watch_.ended();
}

void ClusterChecker::judge_global(GlobalMemoryChecks& global) {
  global_races_.use(global.records());
  global.judge(memory_.log(), global_races_);
}

void ClusterChecker::deadlocked() { watch_.deadlocked(); }

void ClusterChecker::add_to(Coverage& c) const {
  const ForcedPhases& f = ledger_.mbarriers().forced();
  c.accesses += memory_.accesses();
  c.async_operations += async_operations_;
  c.forced_phases += f.forced;
  c.unforced_phases += f.unforced;
  c.barrier_generations += generations_;
  c.timing_dependent_control |= timing_dependent_;
  if (!f.reason.empty() && c.unforced_reason.empty()) c.unforced_reason = f.reason;
}

}  // namespace palladion::sim::check
