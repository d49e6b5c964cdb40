#include "sim/explore/skeleton.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace palladion::sim::check {
namespace {

void mix(uint64_t& hash, uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6) + (hash >> 2);
  hash *= 0xBF58476D1CE4E5B9ULL;
  hash ^= hash >> 31;
}

void mix(uint64_t& hash, const SyncOp& op) {
  mix(hash, static_cast<uint64_t>(op.kind) | uint64_t{op.parity} << 8 | uint64_t{op.drop} << 9 |
                uint64_t{op.deferred} << 10 | uint64_t{op.object} << 32);
  mix(hash, uint64_t{op.count} << 32 | op.needed);
  mix(hash, static_cast<uint64_t>(op.tx));
  for (const Prerequisite& p : op.after) mix(hash, uint64_t{p.thread} << 32 | p.position);
}

bool same(const SyncOp& a, const SyncOp& b) {
  return a.kind == b.kind && a.parity == b.parity && a.drop == b.drop && a.deferred == b.deferred &&
         a.object == b.object && a.count == b.count && a.needed == b.needed && a.tx == b.tx &&
         a.place == b.place && a.after == b.after;
}

}  // namespace

void Skeleton::order_commits() {
  std::map<std::pair<uint32_t, uint32_t>, std::vector<Prerequisite>> landed;
  for (uint32_t t = 0; t < threads.size(); ++t)
    if (threads[t].commit != 0) landed[{threads[t].committer, threads[t].commit}].push_back({t, 1});
  for (SyncThread& t : threads) {
    if (t.commit < 2) continue;
    const auto& before = landed[{t.committer, t.commit - 1}];
    t.ops[0].after.insert(t.ops[0].after.end(), before.begin(), before.end());
  }
}

uint64_t Skeleton::operations() const {
  uint64_t n = 0;
  for (const SyncThread& t : threads) n += t.ops.size();
  return n;
}

uint64_t Skeleton::structural_hash() const {
  uint64_t hash = threads.size();
  for (const SyncObject& o : objects)
    mix(hash, static_cast<uint64_t>(o.kind) << 48 | uint64_t{o.cta_rank} << 32 | o.address);
  for (const SyncThread& t : threads) {
    mix(hash, uint64_t{t.cta_rank} << 32 | uint64_t{t.warp} << 8 | uint64_t{t.agent});
    for (const SyncOp& op : t.ops) mix(hash, op);
  }
  mix(hash, frozen.size());
  return hash;
}

bool Skeleton::same_structure(const Skeleton& other) const {
  const auto same_thread = [](const SyncThread& a, const SyncThread& b) {
    return a.cta_rank == b.cta_rank && a.warp == b.warp && a.agent == b.agent &&
           std::ranges::equal(a.ops, b.ops, same);
  };
  return objects == other.objects && frozen == other.frozen && incomplete == other.incomplete &&
         std::ranges::equal(threads, other.threads, same_thread);
}

uint32_t SkeletonBuilder::mbarrier(uint32_t count) {
  const auto n = static_cast<uint32_t>(skeleton_.objects.size());
  skeleton_.objects.push_back({.kind = SyncObject::Kind::mbarrier,
                               .address = n * 8,
                               .initial = count,
                               .object = {.kind = Object::Kind::mbarrier, .ranges = {{n * 8, n * 8 + 8}}}});
  return n;
}

uint32_t SkeletonBuilder::barrier() {
  const auto n = static_cast<uint32_t>(skeleton_.objects.size());
  skeleton_.objects.push_back({.kind = SyncObject::Kind::cta_barrier,
                               .address = n,
                               .object = {.kind = Object::Kind::barrier, .number = n}});
  return n;
}

uint32_t SkeletonBuilder::pool(uint32_t free) {
  const auto n = static_cast<uint32_t>(skeleton_.objects.size());
  skeleton_.objects.push_back({.kind = SyncObject::Kind::registers,
                               .initial = free,
                               .object = {.kind = Object::Kind::register_pool}});
  return n;
}

