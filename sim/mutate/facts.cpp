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

// What arrived at an mbarrier in a phase.
struct Arrivals {
  bool bytes = false, threads = false;
};

// What CTAs of a cluster do to one another, as far as mbarriers record it.
class RemoteActions {
 public:
  struct Phase {
    uint64_t number = 0;  // of the last one that is complete, from 1
    Arrivals arrivals;
  };
  // What the wait was for.
  Phase waited(const MbarrierEvent& event) {
    Phases& p = phases_[event.address];
    p.awaited = p.completed;
    return {p.completed, p.last};
  }
  // `commit`: the arrival is one of tcgen05.commit.
  void signalled(const MbarrierEvent& event, uint32_t rank, bool commit) {
    Phases& p = phases_[event.address];
    if (event.action == isa::MbarrierAction::init) return p = {}, void();
    const bool by_thread = event.async_id == 0;
    p.current.bytes = p.current.bytes || (!by_thread && !commit);
    p.current.threads = p.current.threads || by_thread;
    if (!by_thread || rank_of(event.address) != rank) p.contributed = p.completed + 1;
    if (!event.completed) return;
    ++p.completed;
    p.last = std::exchange(p.current, {});
  }
  void issued(const AsyncIssue& issue, uint32_t rank) {
    // A product of a pair reads and writes in the peer, too; its commit is not followed here.
    for (const auto& pieces : {issue.reads, issue.writes})
      for (const Piece& piece : pieces)
        if (issue.family == isa::AsyncFamily::tcgen05 && piece.address >> cta_rank_shift != rank)
          unsignalled_ = true;
    for (const Piece& piece : issue.writes) {
      const bool signals = std::ranges::any_of(issue.mbarriers, [&](uint32_t mbarrier) {
        return rank_of(mbarrier) == rank_of(uint32_t(piece.address));
      });
      if (piece.shared() && rank_of(uint32_t(piece.address)) != rank && !signals) unsignalled_ = true;
    }
  }
  void touched(uint64_t byte, uint32_t rank) {
    if (byte >= shared_bytes && rank_of(uint32_t(byte)) != rank) unsignalled_ = true;
  }
  bool awaited() const {
    return !unsignalled_ && std::ranges::all_of(phases_, [](const auto& p) {
      return p.second.awaited >= p.second.contributed;
    });
  }

 private:
  // Phases are counted from 1; `contributed`: the last with an arrival from another CTA, or bytes.
  struct Phases {
    uint64_t completed = 0, awaited = 0, contributed = 0;
    Arrivals current, last;
  };
  static uint32_t rank_of(uint32_t address) { return address >> cta_rank_shift; }

  std::map<uint32_t, Phases> phases_;
  bool unsignalled_ = false;  // an access of another CTA without a signal there
};

using SiteSet = std::set<const isa::Instruction*>;  // its order is not observed

// Loads whose bytes another warp, a copy or a product writes afterwards.
class Overwritten {
 public:
  void read(uint64_t place, uint32_t warp, const isa::Instruction* site) {
    places_[place][site].insert(warp);
  }
  // By a copy or a product: `warp` is nobody. Adds the sites to `found`.
  void written(uint64_t place, uint32_t warp, SiteSet& found) {
    const auto readers = places_.find(place);
    if (readers == places_.end()) return;
    for (const auto& [site, warps] : readers->second)
      if (warps.size() > 1 || !warps.contains(warp)) found.insert(site);
    places_.erase(readers);
  }
  static constexpr uint32_t nobody = ~0U;

 private:
  std::unordered_map<uint64_t, std::map<const isa::Instruction*, std::set<uint32_t>>> places_;
};

