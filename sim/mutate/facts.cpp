#include "sim/mutate/facts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "sim/machine/state/cluster.h"
#include "sim/mutate/reduced_order.h"
#include "sim/program/program.h"

namespace palladion::sim::check {
namespace {

constexpr uint32_t all_lanes = ~0u;

template <class F>
void for_each_lane(uint32_t lanes, F&& visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(size_t(std::countr_zero(lanes)));
}

// Groups that a lane has committed: those not known to be complete, and those whose sources may still be
// read.
struct Pending {
  std::array<uint64_t, 32> groups{}, reads{};
};

// One name for each byte that threads may share, whatever the window through which it is seen.
constexpr uint64_t shared_bytes = 1ULL << 63;
std::optional<uint64_t> byte_of(isa::Space stated, uint64_t address) {
  const isa::Space space = space_of(stated, address);
  if (is_shared(space)) return shared_bytes + uint32_t(address);
  return space == isa::Space::global ? std::optional(address) : std::nullopt;
}

struct Awaited {
  isa::AsyncGroup kind = isa::AsyncGroup::none;
  bool reads = false;
};

Awaited awaited_by(const isa::Effect& effect) {
  if (const auto* wait = std::get_if<isa::BulkWait>(&effect)) return {isa::AsyncGroup::bulk, wait->read};
  if (std::holds_alternative<isa::CpAsyncWait>(effect)) return {isa::AsyncGroup::cp_async};
  if (std::holds_alternative<isa::WgmmaWait>(effect)) return {isa::AsyncGroup::wgmma};
  return {};
}

// What CTAs of a cluster do to one another, as far as mbarriers record it.
class RemoteActions {
 public:
  void waited(const MbarrierEvent& event) { phases_[event.address].awaited = event.phase; }
  void signalled(const MbarrierEvent& event, CtaRank rank) {
    Phases& p = phases_[event.address];
    if (event.action == isa::MbarrierAction::init) p = {};
    if (event.async_id != 0 || rank_of(event.address) != rank) p.contributed = event.phase;
  }
  void issued(const AsyncIssue& issue, CtaRank rank) {
    // A product of a pair reads and writes in the peer, too; its commit is not followed here.
    for (const auto& pieces : {issue.reads, issue.writes})
      for (const Piece& piece : pieces)
        if (issue.family == isa::AsyncFamily::tcgen05 && piece.address >> cta_rank_shift != rank)
          unsignalled_ = true;
    for (const Piece& piece : issue.writes) {
      const bool signals = std::ranges::any_of(issue.mbarriers, [&](SharedAddress mbarrier) {
        return rank_of(mbarrier) == rank_of(SharedAddress(piece.address));
      });
      if (piece.shared() && rank_of(SharedAddress(piece.address)) != rank && !signals) unsignalled_ = true;
    }
  }
  void touched(uint64_t byte, CtaRank rank) {
    if (byte >= shared_bytes && rank_of(SharedAddress(byte)) != rank) unsignalled_ = true;
  }
  bool awaited() const {
    return !unsignalled_ && std::ranges::all_of(phases_, [](const auto& p) {
      return p.second.awaited >= p.second.contributed;
    });
  }

 private:
  // The last phase that a thread waited for, and the last with an arrival from another CTA, or bytes.
  struct Phases {
    int64_t awaited = -1, contributed = -1;
  };
  static uint32_t rank_of(SharedAddress address) { return address >> cta_rank_shift; }

  std::map<uint32_t, Phases> phases_;
  bool unsignalled_ = false;  // an access of another CTA without a signal there
};

}  // namespace

using SiteSet = std::set<const isa::Instruction*>;  // its order is not observed

// Counts in one cluster.
class ClusterFacts {
 public:
  explicit ClusterFacts(const Program& program) : program_(program) {
    for (Pc pc{0}; pc < program.code.size(); ++pc)
      if (program.footprints[pc].at(isa::Sync::Object::cta_barrier)) without_.emplace(pc, ReducedOrder(pc));
  }

