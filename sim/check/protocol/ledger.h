#pragma once
// Everything that the protocol checks know of one cluster: barriers, groups, lifetimes. Has those
// methods of ClusterObserver that it needs; the Reporter is told of each event first.
#include "sim/check/protocol/cluster_barriers.h"
#include "sim/check/protocol/lifetime.h"
#include "sim/check/protocol/mbarrier.h"
#include "sim/check/protocol/named_barriers.h"

namespace palladion::sim::check {

class Ledger {
 public:
  explicit Ledger(const ClusterContext& context);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  void accessed(const Origin& who, const Access& a);
  void mbarrier(const Origin& who, const MbarrierEvent& e);
  void cta_barrier(const Origin& who, const CtaBarrierEvent& e);
  void cluster_barrier(const Origin& who, const ClusterBarrierEvent& e);
  void issued(const Origin& who, const AsyncIssue& e);
  void async_landed(uint64_t id);
  void committed(const Origin& who, GroupKind kind);
  void waited(const Origin& who, GroupKind kind, uint64_t allowed, bool read_only);
  void registers_set(const Origin& who, uint32_t before, uint32_t after);
  void exited(const Origin& who);
  void ended();

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
};

}  // namespace palladion::sim::check
