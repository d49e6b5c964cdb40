#include "sim/check/memory/lockstep.h"

#include <algorithm>
#include <bit>

#include "sim/check/order/meetings.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

constexpr uint64_t word_bytes = 4;

bool is_volatile(const isa::Effect& e) {
  const auto* const load = std::get_if<isa::Load>(&e);
  const auto* const store = std::get_if<isa::Store>(&e);
  return (load != nullptr && load->order == isa::Order::volatile_) ||
         (store != nullptr && store->order == isa::Order::volatile_);
}

}  // namespace

Lockstep::Lockstep(const ClusterContext& context) : context_(context) {
  for (const MicroOp& op : context.run.program->code)
    used_ |= op.effect != nullptr && is_volatile(*op.effect);
}

Lockstep::Warp& Lockstep::warp_of(const Origin& origin) {
  const size_t per_cta = context_.run.launch->warps_per_cta();
  if (warps_.empty()) warps_.resize(context_.cluster.ctas.size() * per_cta);
  return warps_[origin.cta_rank * per_cta + origin.warp];
}

void Lockstep::on(const Executed& e) {
  if (e.origin.effect != nullptr && lanes_meet(*e.origin.effect)) met(e.origin);
}

void Lockstep::met(const Origin& origin) {
  if (!used_) return;
  Warp& warp = warp_of(origin);
  if (warp.words.empty()) return;
  const uint32_t alive = context_.cluster.ctas[origin.cta_rank].warps[origin.warp].alive;
  warp.meetings.push_back(origin.lanes);
  if ((alive & ~origin.lanes) != 0 && warp.meetings.size() < most_meetings) return;
  warp.words.clear();
  warp.meetings.clear();
}

uint32_t Lockstep::unmet(const Warp& warp, const Last& last, const Origin& now, Lane lane) {
  if (last.lanes == 0 || last.origin.pc == now.pc) return 0;
  uint32_t others = last.lanes & ~(1U << lane);
  if ((last.origin.lanes >> lane & 1) == 0) others &= now.lanes;  // they execute one of the two together
  for (size_t k = last.meetings; k < warp.meetings.size(); ++k)
    if ((warp.meetings[k] >> lane & 1) != 0) others &= ~warp.meetings[k];
  return others;
}

void Lockstep::on(const Access& a) {
  if (!used_ || a.order != isa::Order::volatile_ || a.kind == Access::Kind::atomic) return;
  Warp& warp = warp_of(a.origin);
  const bool writes = a.kind == Access::Kind::write;
  uint64_t known = 0;
  Word* word_there = nullptr;  // at `known`: lanes often share a word
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    const isa::Space space = space_of(a.space, a.addresses[lane]);
    if (space != isa::Space::global && !is_shared(space)) continue;
    for (uint64_t at = a.addresses[lane] / word_bytes; at * word_bytes < a.addresses[lane] + a.size; ++at) {
      if (word_there == nullptr || at != known) word_there = &warp.words[at], known = at;
      Word& word = *word_there;
      if (const uint32_t other = unmet(warp, word.write, a.origin, lane); other != 0)
        report(a, lane, word.write, other, true);
      else if (const uint32_t reader = unmet(warp, word.read, a.origin, lane); writes && reader != 0)
        report(a, lane, word.read, reader, false);
      Last& last = writes ? word.write : word.read;
      if (last.origin.pc != a.origin.pc || last.meetings != warp.meetings.size())
        last = {a.origin, 0, warp.meetings.size()};
      last.lanes |= 1U << lane;
    }
  }
}

void Lockstep::report(const Access& now, Lane lane, const Last& last, uint32_t other, bool wrote) {
  const FindingKey key{Code::lockstep_assumed, now.origin.pc, last.origin.pc, 0};
  if (context_.reporter.seen(key, now.origin)) return;
  const uint64_t address = now.addresses[lane];
  Finding f;
  f.severity = FindingSeverity::strict;
  f.object = space_of(now.space, address) == isa::Space::global
                 ? global_object(context_.run, address, now.size)
                 : shared_object(context_.run, context_.cluster, SharedAddress(address), now.size);
  Origin later = now.origin, earlier = last.origin;
  later.lanes = 1U << lane;
  earlier.lanes = other & (0 - other);
  const bool writes = now.kind == Access::Kind::write;
  f.sites.push_back(context_.reporter.site(later, writes ? Does::writes : Does::reads));
  f.sites.push_back(
      context_.reporter.site(earlier, Part{.does = wrote ? Does::writes : Does::reads, .earlier = true}));
  f.missing = say<Phrase::no_warp_sync>();
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