  void add_to(RunFacts& run) {
    for (const auto& [pc, order] : without_)
      if (const auto at = barriers_.find(pc); at != barriers_.end())
        sites_[at->second].orders = !order.complete();
    run.add(sites_, remote_.awaited(), order_.complete());
  }

  void on(const Executing& event) {
    const Origin& origin = event.origin;
    const Awaited awaited = awaited_by(*origin.effect);
    if (awaited.kind == isa::AsyncGroup::none) return;
    SiteFacts& site = sites_[origin.instruction];
    const Pending& pending = pending_[{origin.cta_rank, origin.warp, awaited.kind}];
    for_each_lane(origin.lanes, [&](size_t lane) {
      site.most_pending =
          std::max(site.most_pending, awaited.reads ? pending.reads[lane] : pending.groups[lane]);
    });
  }
  void on(const Executed& event) {
    const Origin& origin = event.origin;
    SiteFacts& site = sites_[origin.instruction];
    ++site.executed;
    site.whole_warps = site.whole_warps && origin.lanes == all_lanes;
    site.accessed_before = site.accessed_before || accessed_;
    if (!program_.footprints[origin.pc].registers_only()) idle(origin).insert(origin.instruction);
    if (const auto* wait = std::get_if<isa::TensorMemoryWait>(origin.effect))
      each_order([&](ReducedOrder& o) { o.waited_for_tensor_memory(index(origin), wait->stores); });
    if (const auto* fence = std::get_if<isa::TensorMemoryFence>(origin.effect))
      each_order([&](ReducedOrder& o) { o.fenced_tensor_memory(index(origin), fence->after); });
  }
  void on(const Fenced& event) {
    if (const auto* fence = std::get_if<isa::Fence>(event.origin.effect))
      each_order([&](ReducedOrder& o) { o.fenced(index(event.origin), *fence); });
  }
  void on(const AsyncJoined& event) {
    each_order([&](ReducedOrder& o) { o.joined(index(event.origin), event.id); });
  }
  void on(const ArrivalDeferred& event) {
    if (event.mbarriers.empty())
      return each_order([&](ReducedOrder& o) { o.deferred(event.id, event.awaited); });
    act(event.origin);
    commits_.insert(event.id);
    each_order([&](ReducedOrder& o) { o.committed_products(index(event.origin), event.id); });
  }
  // Which lanes and columns other warps have touched is not recorded: all of them count as shared.
  void on(const TensorAccess& access) {
    const Origin& origin = access.origin;
    act(origin);
    const isa::Instruction* window = windows_[{origin.cta_rank, origin.warp}];
    if (window != nullptr) sites_[window].used_before = true;
    each_order([&](ReducedOrder& o) { o.accessed(index(origin), access); });
  }
  void on(const TensorAllocated& event) {
    act(event.origin);
    if (event.freed)
      each_order([&](ReducedOrder& o) { o.freed(index(event.origin), event.origin.cta_rank, event); });
  }
  void on(const GroupCommitted& event) {
    const Origin& origin = event.origin;
    each_order([&](ReducedOrder& o) { o.committed(index(origin), event.group); });
    Pending& pending = pending_[{origin.cta_rank, origin.warp, event.group}];
    for_each_lane(origin.lanes, [&](size_t lane) { ++pending.groups[lane], ++pending.reads[lane]; });
  }
  void on(const GroupWaited& event) {
    const Origin& origin = event.origin;
    each_order(
        [&](ReducedOrder& o) { o.waited(index(origin), event.group, event.allowed, event.read_only); });
    Pending& pending = pending_[{origin.cta_rank, origin.warp, event.group}];
    for_each_lane(origin.lanes, [&](size_t lane) {
      pending.reads[lane] = std::min(pending.reads[lane], event.allowed);
      if (!event.read_only) pending.groups[lane] = std::min(pending.groups[lane], event.allowed);
    });
  }
  void on(const CtaBarrierEvent& event) {
    const Origin& origin = event.origin;
    const bool pass = event.step == CtaBarrierEvent::Step::pass;
    windows_[{origin.cta_rank, origin.warp}] = pass ? origin.instruction : nullptr;
    meet(generations_[{origin.cta_rank, event.id, event.generation}], origin, pass);
    barriers_.emplace(origin.pc, origin.instruction);
    meet_in_orders(origin, {uint64_t{origin.cta_rank} + 1, event.id, event.generation}, pass);
  }
  void on(const ClusterBarrierEvent& event) {
    const bool pass = event.step == ClusterBarrierEvent::Step::pass;
    meet(cluster_generations_[event.generation], event.origin, pass);
    meet_in_orders(event.origin, {0, 0, event.generation}, pass);
  }
  void on(const Access& access) {
    const Origin& origin = access.origin;
    const isa::Instruction* window = windows_[{origin.cta_rank, origin.warp}];
    for_each_lane(access.lanes, [&](size_t lane) {
      const auto byte = byte_of(access.space, access.addresses[lane]);
      if (!byte) return;
      accessed_ = true;
      act(origin);
      remote_.touched(*byte, origin.cta_rank);
      each_order([&](ReducedOrder& o) { o.accessed(index(origin), *byte, access.size, access); });
      if (!touch(*byte, access.size, origin) && window != nullptr) sites_[window].used_before = true;
    });
  }
  void on(const MbarrierEvent& event) {
    const Origin& origin = event.origin;
    using A = isa::MbarrierAction;
    each_order([&](ReducedOrder& o) { o.mbarrier(index(origin), event); });
    NewestPhases<Contributors>& phases = contributors_[event.address];
    if (event.action != A::test_wait && event.action != A::try_wait) {
      if (event.async_id == 0) act(origin);
      if (event.action == A::init || event.action == A::inval)
        phases = {};
      else
        phases[event.phase].add(event.async_id != 0, !commits_.contains(event.async_id));
      return remote_.signalled(event, origin.cta_rank);
    }
    if (!event.succeeded) return;
    remote_.waited(event);
    SiteFacts& site = sites_[origin.instruction];
    site.awaits_bytes = site.awaits_bytes || phases[event.phase].bytes;
    site.awaits_others = site.awaits_others || phases[event.phase].others;
  }
  void on(const AsyncIssue& issue) {
    const Origin& origin = issue.origin;
    act(origin);
    for (const auto& pieces : {issue.reads, issue.writes})
      for (const Piece& piece : pieces)
        if (piece.space != isa::Space::tensor)
          touch_by_many(piece.shared() ? shared_bytes + piece.address : piece.address, piece.bytes);
    remote_.issued(issue, origin.cta_rank);
    each_order([&](ReducedOrder& o) { o.issued(index(origin), issue, shared_bytes); });
  }

