#include "sim/check/core/context.h"

#include <algorithm>
#include <bit>

#include "sim/check/catalogue/catalogue.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim::check {
namespace {

uint64_t execution_key(uint32_t warp, Pc pc) { return uint64_t{warp} << 32 | pc; }

}  // namespace

Reporter::Reporter(const RunView& run, const ClusterState& cluster)
    : run_(run),
      cluster_(cluster),
      warps_(run.launch->warps_per_cta()),
      roles_(warps_ * run.launch->cluster.count()) {}

bool Reporter::is_full(Code code) const {
  const auto kept = kept_.find(code);
  return kept != kept_.end() && kept->second >= limit;
}

// Lanes that one execution has been counted for are not counted again.
void Reporter::count(Wrong& wrong, uint32_t warp, const Origin& by, uint64_t execution) {
  Wrong::Warp& w = wrong.warps[warp];
  if (w.execution != execution) w = {execution, 0, w.times};
  const uint32_t lanes = by.lanes == 0 ? 1 : by.lanes;  // of an operation without lanes of its own
  uint32_t& most = wrong.most[by.cta_rank];
  for (uint32_t m = lanes & ~w.lanes; m != 0; m &= m - 1) {
    if (++w.times[static_cast<size_t>(std::countr_zero(m))] <= most) continue;
    ++most;
    ++wrong.count;
  }
  w.lanes |= lanes;
}

bool Reporter::seen(const FindingKey& key, const Origin& by, uint64_t execution) {
  auto at = keys_.find(key);
  if (at == keys_.end()) {
    if (is_full(key.code)) {
      ++dropped_;
      return true;
    }
    at = keys_.try_emplace(key).first;
  }
  Wrong& wrong = at->second;
  count(wrong, index(by.cta_rank, by.warp), by, execution == 0 ? event_ : execution);
  if (!wrong.found) return false;
  found_[*wrong.found].finding.count = wrong.count;
  return true;
}

void Reporter::add_read(const FindingKey& key, const std::optional<RacingRead>& read) {
  const auto at = keys_.find(key);
  if (at == keys_.end() || !at->second.found) return;
  Race& race = std::get<Race>(found_[*at->second.found].finding.what);
  if (!read || race.reads.size() >= Race::most_reads)
    race.every_read = false;
  else if (race.reads.empty() || race.reads.back() != *read)
    race.reads.push_back(*read);
}

void Reporter::report(const FindingKey& key, Finding finding) {
  if (is_full(key.code)) {
    ++dropped_;
    return;
  }
  ++kept_[key.code];
  complete(finding, key.code);
  Wrong& wrong = keys_[key];
  wrong.found = found_.size();
  if (wrong.count != 0) finding.count = wrong.count;
  found_.push_back({key, std::move(finding)});
}

Site plain_site(const RunView& run, const ClusterState& cluster, const Origin& origin) {
  return site_at(*run.program, origin.pc, cluster.ctas[origin.cta_rank].id, origin.warp, origin.lanes);
}

Site Reporter::site(const Origin& origin, const Part& part) const {
  Site s = plain_site(run_, cluster_, origin);
  s.part = part;
  s.role = role(origin.cta_rank, origin.warp);
  s.occurrence = occurrence(origin.cta_rank, origin.warp, origin.pc);
  return s;
}

Role Reporter::role(CtaRank cta_rank, WarpOfCta warp) const {
  Role out{.warpgroup = {}, .issues = roles_[index(cta_rank, warp)]};
  const uint32_t mma_warps = run_.program->mma_warps();
  if (warps_ > mma_warps) out.warpgroup = warp / mma_warps;
  return out;
}

uint32_t Reporter::occurrence(CtaRank cta_rank, WarpOfCta warp, Pc pc) const {
  const auto at = executed_.find(execution_key(index(cta_rank, warp), pc));
  return at == executed_.end() ? 0 : at->second.count;
}

// The lanes of one execution are counted one after the other, in ascending order.
void Reporter::count(const Origin& origin, uint32_t lanes) {
  Executions& e = executed_[execution_key(index(origin.cta_rank, origin.warp), origin.pc)];
  const int lane = std::countr_zero(lanes);
  if (lane <= e.last_lane) ++e.count;
  e.last_lane = lane;
}

void Reporter::on(const MbarrierEvent& e) {
  begin_event();
  using A = isa::MbarrierAction;
  const bool waits = e.action == A::test_wait || e.action == A::try_wait;
  if (e.async_id == 0 && (!waits || e.succeeded)) count(e.origin, e.lanes);
}

void Reporter::on(const CtaBarrierEvent& e) {
  begin_event();
  if (e.step == CtaBarrierEvent::Step::arrive) count(e.origin, e.origin.lanes);
}

void Reporter::on(const ClusterBarrierEvent& e) {
  begin_event();
  count(e.origin, e.origin.lanes);
}

void Reporter::on(const AsyncIssue& e) {
  begin_event();
  const Origin& origin = e.origin;
  if (e.participants == isa::Participants::warpgroup) return;  // counted as its warps join
  count(origin, origin.lanes);
  uint8_t& roles = roles_[index(origin.cta_rank, origin.warp)];
  if (e.family == isa::AsyncFamily::tcgen05) {
    roles |= Role::tcgen05;
  } else if (e.family == isa::AsyncFamily::cp_async) {
    roles |= Role::cp_async;
  } else if (!e.mbarriers.empty()) {
    roles |= Role::bulk_loads;
  } else if (e.group == isa::AsyncGroup::bulk) {
    roles |= Role::bulk_stores;
  }
}

void Reporter::on(const AsyncJoined& event) {
  begin_event();
  const Origin& origin = event.origin;
  count(origin, origin.lanes);
  roles_[index(origin.cta_rank, origin.warp)] |= Role::wgmma;
}

void Reporter::on(const ArrivalDeferred& event) {
  begin_event();
  if (!event.mbarriers.empty()) count(event.origin, event.origin.lanes);
}

void Reporter::on(const TensorAccess& event) {
  begin_event();
  count(event.origin, event.origin.lanes);
}
void Reporter::on(const TensorAllocated& event) {
  begin_event();
  count(event.origin, event.origin.lanes);
}
void Reporter::on(const GroupCommitted& event) {
  begin_event();
  count(event.origin, event.origin.lanes);
}
void Reporter::on(const GroupWaited& event) {
  begin_event();
  count(event.origin, event.origin.lanes);
}
void Reporter::on(const RegistersSet& event) {
  begin_event();
  count(event.origin, event.origin.lanes);
}

}  // namespace palladion::sim::check
