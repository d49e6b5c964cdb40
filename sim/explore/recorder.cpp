#include "sim/explore/recorder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/core/footprint.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim::check {
namespace {

constexpr uint32_t warp_threads = 32;

bool mergeable(const RawEvent& a, const RawEvent& b) {
  return a.kind == RawEvent::Kind::op && a.per_lane && b.per_lane && !a.completed &&
         (a.lanes & b.lanes) == 0 && a.op.kind == b.op.kind && a.op.object == b.op.object &&
         a.op.count == b.op.count && a.op.tx == b.op.tx && a.op.drop == b.op.drop &&
         a.op.place == b.op.place && a.id == b.id;
}

// The instruction is for all lanes that are left: a mask in a register has them.
bool is_for_all(const ClusterState& cluster, const Program& program, const Origin& origin, uint32_t alive) {
  const int members = isa::footprint(*origin.effect).members;
  if (members < 0) return true;
  const DecodedOperand& mask = program.code[origin.pc].operands[members];
  if (mask.kind != DecodedOperand::Kind::lanes || mask.slot.constant) return true;
  uint32_t value[warp_threads];
  const WarpState& warp = cluster.ctas[origin.cta_rank].warps[origin.warp];
  std::memcpy(value, warp.registers.data() + mask.slot.offset, sizeof value);
  return (alive & ~value[std::countr_zero(origin.lanes)]) == 0;
}

uint32_t line_of(const Origin& origin) {
  return origin.instruction == nullptr ? 0 : origin.instruction->origin.ptx_line;
}

}  // namespace

bool SkeletonRecorder::watches(const isa::Instruction& instruction, const isa::Effect& effect) {
  const isa::Footprint f = isa::footprint(effect);
  if (f.participants != isa::Participants::warp || !f.at(isa::Sync::Object::none)) return false;
  if (f.members < 0) return true;
  if (static_cast<size_t>(f.members) >= instruction.operands.size()) return false;
  const isa::Operand& mask = instruction.operands[static_cast<size_t>(f.members)];
  return mask.is(isa::Operand::Kind::reg) ||
         (mask.is(isa::Operand::Kind::imm) && static_cast<uint32_t>(mask.bits) == ~0U);
}

void SkeletonRecorder::on(const ClusterBegan&) {
  run_.warps_per_cta = static_cast<uint32_t>(cluster_.ctas[0].warps.size());
  run_.warps.resize(cluster_.ctas.size() * run_.warps_per_cta);
  warps_.resize(run_.warps.size());
  for (const CtaState& cta : cluster_.ctas) {
    for (const WarpState& w : cta.warps) warps_[cta.rank * run_.warps_per_cta + w.id].alive = w.alive;
    const uint32_t pool = object(SyncObject::Kind::registers, cta.rank, 0);
    objects_[pool].initial = cta.free_registers;
  }
}

uint32_t SkeletonRecorder::object(SyncObject::Kind kind, CtaRank rank, uint32_t address) {
  const uint64_t key = uint64_t{rank} << 32 | address;
  const auto [at, is_new] =
      object_index_.try_emplace({static_cast<uint32_t>(kind), key}, static_cast<uint32_t>(objects_.size()));
  if (is_new) objects_.push_back({.kind = kind, .cta_rank = rank, .address = address, .object = {}});
  return at->second;
}

uint32_t SkeletonRecorder::mbarrier_object(SharedAddress address) {
  return object(SyncObject::Kind::mbarrier, CtaRank(address >> cta_rank_shift), address & shared_offset_mask);
}

uint32_t SkeletonRecorder::place(const Origin& origin) {
  const auto [at, is_new] =
      place_index_.try_emplace({index(origin), origin.pc}, static_cast<uint32_t>(places_.size()));
  if (is_new) places_.push_back(origin);
  return at->second;
}

// What was recorded of a cluster with too many events is given back.
bool SkeletonRecorder::full() {
  if (events_ <= limit_) return false;
  if (!run_.warps.empty()) run_ = {};
  deferred_.clear();
  return true;
}

void SkeletonRecorder::froze(uint32_t line, const char* what) { frozen_.insert({line, what}); }

// An instruction that all lanes of the warp execute at once.
void SkeletonRecorder::push_together(const Origin& origin, RawEvent event) {
  together(origin);
  push(origin, std::move(event));
  together(origin);
}

