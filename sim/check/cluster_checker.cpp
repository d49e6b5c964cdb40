#include "sim/check/cluster_checker.h"

#include "isa/core/footprint.h"
#include "sim/program/program.h"

namespace palladion::sim::check {
namespace {

// A chip performs a store once that all lanes of a warp issue alike, a reduction once for each lane.
uint64_t operands_of(const AsyncIssue& e) {
  if (e.reduces || e.group != isa::AsyncGroup::bulk || e.writes.empty() || e.writes.front().shared())
    return 0;
  uint64_t h = 1;
  for (const auto pieces : {e.reads, e.writes})
    for (const Piece& p : pieces) {
      h = (h ^ p.address) * 0x9E37'79B9'7F4A'7C15ULL;
      h = (h ^ h >> 31 ^ p.bytes) * 0xBF58'476D'1CE4'E5B9ULL;
    }
  return h | 1;
}

}  // namespace

// The order of construction is the order of the members; each part sees those before it.
ClusterChecker::ClusterChecker(const RunView& run, ClusterState& cluster, const Options& options,
                               const WatchAnalysis& analysis, const ArrayBounds& arrays, Locations& locations)
    : options_(options),
      order_(cluster, run.program->mma_warps(), locations, analysis.proxies),
      reporter_(run, cluster),
      context_{run, cluster, order_, reporter_},
      ledger_(context_),
      shared_races_(context_, order_, ledger_, options_),
      global_races_(context_, order_, ledger_, options_),
      memory_(context_, order_, shared_races_),
      tensor_races_(context_, order_, options_),
      tensor_(context_, order_, tensor_races_, order_.tensor_memory()),
      watch_(context_, analysis, options_, &order_),
      bounds_(context_, arrays),
      foreign_local_(context_),
      one_store_(context_),
      lockstep_(context_) {
  shared_races_.use(memory_.records());
  tensor_races_.use(tensor_.records());
}

void ClusterChecker::subscribe(ClusterEvents& events) {
  events.add(reporter_);
  // Protocol checks use the actor's view before the operation, memory checks its view after it.
  if (options_.barrier) ledger_.subscribe(events);
  events.add(*this);
  events.add(order_);
  events.add(memory_);
  events.add(tensor_);
  watch_.subscribe(events);
  if (options_.memory) events.add(bounds_);
  if (options_.memory) events.add(foreign_local_);
  if (options_.race) events.add(one_store_);
  if (options_.race) events.add(lockstep_);
}

void ClusterChecker::on(const Access& a) {
  reporter_.begin_event();
  // A strong access of memory that others write can see different values in other schedules, if it looks.
  if (a.kind == Access::Kind::atomic) {
    const bool gives = std::get_if<isa::Atomic>(a.origin.effect)->dst >= 0;
    timing_dependent_ |= gives && ledger_.mbarriers().result_used(a.origin.pc);
  } else if (a.order != isa::Order::weak && a.kind != Access::Kind::write) {
    timing_dependent_ = true;
  }
}

void ClusterChecker::on(const MbarrierEvent& e) {
  // A wait whose result no instruction reads orders nothing, whatever it returned here.
  using A = isa::MbarrierAction;
  const bool waits = e.action == A::test_wait || e.action == A::try_wait;
  if (!waits || !options_.barrier || ledger_.mbarriers().result_used(e.origin.pc)) order_.mbarrier(e);
}

void ClusterChecker::on(const CtaBarrierEvent& e) { generations_ += static_cast<uint64_t>(e.completed); }
void ClusterChecker::on(const ClusterBarrierEvent& e) { generations_ += static_cast<uint64_t>(e.completed); }

void ClusterChecker::on(const AsyncIssue& e) {
  const Origin& origin = e.origin;
  ++async_operations_;
  const std::shared_ptr<AsyncRecord> op = order_.record(e.id);
  op->issuer = origin;
  op->occurrence = reporter_.occurrence(origin.cta_rank, origin.warp, origin.pc);
  op->name = e.name;
  op->family = e.family;
  op->group = e.group;
  op->async_proxy = context_.run.program->footprints[origin.pc].uses(isa::Proxy::async);
  op->reduces = e.reduces;
  op->lane_exact = e.family == isa::AsyncFamily::cp_async || e.family == isa::AsyncFamily::remote_store;
  op->layout = e.layout;
  op->operands = operands_of(e);
  op->mbarriers.assign(e.mbarriers.begin(), e.mbarriers.end());
  if (op->is_tensor()) op->pipeline = pipeline_of(e);
  order_.issued(origin, op);
  if (op->is_tensor()) tensor_.issued(e, op);
  memory_.issued(e, op, order_.issuers_view(origin, *op));
  if (!e.mbarriers.empty()) order_.step(order_.index(origin));
}

void ClusterChecker::judge_global(GlobalMemoryChecks& global) {
  global_races_.use(global.records());
  global.judge(memory_.log(), order_, global_races_);
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
  c.copies.insert(one_store_.copies().begin(), one_store_.copies().end());
  if (f.reason && !c.unforced_reason) c.unforced_reason = f.reason;
}

}  // namespace palladion::sim::check
