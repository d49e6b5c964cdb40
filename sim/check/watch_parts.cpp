#include "sim/check/watch_parts.h"

namespace palladion::sim::check {

WatchAnalysis::WatchAnalysis(const Program& program)
    : wgmma(program), tensor_loads(program), unwritten(program), absent(program), numerics(program) {
  for (const MicroOp& op : program.code) meetings.push_back(op.effect != nullptr && lanes_meet(*op.effect));
}

bool WatchAnalysis::watches(uint32_t pc, const Options& o) const {
  return (o.race && (wgmma.watches(pc) || tensor_loads.watches(pc) || meetings[pc])) ||
         (o.memory && (unwritten.watches(pc) || absent.watches(pc))) || (o.numerics && numerics.watches(pc));
}

WatchParts::WatchParts(const ClusterContext& context, const WatchAnalysis& analysis, const Options& options,
                       HappensBefore* order)
    : options_(options),
      wgmma_(context, analysis.wgmma),
      tensor_loads_(context, analysis.tensor_loads, order),
      unwritten_(context, analysis.unwritten),
      absent_(context, analysis.absent),
      pool_(context),
      descriptors_(context),
      numerics_(context, analysis.numerics),
      wgmma_numerics_(context),
      sums_(context) {}

void WatchParts::subscribe(ClusterEvents& events) {
  if (options_.race) {
    events.add(wgmma_);
    events.add(tensor_loads_);
  }
  if (options_.memory) {
    events.add(unwritten_);
    events.add(absent_);
    events.add(pool_);
    events.add(descriptors_);
  }
  if (options_.numerics) {
    events.add(numerics_);
    events.add(wgmma_numerics_);
    events.add(sums_);
  }
}

void WatchParts::deadlocked() {
  if (options_.race) wgmma_.deadlocked();
}

void WatchParts::retired(SumsOfRun& sums) {
  if (options_.numerics) sums.merge(sums_);
}

}  // namespace palladion::sim::check