// What each warp knows by itself of the writes to tensor memory: the products and copies for which it has
// waited at mbarriers, and its own stores.
class TensorWrites {
 public:
  void issued(uint32_t warp, const AsyncIssue& issue) {
    if (issue.family != isa::AsyncFamily::tcgen05) return;
    of_warp_[warp].push_back(issue.id);
    for (const Piece& piece : issue.writes)
      if (piece.space == isa::Space::tensor)
        into_[uint32_t(piece.address >> cta_rank_shift)].insert(issue.id);
  }
  void stored(uint32_t warp, uint32_t rank) { stored_[rank].insert(warp); }
  void committed(uint32_t warp, uint64_t commit) { commits_[commit] = of_warp_[warp]; }
  bool is_commit(uint64_t id) const { return commits_.contains(id); }
  void signalled(const MbarrierEvent& event) {
    Phase& phase = phases_[event.address];
    if (event.action == isa::MbarrierAction::init) return phase = {}, void();
    if (const auto ids = commits_.find(event.async_id); ids != commits_.end())
      phase.current.insert(ids->second.begin(), ids->second.end());
    if (event.completed) phase.completed = std::exchange(phase.current, {});
  }
  void waited(uint32_t warp, const MbarrierEvent& event) {
    const std::set<uint64_t>& done = phases_[event.address].completed;
    done_[warp].insert(done.begin(), done.end());
  }
  // It knows of all to the CTA's tensor memory.
  bool known(uint32_t warp, uint32_t rank) {
    const std::set<uint32_t>& stored = stored_[rank];
    return stored.size() == stored.count(warp) && std::ranges::includes(done_[warp], into_[rank]);
  }

 private:
  struct Phase {
    std::set<uint64_t> current, completed;
  };
  std::map<uint32_t, std::vector<uint64_t>> of_warp_;
  std::map<uint64_t, std::vector<uint64_t>> commits_;
  std::map<uint32_t, Phase> phases_;
  std::map<uint32_t, std::set<uint64_t>> done_, into_;
  std::map<uint32_t, std::set<uint32_t>> stored_;  // warps, by the rank of the CTA
};

}  // namespace

// Counts in one cluster.
class ClusterFacts {
 public:
  explicit ClusterFacts(const Program& program) : program_(program) {}

