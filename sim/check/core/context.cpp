#include "sim/check/core/context.h"

#include <fmt/format.h>

#include <bit>

#include "sim/check/catalogue/catalogue.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim::check {
namespace {

enum Deed : uint8_t { loads_bulk = 1, stores_bulk = 2, loads_cp_async = 4, issues_wgmma = 8 };

uint64_t execution_key(uint32_t warp, uint32_t pc) { return uint64_t{warp} << 32 | pc; }

}  // namespace

Reporter::Reporter(const RunView& run, const ClusterState& cluster)
    : run_(run),
      cluster_(cluster),
      warps_(run.launch->warps_per_cta()),
      deeds_(warps_ * run.launch->cluster.count()) {}

bool Reporter::seen(const FindingKey& key) {
  const auto at = keys_.find(key);
  if (at == keys_.end()) {
    if (found_.size() < limit) return false;
    ++dropped_;
    return true;
  }
  ++found_[at->second].finding.count;
  return true;
}

void Reporter::report(const FindingKey& key, Finding finding) {
  if (found_.size() >= limit) {
    ++dropped_;
    return;
  }
  complete(finding, key.code);
  keys_.emplace(key, found_.size());
  found_.push_back({key, std::move(finding)});
}

Site plain_site(const RunView& run, const ClusterState& cluster, const Origin& who) {
  return site_at(*run.program, who.pc, cluster.ctas[who.cta_rank].id, who.warp, who.lanes);
}

Site Reporter::site(const Origin& who, std::string what) const {
  Site s = plain_site(run_, cluster_, who);
  s.what = std::move(what);
  s.role = role(who.cta_rank, who.warp);
  s.occurrence = occurrence(who.cta_rank, who.warp, who.pc);
  return s;
}

std::string Reporter::role(uint16_t cta_rank, uint16_t warp) const {
  const uint8_t deeds = deeds_[index(cta_rank, warp)];
  std::string out;
  const auto add = [&](std::string_view text) {
    if (!out.empty()) out += ", ";
    out += text;
  };
  if (warps_ > 4) add(fmt::format("warpgroup {}", warp / 4));
  if ((deeds & loads_bulk) != 0) add("issues bulk loads");
  if ((deeds & loads_cp_async) != 0) add("issues cp.async");
  if ((deeds & issues_wgmma) != 0) add("issues wgmma");
  if ((deeds & stores_bulk) != 0) add("issues bulk stores");
  return out;
}

uint32_t Reporter::occurrence(uint16_t cta_rank, uint16_t warp, uint32_t pc) const {
  const auto at = executed_.find(execution_key(index(cta_rank, warp), pc));
  return at == executed_.end() ? 0 : at->second.count;
}

// Lanes of one execution tell of themselves one after the other, in ascending order.
void Reporter::count(const Origin& who, uint32_t lanes) {
  Executions& e = executed_[execution_key(index(who.cta_rank, who.warp), who.pc)];
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
  const Origin& who = e.origin;
  if (e.participants == isa::Participants::warpgroup) return;  // counted as its warps join
  count(who, who.lanes);
  uint8_t& deeds = deeds_[index(who.cta_rank, who.warp)];
  if (e.family == isa::AsyncFamily::cp_async) {
    deeds |= loads_cp_async;
  } else if (!e.mbarriers.empty()) {
    deeds |= loads_bulk;
  } else if (e.group == isa::AsyncGroup::bulk) {
    deeds |= stores_bulk;
  }
}

void Reporter::on(const AsyncJoined& event) {
  const Origin& who = event.origin;
  count(who, who.lanes);
  deeds_[index(who.cta_rank, who.warp)] |= issues_wgmma;
}

void Reporter::on(const GroupCommitted& event) { count(event.origin, event.origin.lanes); }
void Reporter::on(const GroupWaited& event) { count(event.origin, event.origin.lanes); }
void Reporter::on(const RegistersSet& event) { count(event.origin, event.origin.lanes); }

}  // namespace palladion::sim::check
