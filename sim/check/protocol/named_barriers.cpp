#include "sim/check/protocol/named_barriers.h"

#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {
namespace {

constexpr size_t generations_kept = 8;  // warps may pass late, while others are generations ahead

isa::BarrierAction action_of(const Origin& origin) {
  const auto* e = origin.effect == nullptr ? nullptr : std::get_if<isa::CtaBarrier>(origin.effect);
  return e == nullptr ? isa::BarrierAction::sync : e->action;
}

Object barrier_object(uint32_t id) { return {.kind = Object::Kind::barrier, .number = id}; }

bool reduces(isa::BarrierAction a) {
  return a != isa::BarrierAction::sync && a != isa::BarrierAction::arrive;
}

}  // namespace

const BarrierGeneration* NamedBarrierRecord::current(uint64_t number) const {
  for (const BarrierGeneration& g : generations)
    if (g.number == number) return &g;
  return nullptr;
}

BarrierGeneration& NamedBarriers::generation(NamedBarrierRecord& r, uint64_t number) {
  for (BarrierGeneration& g : r.generations)
    if (g.number == number) return g;
  if (r.generations.size() >= generations_kept) {
    BarrierGeneration recycled = std::move(r.generations.front());
    r.generations.pop_front();
    recycled.arrivals.clear();
    recycled.clock.assign(recycled.clock.size(), 0);
    r.generations.push_back(std::move(recycled));
  } else {
    r.generations.emplace_back();
  }
  r.generations.back().number = number;
  return r.generations.back();
}

void NamedBarriers::on(const CtaBarrierEvent& e) {
  const Origin& origin = e.origin;
  if (e.id >= 16) return;
  NamedBarrierRecord& r = records_[origin.cta_rank][e.id];
  BarrierGeneration& g = generation(r, e.generation);
  const WarpOfCluster warp = p_.causality.index(origin);
  if (e.step == CtaBarrierEvent::Step::pass) {
    p_.causality.acquire(warp, g.clock);
    return;
  }
  check_twice(g, origin, e.id);
  check_mixed(g, origin, e.id);
  check_count(e);
  if (e.generation > 0)
    if (const BarrierGeneration* last = r.current(e.generation - 1)) check_recycled(*last, origin, e.id);
  g.arrivals.push_back({origin, p_.nth(origin), p_.now(origin)});
  r.arrivers.try_emplace(uint64_t{warp} << 32 | origin.pc, origin);
  p_.causality.release(p_.now(origin), g.clock);
}

void NamedBarriers::check_twice(const BarrierGeneration& g, const Origin& origin, uint32_t id) {
  for (const BarrierArrival& a : g.arrivals) {
    if (a.origin.warp != origin.warp || (a.origin.lanes & origin.lanes) == 0) continue;
    const FindingKey key{Code::repeated_barrier_arrival, origin.pc, a.origin.pc, id};
    if (p_.reporter().seen(key, origin)) return;
    Finding f;
    f.message = say<Phrase::second_arrival>(origin.warp, id);
    f.object = barrier_object(id);
    f.sites = {p_.reporter().site(origin, Does::arrives),
               p_.reporter().site(a.origin, Part{.does = Does::arrives, .earlier = true})};
    f.missing = say<Phrase::no_wait_for_completion>();
    f.help = say<Phrase::one_arrival_a_round>();
    p_.reporter().report(key, std::move(f));
    return;
  }
}

// An arrival must be ordered after the completion of the last generation, or it may count for that
// generation.
void NamedBarriers::check_recycled(const BarrierGeneration& last, const Origin& origin, uint32_t id) {
  const WarpOfCluster warp = p_.causality.index(origin);
  const BarrierArrival* unknown = nullptr;
  bool took_part = false;
  for (const BarrierArrival& a : last.arrivals) {
    const WarpOfCluster other = p_.causality.index(a.origin);
    took_part |= other == warp;
    if (unknown == nullptr && !p_.causality.knows(warp, a.point) && !p_.context.order.before(a.point, origin))
      unknown = &a;
  }
  if (unknown == nullptr) return;
  const FindingKey key{took_part ? Code::repeated_barrier_arrival : Code::barrier_of_two_groups, origin.pc,
                       unknown->origin.pc, id};
  if (p_.reporter().seen(key, origin)) return;
  Finding f;
  f.message = took_part ? say<Phrase::early_arrival>(origin.warp, id) : say<Phrase::two_groups>(id);
  f.object = barrier_object(id);
  f.sites = {p_.reporter().site(origin, Does::arrives),
             p_.reporter().site(unknown->origin, Part{.does = Does::arrives, .earlier = true})};
  f.missing = say<Phrase::no_order_after_round>();
  if (took_part) f.help = say<Phrase::wait_before_next_round>();
  p_.reporter().report(key, std::move(f));
}

void NamedBarriers::check_count(const CtaBarrierEvent& e) {
  const Origin& origin = e.origin;
  const auto* form = origin.effect == nullptr ? nullptr : std::get_if<isa::CtaBarrier>(origin.effect);
  if (form == nullptr || form->action != isa::BarrierAction::arrive || e.threads != 0) return;
  const FindingKey key{Code::invalid_barrier_count, origin.pc, ~0U, e.id};
  if (p_.reporter().seen(key, origin)) return;
  Finding f;
  f.message = say<Phrase::arrive_with_count_0>(e.id);
  f.object = barrier_object(e.id);
  f.sites = {p_.reporter().site(origin, Does::arrives)};
  p_.reporter().report(key, std::move(f));
}

void NamedBarriers::check_mixed(const BarrierGeneration& g, const Origin& origin, uint32_t id) {
  const bool reduction = reduces(action_of(origin));
  for (const BarrierArrival& a : g.arrivals) {
    if (reduces(action_of(a.origin)) == reduction) continue;
    const FindingKey key{Code::mixed_barrier_operations, origin.pc, a.origin.pc, id};
    if (p_.reporter().seen(key, origin)) return;
    Finding f;
    f.message = say<Phrase::reduction_and_sync>(id);
    f.object = barrier_object(id);
    f.sites = {p_.reporter().site(origin, Does::arrives),
               p_.reporter().site(a.origin, Part{.does = Does::arrives, .earlier = true})};
    p_.reporter().report(key, std::move(f));
    return;
  }
}

}  // namespace palladion::sim::check