void SkeletonRecorder::push(const Origin& origin, RawEvent event) {
  Warp& w = warps_[index(origin)];
  auto& events = run_.warps[index(origin)];
  event.lanes = origin.lanes;
  event.op.place = place(origin);
  if ((w.failed & origin.lanes) != 0) {
    const bool again = event.op.kind == SyncKind::wait && event.op.parity == w.failed_parity &&
                       event.op.object == mbarrier_object(SharedAddress(w.failed_address));
    if (!again)
      froze(w.failed_line, "a test_wait or try_wait returned false, and its lanes did something else");
    w.failed &= ~origin.lanes;
  }
  if (!events.empty() && mergeable(events.back(), event)) {
    events.back().lanes |= event.lanes;
    events.back().completed = event.completed;
    return;
  }
  ++events_;
  events.push_back(std::move(event));
}

void SkeletonRecorder::together(const Origin& origin) {
  auto& events = run_.warps[index(origin)];
  if (origin.lanes != warps_[index(origin)].alive) return;
  if (events.empty() || events.back().kind == RawEvent::Kind::converged) return;
  ++events_;
  events.push_back({.kind = RawEvent::Kind::converged, .op = {}});
}

void SkeletonRecorder::on(const Executing& event) {
  const Origin& origin = event.origin;
  if (full()) return;
  if (origin.instruction == nullptr || origin.effect == nullptr ||
      !watches(*origin.instruction, *origin.effect))
    return;
  Warp& w = warps_[index(origin)];
  if (!is_for_all(cluster_, program_, origin, w.alive)) return;
  uint32_t& here = w.gathering[origin.pc];
  here |= origin.lanes;
  if ((here & w.alive) != w.alive) return;
  here = 0;
  Origin all = origin;
  all.lanes = w.alive;
  together(all);
}

void SkeletonRecorder::on(const WarpSynced& event) {
  const Origin& origin = event.origin;
  if (full()) return;
  if (origin.lanes == warps_[index(origin)].alive) return together(origin);
  ++events_;
  run_.warps[index(origin)].push_back({.kind = RawEvent::Kind::met, .lanes = origin.lanes, .op = {}});
}

void SkeletonRecorder::on(const Access& access) {
  const Origin& origin = access.origin;
  if (access.order == isa::Order::weak || access.kind == Access::Kind::write) return;
  if (const auto* atomic = origin.effect == nullptr ? nullptr : std::get_if<isa::Atomic>(origin.effect))
    if (atomic->dst < 0 || !used_results_.contain(program_, access.origin.pc)) return;
  froze(line_of(origin), "a strong read of memory gave what it gave in this run");
}

void SkeletonRecorder::on(const MbarrierEvent& e) {
  if (full()) return;
  using A = isa::MbarrierAction;
  if (e.async_id != 0) {
    const auto deferred = deferred_.find(e.async_id);
    if (deferred == deferred_.end()) return;
    const auto [warp, at] = deferred->second;
    run_.warps[warp][at].op.object = mbarrier_object(e.address);
    run_.signals[e.async_id].front().object = mbarrier_object(e.address);
    deferred_.erase(deferred);
    return;
  }
  switch (e.action) {
    case A::init:
    case A::inval:
      push(e.origin, {.op = {.kind = e.action == A::init ? SyncKind::init : SyncKind::inval,
                             .object = mbarrier_object(e.address),
                             .count = e.count,
                             .after = {}}});
      return;
    case A::arrive:
    case A::expect_tx:
    case A::complete_tx:
      return arrival(e);
    case A::test_wait:
    case A::try_wait:
      return wait(e);
    case A::pending_count:
      return;
  }
}

void SkeletonRecorder::arrival(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  if (e.count == 0 && e.tx == 0) return;
  const auto* effect = origin.effect == nullptr ? nullptr : std::get_if<isa::Mbarrier>(origin.effect);
  RawEvent event{.per_lane = true, .completed = e.completed, .op = {}};
  event.op.kind = SyncKind::arrive;
  event.op.drop = effect != nullptr && effect->drop;
  event.op.object = mbarrier_object(e.address);
  event.op.count = e.count;
  event.op.tx = e.tx;
  push(origin, std::move(event));
}

