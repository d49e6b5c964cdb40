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

bool Reporter::seen(const FindingKey& key) {
  const auto at = keys_.find(key);
  if (at == keys_.end()) {
    if (!is_full(key.code)) return false;
    ++dropped_;
    return true;
  }
  ++found_[at->second].finding.count;
  return true;
}

void Reporter::add_read(const FindingKey& key, const std::optional<RacingRead>& read) {
  const auto at = keys_.find(key);
  if (at == keys_.end()) return;
  Race& race = std::get<Race>(found_[at->second].finding.what);
  if (!read || race.reads.size() >= Race::most_reads)
    race.every_read = false;
  else if (race.reads.empty() || race.reads.back() != *read)
    race.reads.push_back(*read);
}

bool Reporter::seen_by_group(const FindingKey& key, const Origin& origin) {
  const uint32_t mma_warps = run_.program->mma_warps(), warp = index(origin.cta_rank, origin.warp);
  auto& counts = by_warp_[{key, warp / mma_warps}];
  counts.resize(mma_warps);
  const uint32_t before = *std::ranges::max_element(counts), now = ++counts[warp % mma_warps];
  const auto at = keys_.find(key);
  if (at != keys_.end() && now <= before) return true;
  return seen(key);
}

void Reporter::report(const FindingKey& key, Finding finding) {
  if (is_full(key.code)) {
    ++dropped_;
    return;
  }
  ++kept_[key.code];
  complete(finding, key.code);
  keys_.emplace(key, found_.size());
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
  using A = isa::MbarrierAction;
  const bool waits = e.action == A::test_wait || e.action == A::try_wait;
  if (e.async_id == 0 && (!waits || e.succeeded)) count(e.origin, e.lanes);
}

void Reporter::on(const CtaBarrierEvent& e) {
  if (e.step == CtaBarrierEvent::Step::arrive) count(e.origin, e.origin.lanes);
}

void Reporter::on(const ClusterBarrierEvent& e) { count(e.origin, e.origin.lanes); }

void Reporter::on(const AsyncIssue& e) {
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
  const Origin& origin = event.origin;
  count(origin, origin.lanes);
  roles_[index(origin.cta_rank, origin.warp)] |= Role::wgmma;
}

void Reporter::on(const ArrivalDeferred& event) {
  if (!event.mbarriers.empty()) count(event.origin, event.origin.lanes);
}

void Reporter::on(const TensorAccess& event) { count(event.origin, event.origin.lanes); }
void Reporter::on(const TensorAllocated& event) { count(event.origin, event.origin.lanes); }
void Reporter::on(const GroupCommitted& event) { count(event.origin, event.origin.lanes); }
void Reporter::on(const GroupWaited& event) { count(event.origin, event.origin.lanes); }
void Reporter::on(const RegistersSet& event) { count(event.origin, event.origin.lanes); }

}  // namespace palladion::sim::check
