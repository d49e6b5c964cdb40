#include "sim/check/watch_parts.h"

#include <algorithm>

#include "isa/core/footprint.h"
#include "sim/program/program.h"

namespace palladion::sim::check {
namespace {

bool uses_tensor_memory(const Program& program) {
  return std::ranges::any_of(program.footprints, [](const isa::Footprint& f) {
    return f.at(isa::Sync::Object::tensor_memory) || f.reads(isa::Space::tensor) ||
           f.writes(isa::Space::tensor);
  });
}

bool fences_tensor_maps(const Program& program) {
  return std::ranges::any_of(program.code, [](const MicroOp& op) {
    const auto* const f = op.effect == nullptr ? nullptr : std::get_if<isa::Fence>(op.effect);
    return f != nullptr && (f->copy_from >= 0 || f->to == isa::Proxy::tensormap);
  });
}

RareProxies rare_proxies(const Program& program) {
  return {.tensor_memory = uses_tensor_memory(program), .tensormap = fences_tensor_maps(program)};
}

}  // namespace

WatchAnalysis::WatchAnalysis(const Program& program)
    : wgmma(program),
      tensor_loads(program),
      unwritten(program),
      absent(program),
      numerics(program),
      bypass(program),
      proxies(rare_proxies(program)) {
  for (const MicroOp& op : program.code) meetings.push_back(op.effect != nullptr && lanes_meet(*op.effect));
}

bool WatchAnalysis::watches(Pc pc, const Options& o) const {
  return (o.barrier && bypass.decides(pc)) || (o.race && (wgmma.watches(pc) || tensor_loads.watches(pc))) ||
         ((o.race || o.barrier) && meetings[pc]) ||
         (o.memory && (unwritten.watches(pc) || absent.watches(pc))) || (o.numerics && numerics.watches(pc));
}

WatchParts::WatchParts(const ClusterContext& context, const WatchAnalysis& analysis, const Options& options,
                       HappensBefore* order)
    : options_(options),
      bypass_(context, analysis.bypass),
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
  if (options_.barrier) events.add(bypass_);
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
