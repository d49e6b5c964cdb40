#include "sim/check/mutate/facts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "sim/state/cluster.h"

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
std::optional<uint64_t> byte_of(isa::Space space, uint64_t address) {
  const bool generic = space == isa::Space::generic;
  if (space == isa::Space::shared_cta || space == isa::Space::shared_cluster ||
      (generic && address - shared_window < window_size))
    return shared_bytes + uint32_t(address);
  if (space == isa::Space::global || (generic && address - local_window >= window_size)) return address;
  return std::nullopt;
}

struct Awaited {
  GroupKind kind = GroupKind::none;
  bool reads = false;
};

Awaited awaited_by(const isa::Effect& effect) {
  if (const auto* wait = std::get_if<isa::BulkWait>(&effect)) return {GroupKind::bulk, wait->read};
  if (std::holds_alternative<isa::CpAsyncWait>(effect)) return {GroupKind::cp_async};
  if (std::holds_alternative<isa::WgmmaWait>(effect)) return {GroupKind::wgmma};
  return {};
}

}  // namespace

// Counts in one cluster; adds them to the run's when the cluster is done.
class ClusterFacts final : public ClusterObserver {
 public:
  explicit ClusterFacts(RunFacts& run) : run_(run) {}
  ~ClusterFacts() override { run_.add(sites_); }

  void executes(const Origin& origin) override {
    SiteFacts& site = sites_[origin.instruction];
    ++site.executed;
    site.whole_warps = site.whole_warps && origin.lanes == all_lanes;
    const Awaited awaited = awaited_by(*origin.effect);
    if (awaited.kind == GroupKind::none) return;
    const Pending& pending = pending_[{origin.cta_rank, origin.warp, awaited.kind}];
    for_each_lane(origin.lanes, [&](size_t lane) {
      site.most_pending =
          std::max(site.most_pending, awaited.reads ? pending.reads[lane] : pending.groups[lane]);
    });
  }
  void committed(const Origin& origin, GroupKind kind) override {
    Pending& pending = pending_[{origin.cta_rank, origin.warp, kind}];
    for_each_lane(origin.lanes, [&](size_t lane) { ++pending.groups[lane], ++pending.reads[lane]; });
  }
  void waited(const Origin& origin, GroupKind kind, uint64_t allowed, bool read_only) override {
    Pending& pending = pending_[{origin.cta_rank, origin.warp, kind}];
    for_each_lane(origin.lanes, [&](size_t lane) {
      pending.reads[lane] = std::min(pending.reads[lane], allowed);
      if (!read_only) pending.groups[lane] = std::min(pending.groups[lane], allowed);
    });
  }
  void cta_barrier(const Origin& origin, const CtaBarrierEvent& event) override {
    const isa::Instruction*& window = windows_[{origin.cta_rank, origin.warp}];
    if (event.step == CtaBarrierEvent::Step::pass) {
      window = origin.instruction;
      return;
    }
    window = nullptr;
    meet(generations_[{origin.cta_rank, event.id, event.generation}], origin.instruction);
  }
  void cluster_barrier(const Origin& origin, const ClusterBarrierEvent& event) override {
    if (event.step == ClusterBarrierEvent::Step::arrive)
      meet(cluster_generations_[event.generation], origin.instruction);
  }
  void accessed(const Origin& origin, const Access& access) override {
    const isa::Instruction* window = windows_[{origin.cta_rank, origin.warp}];
    for_each_lane(access.lanes, [&](size_t lane) {
      const auto byte = byte_of(access.space, access.addresses[lane]);
      const bool own = !byte || touch(*byte, access.size, origin);
      if (!own && window != nullptr) sites_[window].used_before = true;
    });
  }
  void issued(const Origin&, const AsyncIssue& issue) override {
    for (const auto& pieces : {issue.reads, issue.writes})
      for (const Piece& piece : pieces)
        touch_by_many(piece.shared ? shared_bytes + uint32_t(piece.address) : piece.address, piece.bytes);
  }

 private:
  static constexpr int32_t many = -1;
  static constexpr uint64_t granule = 16;  // bytes; whoever shares a granule counts as touching the same

  void meet(const isa::Instruction*& first, const isa::Instruction* now) {
    if (first == nullptr) first = now;
    if (first == now) return;
    sites_[first].shared = true;
    sites_[now].shared = true;
  }
  // True when nobody but this warp has touched the bytes.
  bool touch(uint64_t address, uint64_t bytes, const Origin& origin) {
    const int32_t me = origin.cta_rank * 64 + origin.warp;
    bool own = true;
    for (uint64_t g = address / granule; g <= (address + bytes - 1) / granule; ++g) {
      int32_t& who = touched_.try_emplace(g, me).first->second;
      own = own && who == me;
      if (who != me) who = many;
    }
    return own;
  }
  void touch_by_many(uint64_t address, uint64_t bytes) {
    for (uint64_t g = address / granule; g <= (address + bytes - 1) / granule; ++g) touched_[g] = many;
  }

  RunFacts& run_;
  RunFacts::Sites sites_;
  std::map<std::tuple<uint16_t, uint16_t, GroupKind>, Pending> pending_;
  std::map<std::pair<uint16_t, uint16_t>, const isa::Instruction*> windows_;
  std::map<std::tuple<uint16_t, uint32_t, uint64_t>, const isa::Instruction*> generations_;
  std::map<uint64_t, const isa::Instruction*> cluster_generations_;
  std::map<uint64_t, int32_t> touched_;
};

std::unique_ptr<ClusterObserver> RunFacts::observe(ClusterState& cluster) {
  const std::scoped_lock lock(mutex_);
  ctas_ = std::max(ctas_, uint32_t(cluster.ctas.size()));
  return std::make_unique<ClusterFacts>(*this);
}

bool RunFacts::watches(uint32_t) const { return true; }

void RunFacts::add(const Sites& more) {
  const std::scoped_lock lock(mutex_);
  for (const auto& [instruction, facts] : more) {
    SiteFacts& site = sites_[instruction];
    site.executed += facts.executed;
    site.whole_warps = site.whole_warps && facts.whole_warps;
    site.most_pending = std::max(site.most_pending, facts.most_pending);
    site.shared = site.shared || facts.shared;
    site.used_before = site.used_before || facts.used_before;
  }
}

SiteFacts RunFacts::of(uint32_t function, uint32_t instruction) const {
  const auto at = sites_.find(&module_.functions[function].body[instruction]);
  return at == sites_.end() ? SiteFacts{} : at->second;
}

}  // namespace palladion::sim::check