 private:
  static constexpr int32_t many = -1;
  static constexpr uint64_t granule = 4;  // bytes; sharing a granule counts as touching the same

  // One generation of a barrier: the instructions by which its threads arrived, and what they had done and
  // not acted on since.
  struct Meeting {
    const isa::Instruction* first = nullptr;
    SiteSet idle;
  };

  template <class F>
  void each_order(F&& visit) {
    visit(order_);
    for (auto& [pc, order] : without_) visit(order);
  }
  void meet_in_orders(const Origin& origin, std::array<uint64_t, 3> generation, bool pass) {
    each_order([&](ReducedOrder& o) { o.barrier(index(origin), origin.pc, generation, pass); });
  }

  static uint32_t index(const Origin& origin) { return uint32_t{origin.cta_rank} * 64 + origin.warp; }
  SiteSet& idle(const Origin& origin) { return idle_[{origin.cta_rank, origin.warp}]; }
  void act(const Origin& origin) {
    SiteSet& before = idle(origin);
    for (const isa::Instruction* site : before) sites_[site].acted_after = true;
    before.clear();
  }
  void meet(Meeting& meeting, const Origin& origin, bool pass) {
    SiteSet& mine = idle(origin);
    if (pass) return mine.insert(meeting.idle.begin(), meeting.idle.end()), void();
    mine.insert(origin.instruction);
    meeting.idle.insert(mine.begin(), mine.end());
    if (meeting.first == nullptr) meeting.first = origin.instruction;
    if (meeting.first == origin.instruction) return;
    sites_[meeting.first].shared = true;
    sites_[origin.instruction].shared = true;
  }
  // True when no other warp has touched the bytes.
  bool touch(uint64_t address, uint64_t bytes, const Origin& origin) {
    const auto me = int32_t(index(origin));
    bool own = true;
    for (uint64_t g = address / granule; g <= (address + bytes - 1) / granule; ++g) {
      int32_t& warp = touched_.try_emplace(g, me).first->second;
      own = own && warp == me;
      if (warp != me) warp = many;
    }
    return own;
  }
  void touch_by_many(uint64_t address, uint64_t bytes) {
    for (uint64_t g = address / granule; g <= (address + bytes - 1) / granule; ++g) touched_[g] = many;
  }

