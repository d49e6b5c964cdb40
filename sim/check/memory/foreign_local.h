#pragma once
// Generic addresses of local memory: made by another thread, or used by atomics.
#include "sim/check/core/context.h"

namespace palladion::sim::check {

class ForeignLocal {
 public:
  explicit ForeignLocal(const ClusterContext& context) : context_(context) {}
  void on(const Access& a);

 private:
  void report_atomic(const Access& a, uint32_t lanes);

  const ClusterContext& context_;
};

}  // namespace palladion::sim::check
