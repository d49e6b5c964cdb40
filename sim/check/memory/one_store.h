#pragma once
// Lanes of one store, or of one cp.async, that write different values to one address: PTX leaves open which
// of them stays.
#include <set>

#include "sim/check/core/context.h"

namespace palladion::sim::check {

class OneStore {
 public:
  explicit OneStore(const ClusterContext& context) : context_(context) {}
  void on(const Access& a);
  void on(const AsyncIssue& e);
  // Stores by which lanes wrote one value to one address, with these data.
  const std::set<Pc>& copies() const { return copies_; }

 private:
  void report(const Access& a, uint32_t first, uint32_t second);

  const ClusterContext& context_;
  std::set<Pc> copies_;
};

}  // namespace palladion::sim::check
