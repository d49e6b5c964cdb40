#include "sim/check/protocol/lifetime.h"

#include <algorithm>
#include <bit>

namespace palladion::sim::check {

Lifetime::Lifetime(const Protocol& protocol)
    : p_(protocol),
      last_(protocol.causality.warps()),
      bulk_(protocol.causality.warps()),
      uses_(size_t{protocol.causality.warps()} * protocol.causality.warps() /
            protocol.causality.warps_of_cta()),
      registers_(protocol.causality.warps()),
      exits_(protocol.causality.warps()) {}

// --- accesses of other CTAs -----------------------------------------------------------------------
void Lifetime::on(const Access& a) {
  if (p_.cluster().ctas.size() == 1) return;
  if (a.space != isa::Space::generic && !is_shared(a.space)) return;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const uint64_t address = a.addresses[std::countr_zero(m)];
    if (!is_shared(space_of(a.space, address))) continue;
    use(a.origin, SharedAddress(address),
        Part{.does = a.kind == Access::Kind::read ? Does::reads : Does::writes});
  }
}

void Lifetime::on(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  if (e.async_id != 0) return;
  use(origin, e.address, Part{.does = Does::uses});
}

void Lifetime::use(const Origin& origin, SharedAddress address, const Part& part) {
  const CtaRank rank(address >> cta_rank_shift);
  if (rank == origin.cta_rank || rank >= p_.cluster().ctas.size()) return;
  check_started(origin, address, part);
  const Point now = p_.now(origin);
  Use& u = use_of(rank, now.warp);
  if (u.point.time == now.time && u.origin.pc == origin.pc) return;
  u = {now, origin, address};
}

// --- asynchronous operations ----------------------------------------------------------------------
void Lifetime::on(const AsyncIssue& e) {
  const Origin& origin = e.origin;
  if (e.family == isa::AsyncFamily::wgmma || e.family == isa::AsyncFamily::cp_async) return;
  Operation o{.origin = origin,
              .name = e.name,
              .group = e.group,
              .nth = p_.reporter().occurrence(origin.cta_rank, origin.warp, origin.pc),
              .tensor = e.family == isa::AsyncFamily::tcgen05};
  const auto add = [&](const Piece& piece, bool writes) {
    if (!piece.shared()) return;
    const auto address = static_cast<uint32_t>(piece.address);
    const auto rank = CtaRank(address >> cta_rank_shift);
    check_started(origin, SharedAddress(address),
                  Part{.does = writes ? Does::writes : Does::reads, .asynchronous = true});
    for (const Interest& i : o.interests)
      if (i.cta_rank == rank && i.writes == writes) return;
    o.interests.push_back({rank, writes, address, piece.bytes});
  };
  for (const Piece& piece : e.reads) add(piece, false);
  for (const Piece& piece : e.writes) add(piece, true);
  if (o.tensor) last_[p_.causality.index(origin)] = e.id;
  if (e.group == isa::AsyncGroup::bulk) bulk_[p_.causality.index(origin)].push_back({e.id, origin.lanes});
  if (o.interests.empty()) return;
  operations_.emplace(e.id, std::move(o));
  if (operations_.size() >= next_sweep_) sweep();
}

void Lifetime::on(const AsyncLanded& event) {
  const auto at = operations_.find(event.id);
  if (at != operations_.end()) at->second.landed = true;
}

void Lifetime::release(uint64_t id, CtaRank cta_rank) {
  const auto at = operations_.find(id);
  if (at == operations_.end()) return;
  std::erase_if(at->second.interests, [&](const Interest& i) { return i.cta_rank == cta_rank; });
  if (at->second.interests.empty()) operations_.erase(at);
}

void Lifetime::on(const ArrivalDeferred& e) {
  const Origin& origin = e.origin;
  if (e.mbarriers.empty()) return;
  const WarpOfCluster warp = p_.causality.index(origin);
  commits_[e.id] = {warp, origin.lanes, last_[warp], {}};
  Operation o{.origin = origin,
              .name = "tcgen05.commit",
              .nth = p_.reporter().occurrence(origin.cta_rank, origin.warp, origin.pc),
              .tensor = true,
              .issued = p_.now(origin)};
  for (const uint32_t b : e.mbarriers) o.interests.push_back({CtaRank(b >> cta_rank_shift), true, b, 8});
  operations_.emplace(e.id, std::move(o));
  if (operations_.size() >= next_sweep_) sweep();
}

// The warp knows that the operation is complete; what it did in the warp's own CTA is settled by that.
void Lifetime::add_knower(uint64_t id, CtaRank cta_rank, const Point& now) {
  const auto at = operations_.find(id);
  if (at == operations_.end()) return;
  auto& knowers = at->second.knowers;
  if (std::ranges::find(knowers, now.warp, &Point::warp) == knowers.end()) knowers.push_back(now);
  if (p_.causality.rank_of(now.warp) == cta_rank) release(id, cta_rank);
}