Skeleton Skeleton::with_warps_together() const {
  Skeleton out = *this;
  uint32_t first = 0;
  for (const uint32_t end : together_ends) {
    const std::span group(together.begin() + first, together.begin() + end);
    for (const Prerequisite& mine : group) {
      std::vector<SyncOp>& ops = out.threads[mine.thread].ops;
      if (mine.position == ops.size()) continue;
      for (const Prerequisite& other : group)
        if (other.thread != mine.thread) ops[mine.position].after.push_back(other);
    }
    first = end;
  }
  return out;
}

SyncOp& SkeletonBuilder::add(uint32_t thread, SyncOp op) {
  auto& ops = skeleton_.threads[thread].ops;
  ops.push_back(std::move(op));
  return ops.back();
}

void SkeletonBuilder::arrive(uint32_t thread, uint32_t object, uint32_t count, int64_t tx) {
  add(thread, {.kind = SyncKind::arrive, .object = object, .count = count, .tx = tx, .after = {}});
}

void SkeletonBuilder::wait(uint32_t thread, uint32_t object, bool parity) {
  add(thread, {.kind = SyncKind::wait, .parity = parity, .object = object, .after = {}});
}

void SkeletonBuilder::bar_arrive(uint32_t thread, uint32_t object, uint32_t count, uint32_t needed) {
  add(thread,
      {.kind = SyncKind::bar_arrive, .object = object, .count = count, .needed = needed, .after = {}});
}

void SkeletonBuilder::bar_sync(uint32_t thread, uint32_t object, uint32_t count, uint32_t needed) {
  bar_arrive(thread, object, count, needed);
  add(thread, {.kind = SyncKind::bar_pass, .object = object, .after = {}});
}

// It begins after what `thread` has executed so far.
SyncThread& SkeletonBuilder::agent(uint32_t thread, SyncOp op) {
  op.after = {{thread, static_cast<uint32_t>(skeleton_.threads[thread].ops.size())}};
  SyncThread a{.agent = true, .ops = {}};
  a.ops.push_back(std::move(op));
  agents_.push_back(std::move(a));
  return agents_.back();
}

void SkeletonBuilder::commit(uint32_t thread, uint32_t object) {
  add(thread, {.kind = SyncKind::nothing, .after = {}});
  SyncThread& a = agent(thread, {.kind = SyncKind::arrive, .object = object, .count = 1, .after = {}});
  a.committer = 1 + thread;
  a.commit = ++commits_[thread];
}

void SkeletonBuilder::copy(uint32_t thread, uint32_t object, int64_t bytes) {
  add(thread, {.kind = SyncKind::nothing, .after = {}});
  agent(thread, {.kind = SyncKind::arrive, .object = object, .tx = -bytes, .after = {}});
}

void SkeletonBuilder::deferred_arrive(uint32_t thread, uint32_t object, uint32_t count, bool noinc) {
  add(thread,
      {.kind = noinc ? SyncKind::nothing : SyncKind::defer, .object = object, .count = count, .after = {}});
  agent(thread,
        {.kind = SyncKind::arrive, .deferred = !noinc, .object = object, .count = count, .after = {}});
}

void SkeletonBuilder::meet(const std::vector<uint32_t>& threads) {
  std::vector<Prerequisite> here;
  for (const uint32_t t : threads)
    here.push_back({t, static_cast<uint32_t>(skeleton_.threads[t].ops.size())});
  for (const uint32_t t : threads) {
    SyncOp op{.kind = SyncKind::nothing, .after = {}};
    for (const Prerequisite& p : here)
      if (p.thread != t) op.after.push_back(p);
    add(t, std::move(op));
  }
}

Skeleton SkeletonBuilder::build() const {
  Skeleton s = skeleton_;
  s.threads.insert(s.threads.end(), agents_.begin(), agents_.end());
  s.order_commits();
  return s;
}

}  // namespace palladion::sim::check
