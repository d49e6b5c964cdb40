#include "sim/check/watch_parts.h"

namespace palladion::sim::check {

bool WatchAnalysis::watches(uint32_t pc, const Options& o) const {
  return (o.race && wgmma.watches(pc)) || (o.memory && unwritten.watches(pc)) ||
         (o.numerics && numerics.watches(pc));
}

WatchParts::WatchParts(const ClusterContext& context, const WatchAnalysis& analysis, const Options& options)
    : options_(options),
      wgmma_(context, analysis.wgmma),
      unwritten_(context, analysis.unwritten),
      pool_(context),
      descriptors_(context),
      numerics_(context, analysis.numerics),
      wgmma_numerics_(context),
      sums_(context) {}

void WatchParts::reached(const Origin& who) {
  if (options_.memory) unwritten_.reached(who);
}

void WatchParts::executes(const Origin& who) {
  if (options_.race) wgmma_.executes(who);
  if (options_.memory) unwritten_.executes(who);
  if (options_.numerics) numerics_.executes(who);
}

void WatchParts::executed(const Origin& who) {
  if (options_.numerics) numerics_.executed(who);
}

void WatchParts::accessed(const Origin& who, const Access& a) {
  if (options_.numerics) sums_.accessed(who, a);
}

void WatchParts::fenced(const Origin& who) {
  if (options_.race) wgmma_.fenced(who);
}

void WatchParts::issued(const Origin& who, const AsyncIssue& e) {
  if (options_.memory) descriptors_.issued(who, e);
  if (!options_.numerics) return;
  wgmma_numerics_.issued(who, e);
  sums_.issued(who, e);
}

void WatchParts::joined(const Origin& who, uint64_t id) {
  if (options_.race) wgmma_.joined(who, id);
  if (options_.memory) descriptors_.joined(who, id);
  if (options_.numerics) wgmma_numerics_.joined(who, id);
}

void WatchParts::async_landed(uint64_t id) {
  if (options_.numerics) wgmma_numerics_.async_landed(id);
}

void WatchParts::committed(const Origin& who, GroupKind kind) {
  if (options_.race) wgmma_.committed(who, kind);
}

void WatchParts::waited(const Origin& who, GroupKind kind, uint64_t allowed, bool read_only) {
  if (options_.race) wgmma_.waited(who, kind, allowed, read_only);
}

void WatchParts::registers_set(const Origin& who, uint32_t before, uint32_t after) {
  if (options_.memory) pool_.registers_set(who, before, after);
}

void WatchParts::ended() {
  if (options_.race) wgmma_.ended();
}

void WatchParts::deadlocked() {
  if (options_.race) wgmma_.deadlocked();
}

void WatchParts::retired(SumsOfRun& sums) {
  if (options_.numerics) sums.merge(sums_);
}

}  // namespace palladion::sim::check