  using Warp = std::pair<uint16_t, uint16_t>;  // rank of the CTA, warp

  const Program& program_;
  RunFacts::Sites sites_;
  std::map<std::tuple<uint16_t, uint16_t, isa::AsyncGroup>, Pending> pending_;
  std::map<Warp, const isa::Instruction*> windows_;
  std::map<Warp, SiteSet> idle_;
  std::map<std::tuple<uint16_t, uint32_t, uint64_t>, Meeting> generations_;
  std::map<uint64_t, Meeting> cluster_generations_;
  std::unordered_map<uint64_t, int32_t> touched_;  // looked up, never iterated
  bool accessed_ = false;
  RemoteActions remote_;
  // What signalled in a phase: bytes of copies, anything but tcgen05.commit.
  struct Contributors {
    bool bytes = false, others = false;
    void add(bool more_bytes, bool more_others) {
      bytes = bytes || more_bytes;
      others = others || more_others;
    }
  };
  std::map<uint32_t, NewestPhases<Contributors>> contributors_;  // by mbarrier
  std::set<uint64_t> commits_;                                   // of tcgen05
  ReducedOrder order_;
  std::map<uint32_t, ReducedOrder> without_;              // by pc of the barrier
  std::map<uint32_t, const isa::Instruction*> barriers_;  // that were executed, by pc
};

RunFacts::RunFacts(const isa::Module& module) : module_(module) {}
RunFacts::~RunFacts() = default;

void RunFacts::start(const RunView& run) { program_ = run.program; }

void RunFacts::observe(ClusterState& cluster, ClusterEvents& events) {
  events.add(clusters_.add(cluster, std::make_unique<ClusterFacts>(*program_)));
  const std::scoped_lock lock(mutex_);
  ctas_ = std::max(ctas_, uint32_t(cluster.ctas.size()));
  for (const CtaState& cta : cluster.ctas) warps_ = std::max(warps_, uint32_t(cta.warps.size()));
}

void RunFacts::retire(ClusterState& cluster) {
  if (const std::unique_ptr<ClusterFacts> facts = clusters_.take(cluster)) facts->add_to(*this);
}

bool RunFacts::watches(Pc) const { return true; }

void RunFacts::add(const Sites& more, bool remote_actions_are_awaited, bool ordered) {
  const std::scoped_lock lock(mutex_);
  remote_actions_are_awaited_ = remote_actions_are_awaited_ && remote_actions_are_awaited;
  ordered_ = ordered_ && ordered;
  for (const auto& [instruction, facts] : more) {
    SiteFacts& site = sites_[instruction];
    site.executed += facts.executed;
    site.whole_warps = site.whole_warps && facts.whole_warps;
    site.most_pending = std::max(site.most_pending, facts.most_pending);
    site.shared = site.shared || facts.shared;
    site.used_before = site.used_before || facts.used_before;
    site.accessed_before = site.accessed_before || facts.accessed_before;
    site.acted_after = site.acted_after || facts.acted_after;
    site.awaits_bytes = site.awaits_bytes || facts.awaits_bytes;
    site.awaits_others = site.awaits_others || facts.awaits_others;
    site.orders = site.orders || facts.orders;
  }
}

SiteFacts RunFacts::of(uint32_t function, uint32_t instruction) const {
  const auto at = sites_.find(&module_.functions[function].body[instruction]);
  return at == sites_.end() ? SiteFacts{} : at->second;
}

}  // namespace palladion::sim::check
