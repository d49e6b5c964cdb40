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
      lifetime_(protocol_) {
  mbarriers_.on_observed([this](std::vector<uint64_t>& ids, uint32_t cta_rank, uint32_t warp) {
    lifetime_.observed(ids, cta_rank, warp);
  });
}

void Ledger::accessed(const Origin& who, const Access& a) {
  mbarriers_.accessed(who, a);
  lifetime_.accessed(who, a);
}

void Ledger::mbarrier(const Origin& who, const MbarrierEvent& e) {
  lifetime_.mbarrier(who, e);
  mbarriers_.mbarrier(who, e);
}

void Ledger::cta_barrier(const Origin& who, const CtaBarrierEvent& e) { named_.cta_barrier(who, e); }

void Ledger::cluster_barrier(const Origin& who, const ClusterBarrierEvent& e) {
  cluster_barriers_.cluster_barrier(who, e);
}

void Ledger::issued(const Origin& who, const AsyncIssue& e) {
  lifetime_.issued(who, e);
  mbarriers_.issued(who, e);
}

void Ledger::async_landed(uint64_t id) { lifetime_.async_landed(id); }
void Ledger::committed(const Origin& who, GroupKind kind) { lifetime_.committed(who, kind); }

void Ledger::waited(const Origin& who, GroupKind kind, uint64_t allowed, bool read_only) {
  lifetime_.waited(who, kind, allowed, read_only);
}

void Ledger::registers_set(const Origin& who, uint32_t before, uint32_t after) {
  lifetime_.registers_set(who, before, after);
}

void Ledger::exited(const Origin& who) { lifetime_.exited(who); }
void Ledger::ended() { mbarriers_.ended(); }

}  // namespace palladion::sim::check
