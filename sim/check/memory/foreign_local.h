#pragma once
// Generic addresses of local memory that another thread made.
#include "sim/check/core/context.h"

namespace palladion::sim::check {

class ForeignLocal {
 public:
  explicit ForeignLocal(const ClusterContext& context) : context_(context) {}
  void on(const Access& a);

 private:
  const ClusterContext& context_;
};

}  // namespace palladion::sim::check
