#pragma once
// The bytes of global memory that a launch touches, as the machine observes them.
#include <memory>
#include <vector>

#include "cuda/order/ranges.h"
#include "sim/launch/observer.h"

namespace palladion::cuda::driver {

class Footprint final : public sim::Observer {
 public:
  Footprint();
  ~Footprint() override;

  void start(const sim::RunView& run) override;
  void observe(sim::ClusterState& cluster, sim::ClusterEvents& events) override;
  bool watches(sim::Pc pc) const override;
  void retire(sim::ClusterState& cluster) override;

  // By threads for which griddepcontrol.wait has returned, or which are synchronised behind one for which it
  // has; and by the others.
  order::Touched waited, early;
  bool waits = false, triggers = false;  // one executes griddepcontrol.wait, .launch_dependents
  bool triggers_early = false;           // before it waits

 private:
  class Part;  // of a cluster
  const sim::Program* program_ = nullptr;
  bool has_control_ = false;  // the kernel contains griddepcontrol
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace palladion::cuda::driver