// It orders nothing where the answer is no, and the wait that it could have skipped stands for it: a schedule
// in which the answer is yes is one of those in which that wait finds its phase complete.
void SkeletonRecorder::ask(const MbarrierEvent& e) {
  if (e.succeeded)
    return froze(line_of(e.origin), "a try_wait that asks early returned true, and its lanes skipped a wait");
  Warp& w = warps_[index(e.origin)];
  ++w.questions;
  for (uint32_t lanes = e.origin.lanes; lanes != 0; lanes &= lanes - 1)
    w.asked[{e.origin.pc, static_cast<uint32_t>(std::countr_zero(lanes))}] = {mbarrier_object(e.address),
                                                                              e.parity, w.questions};
}

// The wait is for what was asked for.
void SkeletonRecorder::check_asked(const MbarrierEvent& e) {
  const Warp& w = warps_[index(e.origin)];
  for (uint32_t lanes = e.origin.lanes; lanes != 0; lanes &= lanes - 1) {
    const Warp::Asked* last = nullptr;
    for (const auto& [ask, waits] : program_.early_waits) {
      if (!std::ranges::binary_search(waits, e.origin.pc)) continue;
      const auto at = w.asked.find({ask, static_cast<uint32_t>(std::countr_zero(lanes))});
      if (at != w.asked.end() && (last == nullptr || last->number < at->second.number)) last = &at->second;
    }
    if (last != nullptr && (last->object != mbarrier_object(e.address) || last->parity != e.parity))
      froze(line_of(e.origin), "it awaits another phase than the try_wait whose answer can skip it");
  }
}

void SkeletonRecorder::wait(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  if (program_.early_waits.contains(origin.pc)) return ask(e);
  if (e.succeeded) {
    check_asked(e);
    push(
        origin,
        {.op = {
             .kind = SyncKind::wait, .parity = e.parity, .object = mbarrier_object(e.address), .after = {}}});
    return;
  }
  Warp& w = warps_[index(origin)];
  w.failed = origin.lanes;
  w.failed_address = e.address;
  w.failed_parity = e.parity;
  w.failed_line = line_of(origin);
}

// Every lane arrives for itself.
RawEvent SkeletonRecorder::barrier_arrival(uint32_t object, uint64_t generation, BarrierUse use) {
  const auto [at, is_new] =
      uses_.try_emplace({object, generation}, static_cast<uint32_t>(run_.generations.size()));
  if (is_new) run_.generations.emplace_back();
  BarrierUse& all = run_.generations[at->second];
  all.threads += use.threads;
  all.completed |= use.completed;
  all.expected = use.expected;
  RawEvent event{.per_lane = true, .id = at->second, .op = {}};
  event.op.kind = SyncKind::bar_arrive;
  event.op.object = object;
  event.op.count = 1;
  return event;
}

void SkeletonRecorder::on(const CtaBarrierEvent& e) {
  const Origin& origin = e.origin;
  if (full()) return;
  const auto* effect = origin.effect == nullptr ? nullptr : std::get_if<isa::CtaBarrier>(origin.effect);
  const bool aligned = effect != nullptr && effect->aligned;
  RawEvent event{.op = {}};
  event.op.kind = SyncKind::bar_pass;
  event.op.object = object(SyncObject::Kind::cta_barrier, origin.cta_rank, SharedAddress(e.id));
  if (e.step == CtaBarrierEvent::Step::arrive) {
    const auto lanes = static_cast<uint32_t>(std::popcount(origin.lanes));
    const uint32_t expected = e.threads != 0 ? e.threads : run_.warps_per_cta * warp_threads;
    event = barrier_arrival(event.op.object, e.generation,
                            {aligned ? warp_threads : lanes, e.completed, expected});
    if (aligned) {  // it counts as a whole warp, exited lanes included
      event.per_lane = false;
      event.op.count = warp_threads;
    }
  }
  aligned ? push_together(origin, std::move(event)) : push(origin, std::move(event));
}

void SkeletonRecorder::on(const ClusterBarrierEvent& e) {
  const Origin& origin = e.origin;
  if (full()) return;
  const auto* effect = origin.effect == nullptr ? nullptr : std::get_if<isa::ClusterBarrier>(origin.effect);
  RawEvent event{.op = {}};
  event.op.kind = SyncKind::bar_pass;
  event.op.object = object(SyncObject::Kind::cluster_barrier, CtaRank(0), 0);
  if (e.step == ClusterBarrierEvent::Step::arrive) {
    uint32_t all = 0;
    for (const CtaState& cta : cluster_.ctas) all += cta.threads;
    event = barrier_arrival(event.op.object, e.generation,
                            {static_cast<uint32_t>(std::popcount(origin.lanes)), e.completed, all});
  }
  effect != nullptr && effect->aligned ? push_together(origin, std::move(event))
                                       : push(origin, std::move(event));
}

