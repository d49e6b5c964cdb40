#pragma once
// NU-04: sums of floats whose order is not fixed. Atomics and reductions of floats by several warps on one
// address are no race, but floating-point addition is not associative: results differ from run to run.
#include <map>
#include <set>
#include <unordered_map>

#include "sim/check/core/context.h"

namespace palladion::sim::check {

// The sums of one cluster.
class OrderedSums {
 public:
  explicit OrderedSums(const ClusterContext& context) : context_(context) {}

  void on(const Access& a);
  void on(const AsyncIssue& e);

 private:
  friend class SumsOfRun;
  // The first to add to an address; global addresses, and shared ones with the window's bits.
  struct Adder {
    Pc pc;
    CtaRank cta_rank;
    WarpOfCta warp;
  };
  static constexpr size_t limit = 1U << 20;  // addresses that are recorded

  void add(const Origin& origin, uint64_t address);
  Origin origin_of(const Adder& a) const;
  Object object(const Origin& origin, uint64_t address) const;
  void report(const Origin& origin, Site other, uint64_t address);

  const ClusterContext& context_;
  std::unordered_map<uint64_t, Adder> adders_;
  std::set<uint32_t> reported_;  // pcs of findings
};

// The sums of all clusters, merged one cluster after the other when it retires.
class SumsOfRun {
 public:
  // Reports through the cluster's own reporter what it shares with clusters before it.
  void merge(OrderedSums& sums);

 private:
  std::unordered_map<uint64_t, size_t> sites_of_;  // by global address: index into sites_
  std::vector<Site> sites_;
  std::set<uint32_t> reported_;
};

}  // namespace palladion::sim::check
