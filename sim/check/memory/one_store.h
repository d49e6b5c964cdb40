#pragma once
// Lanes of one store that write different values to one address: PTX leaves open which of them stays.
#include "sim/check/core/context.h"

namespace palladion::sim::check {

class OneStore {
 public:
  explicit OneStore(const ClusterContext& context) : context_(context) {}
  void on(const Access& a);

 private:
  void report(const Access& a, uint32_t first, uint32_t second);

  const ClusterContext& context_;
};

}  // namespace palladion::sim::check
