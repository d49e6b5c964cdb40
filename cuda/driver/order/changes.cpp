#include "cuda/driver/order/changes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "cuda/driver/order/written.h"
#include "sim/check/core/context.h"
#include "sim/launch/launch.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/state/cluster.h"

namespace palladion::cuda::driver {
namespace {

// visit(first byte, bytes) for what lanes touch of global memory, neighbours together.
template <class Visit>
void for_each_run(const sim::Access& a, Visit&& visit) {
  if (a.space != isa::Space::global && a.space != isa::Space::generic) return;
  uint64_t begin = 0, end = 0;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const uint64_t at = a.addresses[std::countr_zero(m)];
    if (at >= begin && at + a.size <= end) continue;
    if (sim::space_of(a.space, at) != isa::Space::global) continue;
    if (at != end) {
      if (begin != end) visit(begin, end - begin);
      begin = at;
    }
    end = at + a.size;
  }
  if (begin != end) visit(begin, end - begin);
}

template <class Visit>
void for_each_global(std::span<const sim::Piece> pieces, Visit&& visit) {
  for (const sim::Piece& p : pieces)
    if (p.space == isa::Space::global) visit(p.address, p.bytes);
}

constexpr size_t most_reads = 1 << 20;  // of a cluster, and of a launch
constexpr uint64_t page_bytes = 4096;

}  // namespace

class UnwrittenReads::Part {
 public:
  void on(const sim::Access& a) {
    const bool reads = a.kind != sim::Access::Kind::write, writes = a.kind != sim::Access::Kind::read;
    for_each_run(a, [&](uint64_t at, uint64_t size) {
      Shadow* const s = shadow(at);
      if (s == nullptr) return;
      if (reads && !s->is_written(at, size))
        for (uint64_t lane = at; lane < at + size; lane += a.size)
          if (!s->any_written(lane, a.size)) keep(lane, a.size, a.origin);
      if (writes) s->write(at, size);
    });
  }
  void on(const sim::AsyncIssue& a) {
    for_each_global(a.reads, [&](uint64_t at, uint64_t size) { read(at, size, a.origin); });
    for_each_global(a.writes, [&](uint64_t at, uint64_t size) {
      if (a.reduces) read(at, size, a.origin);
      if (Shadow* const s = shadow(at)) s->write(at, size);
    });
  }

  order::Ranges bytes;
  std::map<uint32_t, sim::Origin> origins;  // by pc

 private:
  Shadow* shadow(uint64_t at) {
    if (last_ == nullptr || !last_->covers(at)) last_ = shadow_of(at);
    return last_;
  }
  void read(uint64_t at, uint64_t size, const sim::Origin& origin) {
    const Shadow* const s = shadow(at);
    if (s == nullptr || s->is_written(at, size)) return;
    const order::Ranges unwritten = s->unwritten(at, size);
    for (const order::Range& r : unwritten.all()) keep(r.begin, r.end - r.begin, origin);
  }
  void keep(uint64_t at, uint64_t size, const sim::Origin& origin) {
    if (bytes.size() < most_reads) bytes.add(at, at + size);
    origins.try_emplace(origin.pc, origin);
  }

  Shadow* last_ = nullptr;
};

UnwrittenReads::UnwrittenReads() = default;
UnwrittenReads::~UnwrittenReads() = default;

void UnwrittenReads::observe(sim::ClusterState& cluster, sim::ClusterEvents& events) {
  events.add(parts_.add(cluster, std::make_unique<Part>()));
}

void UnwrittenReads::retire(sim::ClusterState& cluster) {
  const std::unique_ptr<Part> part = parts_.take(cluster);
  if (!part || part->bytes.empty()) return;
  if (bytes_.size() < most_reads) bytes_.add(part->bytes);
  for (const auto& [pc, origin] : part->origins)
    if (!sites_.contains(pc)) sites_.emplace(pc, sim::check::plain_site(run_, cluster, origin));
}

class Changes::Part {
 public:
  explicit Part(Changes& changes) : changes_(changes) {}
  void on(const sim::Access& a) {
    if (a.kind != sim::Access::Kind::read)
      for_each_run(a, [&](uint64_t at, uint64_t size) { save(at, size); });
  }
  void on(const sim::AsyncIssue& a) {
    for_each_global(a.writes, [&](uint64_t at, uint64_t size) { save(at, size); });
  }

 private:
  // Pages begin where their allocation does.
  void save(uint64_t at, uint64_t bytes) {
    const sim::Allocation* const a = changes_.memory_.lookup(sim::Address(at));
    if (a == nullptr) return;
    const uint64_t last = std::min(at - a->base + bytes, a->size) - 1;
    for (uint64_t index = (at - a->base) / page_bytes; index <= last / page_bytes; ++index) {
      const uint64_t begin = a->base + index * page_bytes;
      uint64_t& seen = seen_[begin / page_bytes % seen_.size()];
      if (seen == begin) continue;
      changes_.save(sim::Address(begin), *a);
      seen = begin;
    }
  }

  Changes& changes_;
  std::array<uint64_t, 256> seen_{};  // pages that are kept
};

Changes::Changes(sim::GlobalMemory& memory, size_t most_pages) : memory_(memory), most_pages_(most_pages) {}
Changes::~Changes() = default;

void Changes::observe(sim::ClusterState& cluster, sim::ClusterEvents& events) {
  events.add(parts_.add(cluster, std::make_unique<Part>(*this)));
}

void Changes::retire(sim::ClusterState& cluster) { (void)parts_.take(cluster); }

void Changes::save(sim::Address at, const sim::Allocation& a) {
  if (full_.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(lock_);
  if (pages_.contains(at)) return;
  if (pages_.size() == most_pages_) full_ = true;
  if (full_) return;
  const uint8_t* const from = a.bytes + (at - a.base);
  pages_[at].assign(from, from + std::min(page_bytes, a.size - (at - a.base)));
}

Changes::Pages Changes::undo() {
  Pages after;
  for (const auto& [at, bytes] : pages_) {
    const uint8_t* const now = memory_.find(at, bytes.size());
    after[at].assign(now, now + bytes.size());
  }
  put(memory_, pages_);
  return after;
}

void put(sim::GlobalMemory& memory, const Changes::Pages& pages) {
  for (const auto& [at, bytes] : pages)
    std::memcpy(memory.find(at, bytes.size()), bytes.data(), bytes.size());
}

}  // namespace palladion::cuda::driver
