#pragma once
// The state of all protocol checks of one cluster: barriers, groups, lifetimes. The Reporter is subscribed
// before it.
#include "sim/check/protocol/cluster_barriers.h"
#include "sim/check/protocol/lifetime.h"
#include "sim/check/protocol/mbarrier.h"
#include "sim/check/protocol/named_barriers.h"
#include "sim/check/protocol/tensor_columns.h"

namespace palladion::sim::check {

class Ledger {
 public:
  explicit Ledger(const ClusterContext& context);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  void subscribe(ClusterEvents& events);

  const ClusterContext& context() const { return context_; }
  const Causality& causality() const { return causality_; }
  const MbarrierLedger& mbarriers() const { return mbarriers_; }
  const NamedBarriers& named() const { return named_; }
  const ClusterBarriers& cluster_barriers() const { return cluster_barriers_; }
  const Lifetime& lifetime() const { return lifetime_; }

 private:
  const ClusterContext context_;
  Causality causality_;
  const Protocol protocol_;
  MbarrierLedger mbarriers_;
  NamedBarriers named_;
  ClusterBarriers cluster_barriers_;
  Lifetime lifetime_;
  TensorColumns tensor_columns_;
};

}  // namespace palladion::sim::check