  void add_to(RunFacts& run) const { run.add(sites_, remote_.awaited(), order_.complete()); }

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
    const auto* fence = std::get_if<isa::TensorMemoryFence>(origin.effect);
    if (fence != nullptr && fence->after) fenced_[index(origin)] = origin.instruction;
  }
  void on(const Fenced& event) {
    if (const auto* fence = std::get_if<isa::Fence>(event.origin.effect))
      order_.fenced(index(event.origin), *fence);
  }
  void on(const AsyncJoined& event) { order_.joined(index(event.origin), event.id); }
  void on(const ArrivalDeferred& event) {
    if (event.mbarriers.empty()) return order_.deferred(event.id, event.awaited);
    uses_tensor_memory(event.origin);
    act(event.origin);
    order_.committed_products(index(event.origin), event.id);
    tensor_writes_.committed(index(event.origin), event.id);
  }
  // Which lanes and columns other warps have touched is not recorded: all of them count as shared.
  void on(const TensorAccess& access) {
    const Origin& origin = access.origin;
    act(origin);
    const isa::Instruction* window = windows_[{origin.cta_rank, origin.warp}];
    if (window != nullptr) sites_[window].used_before = true;
    uses_tensor_memory(origin);
    if (!tensor_writes_.known(index(origin), origin.cta_rank))
      sites_[origin.instruction].relies_on_others = true;
    if (access.writes) {
      tensor_writes_.stored(index(origin), origin.cta_rank);
      overwrite(tensor_place(origin.cta_rank), index(origin));
    } else {
      readers_.read(tensor_place(origin.cta_rank), index(origin), origin.instruction);
    }
  }
  void on(const TensorAllocated& event) { act(event.origin); }
  void on(const GroupCommitted& event) {
    const Origin& origin = event.origin;
    order_.committed(index(origin), event.group);
    Pending& pending = pending_[{origin.cta_rank, origin.warp, event.group}];
    for_each_lane(origin.lanes, [&](size_t lane) { ++pending.groups[lane], ++pending.reads[lane]; });
  }
  void on(const GroupWaited& event) {
    const Origin& origin = event.origin;
    order_.waited(index(origin), event.group, event.allowed, event.read_only);
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
    order_.barrier(index(origin), {uint64_t{origin.cta_rank} + 1, event.id, event.generation}, pass);
  }
  void on(const ClusterBarrierEvent& event) {
    const bool pass = event.step == ClusterBarrierEvent::Step::pass;
    meet(cluster_generations_[event.generation], event.origin, pass);
    order_.barrier(index(event.origin), {0, 0, event.generation}, pass);
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
      order_.accessed(index(origin), *byte, access.size, access);
      if (!touch(*byte, access.size, origin) && window != nullptr) sites_[window].used_before = true;
      for (uint64_t g = *byte / granule; g <= (*byte + access.size - 1) / granule; ++g) {
        if (access.kind != Access::Kind::write) readers_.read(g, index(origin), origin.instruction);
        if (access.kind != Access::Kind::read) overwrite(g, index(origin));
      }
    });
  }
  void on(const MbarrierEvent& event) {
    const Origin& origin = event.origin;
    using A = isa::MbarrierAction;
    order_.mbarrier(index(origin), event);
    if (event.action != A::test_wait && event.action != A::try_wait) {
      if (event.async_id == 0) act(origin);
      tensor_writes_.signalled(event);
      return remote_.signalled(event, origin.cta_rank, tensor_writes_.is_commit(event.async_id));
    }
    if (!event.succeeded) return;
    tensor_writes_.waited(index(origin), event);
    const RemoteActions::Phase phase = remote_.waited(event);
    SiteFacts& site = sites_[origin.instruction];
    site.awaits_bytes = site.awaits_bytes || phase.arrivals.bytes;
    site.awaits_threads = site.awaits_threads || phase.arrivals.threads;
    site.awaits_later_phase = site.awaits_later_phase || phase.number != 1;
  }
  void on(const AsyncIssue& issue) {
    const Origin& origin = issue.origin;
    act(origin);
    for (const auto& pieces : {issue.reads, issue.writes})
      for (const Piece& piece : pieces)
        if (piece.space != isa::Space::tensor) touch_by_many(place_of(piece), piece.bytes);
    for (const Piece& piece : issue.writes) {
      if (piece.space == isa::Space::tensor) {
        overwrite(tensor_place(uint32_t(piece.address >> cta_rank_shift)), Overwritten::nobody);
        continue;
      }
      for (uint64_t g = place_of(piece) / granule; g <= (place_of(piece) + piece.bytes - 1) / granule; ++g)
        overwrite(g, Overwritten::nobody);
    }
    if (issue.family == isa::AsyncFamily::tcgen05) uses_tensor_memory(origin);
    tensor_writes_.issued(index(origin), issue);
    remote_.issued(issue, origin.cta_rank);
    order_.issued(index(origin), issue, shared_bytes);
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

  static uint64_t place_of(const Piece& piece) {
    return piece.shared() ? shared_bytes + uint32_t(piece.address) : piece.address;
  }
  // Tensor memory of a CTA is one place.
  static uint64_t tensor_place(uint32_t rank) { return ~uint64_t{rank}; }
  void uses_tensor_memory(const Origin& origin) {
    const isa::Instruction* const fence = fenced_[index(origin)];
    if (fence != nullptr) sites_[fence].guards_tensor_access = true;
  }
  void overwrite(uint64_t place, uint32_t warp) {
    SiteSet found;
    readers_.written(place, warp, found);
    for (const isa::Instruction* site : found) sites_[site].overwritten = true;
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
  ReducedOrder order_;
  Overwritten readers_;
  TensorWrites tensor_writes_;
  std::map<uint32_t, const isa::Instruction*> fenced_;  // the last tcgen05.fence::after of each warp
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

bool RunFacts::watches(uint32_t) const { return true; }

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
    site.awaits_threads = site.awaits_threads || facts.awaits_threads;
    site.awaits_later_phase = site.awaits_later_phase || facts.awaits_later_phase;
    site.overwritten = site.overwritten || facts.overwritten;
    site.relies_on_others = site.relies_on_others || facts.relies_on_others;
    site.guards_tensor_access = site.guards_tensor_access || facts.guards_tensor_access;
  }
}

SiteFacts RunFacts::of(uint32_t function, uint32_t instruction) const {
  const auto at = sites_.find(&module_.functions[function].body[instruction]);
  return at == sites_.end() ? SiteFacts{} : at->second;
}

}  // namespace palladion::sim::check