void SkeletonRecorder::on(const AsyncIssue& issue) {
  if (full() || issue.mbarriers.empty()) return;
  if (std::holds_alternative<isa::TryCancel>(*issue.origin.effect)) requests_.insert(line_of(issue.origin));
  auto& signals = run_.signals[issue.id];
  for (size_t i = 0; i < issue.mbarriers.size(); ++i) {
    if (issue.mbarrier_bytes[i] == 0) continue;
    SyncOp op{.kind = SyncKind::arrive, .object = mbarrier_object(issue.mbarriers[i]), .after = {}};
    op.tx = -int64_t{issue.mbarrier_bytes[i]};
    signals.push_back(std::move(op));
  }
  const bool by_lane = issue.family == isa::AsyncFamily::remote_store;
  push(issue.origin, {.kind = RawEvent::Kind::issue, .by_lane = by_lane, .id = issue.id, .op = {}});
}

void SkeletonRecorder::on(const AsyncJoined& event) {
  if (full()) return;
  warps_[index(event.origin)].last_wgmma = event.id;
  push_together(event.origin, {.kind = RawEvent::Kind::wgmma_issue, .id = event.id, .op = {}});
}

void SkeletonRecorder::on(const GroupCommitted& event) {
  if (full() || event.group != isa::AsyncGroup::wgmma) return;
  Warp& w = warps_[index(event.origin)];
  w.groups.push_back(w.last_wgmma);
}

// Groups of copies always complete by themselves: only wgmma needs other warps.
void SkeletonRecorder::on(const GroupWaited& event) {
  if (full() || event.group != isa::AsyncGroup::wgmma) return;
  const auto& groups = warps_[index(event.origin)].groups;
  if (groups.size() <= event.allowed) return;
  const uint64_t id = groups[groups.size() - event.allowed - 1];
  if (id != 0) push_together(event.origin, {.kind = RawEvent::Kind::wgmma_wait, .id = id, .op = {}});
}

// tcgen05.commit: each is one of the expected arrivals. Lanes that commit together are not ordered by number.
void SkeletonRecorder::commit(const ArrivalDeferred& event) {
  for (const uint32_t b : event.mbarriers)
    run_.signals[event.id].push_back(
        {.kind = SyncKind::arrive, .object = mbarrier_object(SharedAddress(b)), .count = 1, .after = {}});
  RawEvent issue{.kind = RawEvent::Kind::issue, .id = event.id, .op = {}};
  if (std::has_single_bit(event.origin.lanes)) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(event.origin.lanes));
    issue.committer = 1 + index(event.origin) * warp_threads + lane;
    issue.commit = ++warps_[index(event.origin)].commits[lane];
  }
  push(event.origin, std::move(issue));
}

void SkeletonRecorder::on(const ArrivalDeferred& event) {
  const Origin& origin = event.origin;
  if (full()) return;
  if (!event.mbarriers.empty()) return commit(event);
  const auto* effect =
      origin.effect == nullptr ? nullptr : std::get_if<isa::CpAsyncMbarrierArrive>(origin.effect);
  const bool noinc = effect != nullptr && effect->noinc;
  RawEvent announced{.by_lane = true, .op = {}};
  announced.op.kind = noinc ? SyncKind::nothing : SyncKind::defer;
  announced.op.count = 1;
  push(origin, std::move(announced));
  deferred_[event.id] = {index(origin), run_.warps[index(origin)].size() - 1};
  run_.signals[event.id].push_back({.kind = SyncKind::arrive, .deferred = !noinc, .count = 1, .after = {}});
  push(origin, {.kind = RawEvent::Kind::issue, .by_lane = true, .id = event.id, .op = {}});
}

void SkeletonRecorder::on(const RegistersSet& event) {
  if (full() || event.before == event.after) return;
  const uint32_t changed =
      (event.before > event.after ? event.before - event.after : event.after - event.before) * warp_threads;
  push_together(event.origin, {.op = {.kind = event.before > event.after ? SyncKind::registers_dec
                                                                         : SyncKind::registers_inc,
                                      .object = object(SyncObject::Kind::registers, event.origin.cta_rank, 0),
                                      .count = changed,
                                      .after = {}}});
}

void SkeletonRecorder::on(const Exited& event) { warps_[index(event.origin)].alive &= ~event.origin.lanes; }

}  // namespace palladion::sim::check
