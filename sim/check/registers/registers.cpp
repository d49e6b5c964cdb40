#include "sim/check/registers/registers.h"

#include <utility>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

using Sink = UnwrittenAnalysis::Sink;
using Rule = UnwrittenAnalysis::Rule;

}  // namespace

Does does_with(Sink sink) {
  switch (sink) {
    case Sink::address:
      return Does::uses_as_address;
    case Sink::guard:
      return Does::uses_as_guard;
    case Sink::operand:
      return Does::uses;
    case Sink::matrix:
      return Does::multiplies;
    case Sink::accumulator:
      return Does::accumulates;
    case Sink::data:
      return Does::stores;
  }
  return Does::uses;
}

UnwrittenRegisters::UnwrittenRegisters(const ClusterContext& context, const UnwrittenAnalysis& analysis)
    : context_(context), analysis_(analysis), warps_(context.run.launch->warps_per_cta()) {}

UnwrittenRegisters::Lanes& UnwrittenRegisters::lanes_of(const Origin& origin) {
  if (unwritten_.empty()) unwritten_.resize(context_.cluster.ctas.size() * warps_);
  Lanes& lanes = unwritten_[origin.cta_rank * warps_ + origin.warp];
  if (lanes.empty()) lanes.assign(analysis_.tracked(), ~0U);
  return lanes;
}

void UnwrittenRegisters::on(const Reached& event) {
  const Origin& origin = event.origin;
  if (!analysis_.watches(origin.pc)) return;
  const Lanes& unwritten = lanes_of(origin);
  for (const auto& use : analysis_.watched(origin.pc).sinks)
    if (use.sink == Sink::guard && (unwritten[use.tracked] & origin.lanes) != 0)
      report(origin, use, unwritten[use.tracked] & origin.lanes);
}

void UnwrittenRegisters::on(const Executing& event) {
  const Origin& origin = event.origin;
  if (!analysis_.watches(origin.pc)) return;
  Lanes& unwritten = lanes_of(origin);
  const Watched& w = analysis_.watched(origin.pc);
  judge(origin, w, unwritten);
  const uint32_t passed = passed_on(origin, w, unwritten);
  for (const uint32_t d : w.destinations)
    unwritten[d] = (unwritten[d] & ~origin.lanes) | (passed & origin.lanes);
}

void UnwrittenRegisters::judge(const Origin& origin, const Watched& w, const Lanes& unwritten) {
  bool reported = false;  // of the accumulators: one for all registers
  for (const auto& use : w.sinks) {
    uint32_t lanes = unwritten[use.tracked] & origin.lanes;
    if (use.sink == Sink::address) lanes &= w.address_lanes;
    if (lanes == 0 || use.sink == Sink::guard) continue;
    if (use.sink == Sink::accumulator && (!accumulates(origin) || std::exchange(reported, true))) continue;
    report(origin, use, lanes);
  }
}

// The lanes whose result is as good as unwritten.
uint32_t UnwrittenRegisters::passed_on(const Origin& origin, const Watched& w, const Lanes& unwritten) const {
  if (w.rule == Rule::ends || w.sources.empty()) return 0;
  if (w.rule == Rule::select) {
    const auto lanes = [&](uint32_t tracked) {
      return tracked == UnwrittenAnalysis::none ? 0 : unwritten[tracked];
    };
    const uint32_t c = predicate(origin, 3);
    return lanes(w.selector) | (lanes(w.selected[0]) & c) | (lanes(w.selected[1]) & ~c);
  }
  uint32_t any = 0, all = ~0U;
  for (const uint32_t s : w.sources) {
    any |= unwritten[s];
    all &= unwritten[s];
  }
  if (w.rule == Rule::any) return any;
  return w.sources.size() == w.source_count ? all : 0;
}

uint32_t UnwrittenRegisters::predicate(const Origin& origin, int operand) const {
  const Program& p = *context_.run.program;
  const DecodedOperand& o = p.code[origin.pc].operands[operand];
  const uint8_t* block = o.slot.constant
                             ? p.constants.data()
                             : context_.cluster.ctas[origin.cta_rank].warps[origin.warp].registers.data();
  uint32_t value;
  std::memcpy(&value, block + o.slot.offset, sizeof value);
  return o.negated ? ~value : value;
}

bool UnwrittenRegisters::accumulates(const Origin& origin) const {
  const auto& wgmma = std::get<isa::Wgmma>(*origin.effect);
  if (wgmma.scale_d < 0) return true;
  const DecodedOperand& o = context_.run.program->code[origin.pc].operands[wgmma.scale_d];
  return o.width == 1 ? (predicate(origin, wgmma.scale_d) & origin.lanes) != 0 : o.offset != 0;
}

void UnwrittenRegisters::report(const Origin& origin, const UnwrittenAnalysis::Use& use, uint32_t lanes) {
  const bool accumulator = use.sink == Sink::accumulator;
  const FindingKey key{accumulator ? Code::uninitialised_accumulator : Code::uninitialised_value, origin.pc,
                       ~0U, 0};
  if (context_.reporter.seen(key, origin)) return;
  const uint32_t reg = analysis_.register_at(use.tracked);
  const std::string name = register_name(*context_.run.program, reg);
  Origin at = origin;
  at.lanes = lanes;
  Finding f;
  f.severity = use.sink == Sink::data ? FindingSeverity::strict : FindingSeverity::error;
  f.message = say<Phrase::unwritten_register>(name);
  f.sites.push_back(context_.reporter.site(at, does_with(use.sink)));
  f.object = register_object(*context_.run.program, reg, origin.warp);
  f.missing = say<Phrase::no_write_on_the_way>(WarpLanes{.warp = origin.warp, .lanes = lanes}, name);
  if (!accumulator) {
    f.rule = "Register State Space";
    f.help = say<Phrase::write_on_every_way>();
  }
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
