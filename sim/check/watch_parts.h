#pragma once
// All checks of decisions, registers, descriptors and numbers as one part: which instructions of a program
// they watch, and which checks an option turns on.
#include "sim/check/core/options.h"
#include "sim/check/numerics/numerics.h"
#include "sim/check/numerics/numerics_order.h"
#include "sim/check/numerics/numerics_wgmma.h"
#include "sim/check/order/lane_views.h"
#include "sim/check/protocol/bypass.h"
#include "sim/check/registers/absent_lanes.h"
#include "sim/check/registers/descriptors.h"
#include "sim/check/registers/registers.h"
#include "sim/check/registers/tensor_loads.h"
#include "sim/check/registers/wgmma_registers.h"

namespace palladion::sim::check {

struct WatchAnalysis {
  explicit WatchAnalysis(const Program& program);
  bool watches(Pc pc, const Options& options) const;

  WgmmaAnalysis wgmma;
  TensorLoadAnalysis tensor_loads;
  UnwrittenAnalysis unwritten;
  AbsentLanesAnalysis absent;
  NumericsAnalysis numerics;
  BypassAnalysis bypass;
  std::vector<bool> meetings;  // by pc: lanes meet there
  RareProxies proxies;
};

// Lanes that go around what needs the whole warp belong to `barrier`, registers of wgmma and tcgen05.ld to
// `race`; unwritten registers, values of absent lanes, descriptors and the register pool to `memory`.
class WatchParts {
 public:
  WatchParts(const ClusterContext& context, const WatchAnalysis& analysis, const Options& options,
             HappensBefore* order = nullptr);

  // Adds those parts that the options turn on.
  void subscribe(ClusterEvents& events);
  void deadlocked();
  // Called when the cluster retires; clusters retire one after the other.
  void retired(SumsOfRun& sums);

 private:
  Options options_;
  Bypass bypass_;
  WgmmaRegisters wgmma_;
  TensorLoadRegisters tensor_loads_;
  UnwrittenRegisters unwritten_;
  AbsentLanes absent_;
  RegisterPool pool_;
  Descriptors descriptors_;
  Numerics numerics_;
  WgmmaNumerics wgmma_numerics_;
  OrderedSums sums_;
};

}  // namespace palladion::sim::check
