#include "sim/check/protocol/ledger.h"

#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {

Ledger::Ledger(const ClusterContext& context)
    : context_(context),
      causality_(context.run.launch->warps_per_cta(),
                 static_cast<uint32_t>(context.run.launch->cluster.count())),
      protocol_{context_, causality_},
      mbarriers_(protocol_),
      named_(protocol_),
      cluster_barriers_(protocol_),
      lifetime_(protocol_),
      tensor_columns_(protocol_) {
  mbarriers_.on_observed([this](std::vector<uint64_t>& ids, CtaRank cta_rank, const Point& now) {
    lifetime_.observed(ids, cta_rank, now);
  });
}

void Ledger::subscribe(ClusterEvents& events) {
  events.add(lifetime_);
  events.add(mbarriers_);
  events.add(named_);
  events.add(cluster_barriers_);
  events.add(tensor_columns_);
}

}  // namespace palladion::sim::check
