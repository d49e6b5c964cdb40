// Uses of shared memory outside the lifetime of its CTA.
#include "sim/check/protocol/lifetime.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/program/program.h"

namespace palladion::sim::check {
namespace {

// tcgen05: it uses the memory of the issuing CTA and of its peer.
bool is_of_pair(const Origin& origin) {
  return origin.effect != nullptr && (std::holds_alternative<isa::Tcgen05Mma>(*origin.effect) ||
                                      std::holds_alternative<isa::TensorMemoryCopy>(*origin.effect) ||
                                      std::holds_alternative<isa::Tcgen05Commit>(*origin.effect));
}

}  // namespace

// A thread that uses another CTA's memory must be ordered after that CTA's start: by a cluster barrier, or by
// anything that its threads did.
void Lifetime::check_started(const Origin& origin, SharedAddress address, const Part& part) {
  const CtaRank rank(address >> cta_rank_shift);
  if (rank == origin.cta_rank || rank >= p_.cluster().ctas.size()) return;
  const WarpOfCluster warp = p_.causality.index(origin);
  const uint32_t per_cta = p_.causality.warps_of_cta();
  bool knows = false;
  for (uint32_t w = rank * per_cta; w < (rank + 1) * per_cta && !knows; ++w)
    knows = p_.causality.knows(warp, {.warp = WarpOfCluster(w), .time = 1});
  const bool gone = p_.exited(rank);
  if (knows && !gone) return;
  const bool arrival = origin.effect != nullptr && std::holds_alternative<isa::Mbarrier>(*origin.effect);
  const FindingKey key{!gone                ? Code::access_before_cta_start
                       : is_of_pair(origin) ? Code::exit_before_peer_operation
                       : arrival            ? Code::arrival_at_exited_cta
                                            : Code::exit_before_remote_access,
                       origin.pc, ~0U, address & shared_offset_mask};
  if (p_.reporter().seen(key, origin)) return;
  Finding f;
  f.object = p_.shared(address, 1);
  f.message = gone ? say<Phrase::access_to_exited_cta>() : say<Phrase::access_to_unstarted_cta>();
  f.sites = {p_.reporter().site(origin, part)};
  if (gone)
    for (uint32_t w = rank * per_cta; w < (rank + 1) * per_cta; ++w)
      if (const Origin* left = exit_of(WarpOfCluster(w)); left != nullptr && f.sites.size() < 2)
        f.sites.push_back(p_.reporter().site(*left, Does::exits));
  f.missing = gone ? say<Phrase::nothing_keeps_cta>() : say<Phrase::no_barrier_after_start>();
  p_.reporter().report(key, std::move(f));
}

void Lifetime::check_uses(const Origin& origin) {
  const CtaRank rank = origin.cta_rank;
  for (uint32_t w = 0; w < p_.causality.warps(); ++w) {
    const Use& u = use_of(rank, WarpOfCluster(w));
    if (u.point.time == 0 || p_.causality.cta_knows(rank, u.point) ||
        p_.context.order.before(u.point, origin))
      continue;
    const bool arrival =
        u.origin.effect != nullptr && std::holds_alternative<isa::Mbarrier>(*u.origin.effect);
    const FindingKey key{arrival ? Code::arrival_at_exited_cta : Code::exit_before_remote_access, u.origin.pc,
                         origin.pc, u.address & shared_offset_mask};
    if (p_.reporter().seen(key, u.origin)) continue;
    Finding f;
    f.message = arrival ? say<Phrase::exit_before_arrival>() : say<Phrase::exit_before_access>();
    f.object = arrival ? p_.mbarrier(u.address) : p_.shared(u.address, 1);
    f.sites = {p_.reporter().site(u.origin, arrival ? Does::arrives : Does::uses),
               p_.reporter().site(origin, Does::exits)};
    f.missing = say<Phrase::no_order_before_exit>();
    p_.reporter().report(key, std::move(f));
  }
}

void Lifetime::check_operations(const Origin& origin) {
  const CtaRank rank = origin.cta_rank;
  for (const auto& [id, o] : operations_) {
    for (const Interest& i : o.interests)
      if (i.cta_rank == rank && !known(o, rank)) report_operation(id, o, i, origin);
  }
  for (auto at = operations_.begin(); at != operations_.end();) {
    std::erase_if(at->second.interests, [&](const Interest& i) { return i.cta_rank == rank; });
    at = at->second.interests.empty() ? operations_.erase(at) : std::next(at);
  }
}

// Copies of the CTA's own shared memory at its exit are strict: an H100 starts no other CTA there before they
// have ended (bench/device/shared_memory_at_exit.cu). Not measured, and errors: copies of other CTAs' memory,
// and tcgen05; but for signals of commits, whose products are over: shipped kernels give their last stages
// back so.
void Lifetime::report_operation(uint64_t id, const Operation& o, const Interest& i, const Origin& origin) {
  const bool bulk = o.group == isa::AsyncGroup::bulk && !i.writes;
  const bool remote = o.origin.cta_rank != i.cta_rank;
  const bool foreign = bulk && !o.committed && o.foreign_commit.instruction != nullptr;
  const Code of_group = o.committed ? Code::exit_before_store_read
                        : foreign   ? Code::group_of_other_thread
                                    : Code::uncovered_bulk_store;
  const Code at_mbarrier = !remote    ? Code::exit_before_completion
                           : o.tensor ? Code::exit_before_peer_operation
                                      : Code::exit_before_remote_access;
  const Code code = bulk ? of_group : at_mbarrier;
  const FindingKey key{code, o.origin.pc, origin.pc, i.address & shared_offset_mask};
  if (p_.reporter().seen(key, o.origin, id)) return;
  Finding f;
  f.message = i.writes ? say<Phrase::exit_during_write>(o.name) : say<Phrase::exit_during_read>(o.name);
  f.object = p_.shared(SharedAddress(i.address), i.bytes);
  Site site =
      p_.reporter().site(o.origin, Part{.does = i.writes ? Does::writes : Does::reads, .asynchronous = true});
  site.occurrence = o.nth;
  f.sites = {std::move(site), p_.reporter().site(origin, Does::exits)};
  if (foreign)
    f.sites.insert(f.sites.begin() + 1, p_.reporter().site(o.foreign_commit, Does::commits_nothing));
  if (bulk)
    f.missing = o.committed ? say<Phrase::no_wait_group>() : say<Phrase::no_commit_group>();
  else
    f.missing = say<Phrase::no_wait_at_mbarrier>();
  if (!o.landed) f.notes.push_back(say<Phrase::under_way_at_exit>());
  if (!remote && !o.tensor) {
    f.severity = FindingSeverity::strict;
    f.notes.push_back(say<Phrase::memory_outlives_cta>());
  }
  if (only_signals(id, o, i.cta_rank)) {
    f.severity = FindingSeverity::strict;
    f.notes.push_back(say<Phrase::commit_covers_what_is_over>());
  }
  if (bulk) f.help = say<Phrase::wait_before_exit>();
  p_.reporter().report(key, std::move(f));
}

// Groups belong to a thread: another lane's wait_group does not cover them.
void Lifetime::check_group_owner(const Origin& origin, uint32_t owners) {
  const FindingKey key{Code::uncovered_bulk_store, origin.pc, ~0U, 0};
  if (p_.reporter().seen(key, origin)) return;
  Finding f;
  f.severity = FindingSeverity::strict;
  f.message = say<Phrase::wait_group_of_others>(WarpLanes{.warp = origin.warp, .lanes = origin.lanes},
                                                WarpLanes{.warp = origin.warp, .lanes = owners});
  f.object.kind = Object::Kind::bulk_groups;
  f.sites = {p_.reporter().site(origin, Does::waits)};
  f.missing = say<Phrase::wait_returns_at_once>();
  f.help = say<Phrase::wait_in_issuing_thread>();
  p_.reporter().report(key, std::move(f));
}

// setmaxnreg is to be executed by all warps of a warpgroup.
void Lifetime::check_registers(const Origin& origin) {
  const uint32_t mma_warps = p_.context.run.program->mma_warps();
  const uint32_t per_cta = p_.causality.warps_of_cta(), base = origin.cta_rank * per_cta;
  for (uint32_t g = 0; g + mma_warps <= per_cta; g += mma_warps) {
    for (uint32_t w = g + 1; w < g + mma_warps; ++w) {
      if (registers_[base + w] == registers_[base + g]) continue;
      const FindingKey key{Code::invalid_register_count, origin.pc, ~0U, g};
      if (p_.reporter().seen(key, origin)) break;
      const auto &first = registers_[base + g], &other = registers_[base + w];
      const bool as_many = first.size() == other.size();
      Finding f;
      // The chip counts registers warp by warp: the attention of CUTLASS gives each warp of a group its own.
      if (as_many) f.severity = FindingSeverity::strict;
      f.message = say<Phrase::differing_setmaxnreg>(g / mma_warps);
      f.object.kind = Object::Kind::register_pool;
      f.sites = {p_.reporter().site(exits_[base + g], Does::exits),
                 p_.reporter().site(exits_[base + w], Does::exits)};
      f.missing = as_many ? say<Phrase::differing_registers>(g, first.back().second, w, other.back().second)
                          : say<Phrase::differing_setmaxnreg_counts>(g, first.size(), w, other.size());
      f.help = say<Phrase::same_setmaxnreg>();
      p_.reporter().report(key, std::move(f));
      break;
    }
  }
}

}  // namespace palladion::sim::check