void Lifetime::observed(std::vector<uint64_t>& ids, CtaRank cta_rank, const Point& now) {
  for (const uint64_t id : ids) {
    add_knower(id, cta_rank, now);
    const auto commit = commits_.find(id);
    if (commit == commits_.end()) continue;
    commit->second.knowers.push_back(now);
    for (auto o = operations_.begin(); o != operations_.end() && o->first < id;) {
      const auto next = std::next(o);  // it may be released
      if (o->second.tensor && p_.causality.index(o->second.origin) == commit->second.warp &&
          (o->second.origin.lanes & commit->second.lanes) != 0)
        add_knower(o->first, cta_rank, now);
      o = next;
    }
  }
  if (p_.causality.rank_of(now.warp) == cta_rank) ids.clear();
}

bool Lifetime::known(const Operation& o, CtaRank cta_rank) const {
  return std::ranges::any_of(o.knowers, [&](const Point& p) { return p_.causality.cta_knows(cta_rank, p); });
}

// Of a commit: the CTA knows that it was issued, and that what it covers is complete, from an earlier commit
// of the thread, which had issued nothing since.
bool Lifetime::only_signals(uint64_t id, const Operation& o, CtaRank cta_rank) const {
  const auto commit = commits_.find(id);
  if (commit == commits_.end() || !p_.causality.cta_knows(cta_rank, o.issued)) return false;
  const Commit& late = commit->second;
  for (auto c = std::make_reverse_iterator(commit); c != commits_.rend(); ++c) {
    const Commit& early = c->second;
    if (early.warp != late.warp || (early.lanes & late.lanes) == 0) continue;
    if (early.last != late.last) return false;
    const auto knows = [&](const Point& p) { return p_.causality.cta_knows(cta_rank, p); };
    if (std::ranges::any_of(early.knowers, knows)) return true;
  }
  return false;
}

// Drops the operations whose ends are known to all concerned CTAs.
void Lifetime::sweep() {
  for (auto at = operations_.begin(); at != operations_.end();) {
    Operation& o = at->second;
    std::erase_if(o.interests, [&](const Interest& i) { return known(o, i.cta_rank); });
    at = o.interests.empty() ? operations_.erase(at) : std::next(at);
  }
  next_sweep_ = std::max<size_t>(1024, 2 * operations_.size());
}

// --- groups ---------------------------------------------------------------------------------------
void Lifetime::on(const GroupCommitted& event) {
  const Origin& origin = event.origin;
  if (event.group != isa::AsyncGroup::bulk) return;
  auto& journal = bulk_[p_.causality.index(origin)];
  if (journal.empty()) return;  // a group of nothing
  for (const Entry& e : journal) {
    const auto at = operations_.find(e.id);
    if (e.id == 0 || at == operations_.end()) continue;
    if ((e.lanes & origin.lanes) != 0)
      at->second.committed = true;
    else if (!at->second.committed)
      at->second.foreign_commit = origin;
  }
  journal.push_back({0, origin.lanes});
}

void Lifetime::on(const GroupWaited& event) {
  const Origin& origin = event.origin;
  if (event.group != isa::AsyncGroup::bulk) return;
  auto& journal = bulk_[p_.causality.index(origin)];
  uint32_t owners = 0;
  for (const Entry& e : journal)
    if (e.id != 0) owners |= e.lanes;
  if (owners != 0 && (owners & origin.lanes) == 0) check_group_owner(origin, owners);
  std::vector<uint64_t> done;
  for (uint32_t m = origin.lanes & owners; m != 0; m &= m - 1) {
    const uint32_t bit = m & (0 - m);
    uint64_t commits = 0;
    for (auto e = journal.rbegin(); e != journal.rend(); ++e) {
      if ((e->lanes & bit) == 0) continue;
      if (e->id == 0)
        ++commits;
      else if (commits > event.allowed)
        done.push_back(e->id);
    }
  }
  std::erase_if(journal, [&](const Entry& e) { return std::ranges::find(done, e.id) != done.end(); });
  while (!journal.empty() && journal.front().id == 0) journal.pop_front();
  for (const uint64_t id : done) {
    const auto at = operations_.find(id);
    if (at != operations_.end()) at->second.knowers.push_back(p_.now(origin));
    release(id, origin.cta_rank);
  }
}

// --- the end --------------------------------------------------------------------------------------
void Lifetime::on(const RegistersSet& event) {
  registers_[p_.causality.index(event.origin)].emplace_back(event.before, event.after);
}

void Lifetime::on(const Exited& event) {
  const Origin& origin = event.origin;
  exits_[p_.causality.index(origin)] = origin;
  if (p_.exited(origin.cta_rank)) cta_exited(origin);
}

void Lifetime::cta_exited(const Origin& origin) {
  check_operations(origin);
  if (p_.cluster().ctas.size() > 1) check_uses(origin);
  check_registers(origin);
}

}  // namespace palladion::sim::check
