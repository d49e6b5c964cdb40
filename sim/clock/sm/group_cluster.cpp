// The cluster's network: loads, stores and atomics of other CTAs' shared memory, asynchronous stores and bulk
// copies, and the fences that wait for them.
//
// Everything travels in packets of 32 bytes. An SM puts them on the network one after the other, its own
// requests as well as its answers to others, and takes somewhat more from it than it can give.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/clock/sm/group.h"

namespace palladion::sim::hardware {
namespace {

constexpr double packet_bytes = 32;
constexpr uint32_t chunk_bytes = 16;  // of a sector that is not written as a whole each is a packet

// What a warp's access touches: lines, sectors, and packets that carry it away when it is written.
struct Touched {
  uint32_t lines = 0, sectors = 0, written = 0, atomic = 0;
};

struct Chunk {
  uint64_t index = 0;
  uint32_t bytes = 0;  // written
};

class Chunks {
 public:
  void add(uint64_t address, uint32_t bytes) {
    const uint64_t index = address / chunk_bytes;
    if (size_ == 0 || chunks_[size_ - 1].index != index) {
      Chunk* const found =
          std::find_if(chunks_.begin(), end(), [&](const Chunk& c) { return c.index == index; });
      if (found == end())
        chunks_[size_++] = {index, 0};
      else
        return void(found->bytes += bytes);
    }
    chunks_[size_ - 1].bytes += bytes;
  }

  Touched touched() {
    std::sort(chunks_.begin(), end(), [](const Chunk& a, const Chunk& b) { return a.index < b.index; });
    Touched t;
    for (const Chunk* c = chunks_.begin(); c != end();) {
      const uint64_t line = c->index / (line_bytes / chunk_bytes);
      uint32_t sectors = 0, count = 0;
      for (; c != end() && c->index / (line_bytes / chunk_bytes) == line; ++sectors) {
        const bool both = c + 1 != end() && c->index % 2 == 0 && c[1].index == c->index + 1;
        const bool whole = both && c->bytes >= chunk_bytes && c[1].bytes >= chunk_bytes;
        t.written += both && !whole ? 2 : 1;
        count += both ? 2 : 1;
        c += both ? 2 : 1;
      }
      ++t.lines;
      t.sectors += sectors;
      t.atomic += sectors + (count > 1 ? 1 : 0);  // a single word stands in the request itself
    }
    return t;
  }

 private:
  Chunk* end() { return chunks_.begin() + size_; }
  std::array<Chunk, 32> chunks_;
  uint32_t size_ = 0;
};

Touched touched(const uint64_t* addresses, uint32_t lanes, uint32_t bytes) {
  Chunks chunks;
  for (uint32_t m = lanes; m != 0; m &= m - 1) chunks.add(addresses[std::countr_zero(m)], bytes);
  return chunks.touched();
}

uint32_t rank_at(uint64_t address) { return static_cast<uint32_t>(address) >> cta_rank_shift; }

}  // namespace

// Packets from one SM to another (or to itself, the same way); returns when the last has come through.
double SmGroup::send(Sm& from, Sm& to, double time, double packets, double crowded) {
  const double out = packet_bytes / p_.dsm_bytes_per_cycle * (from.crowded && &from != &to ? crowded : 1);
  from.dsm_out = std::max(from.dsm_out, time) + packets * out;
  to.dsm_in = std::max(to.dsm_in, time) + packets * packet_bytes / p_.dsm_in_bytes_per_cycle;
  return std::max(from.dsm_out, to.dsm_in);
}

// What is written is acknowledged. Several SMs that write to one fill up the ways to it, then they wait.
double SmGroup::write(Sm& from, Sm& to, double time, double packets) {
  const double done = send(from, to, time, packets, p_.dsm_crowded_store);
  constexpr double on_the_way = 32;  // packets of an instruction
  from.dsm_out = std::max(from.dsm_out, to.dsm_in - p_.dsm_queue * on_the_way);
  if (&from != &to)
    to.dsm_out =
        std::max(to.dsm_out, time) + packets * p_.dsm_acknowledged * packet_bytes / p_.dsm_bytes_per_cycle;
  return done;
}

// A store waits in a queue until the network takes it; what the load-store unit is asked for after it waits
// behind it, and warps when the queue is full. Wide ones take two places.
void SmGroup::queue_store(Sm& unit, const Price& p, uint64_t now) const {
  const double start = std::max({static_cast<double>(now), unit.lsu_free, unit.dsm_out});
  unit.lsu_free = std::max(static_cast<double>(now), unit.lsu_free) + 1 + std::max(1U, p.bytes / 4);
  unit.lsu_held = std::max(unit.lsu_held, start);
  for (uint32_t i = 0; i < std::max(1U, p.bytes / 8); ++i) unit.network_queue.push(start);
}

void SmGroup::access_cluster(Warp& w, const Price& p, uint64_t now) {
  if (lanes_ == 0) return;
  Sm& unit = sms_[w.sm];
  auto& path = unit.sub[w.sub].pipe_free[static_cast<size_t>(Resource::smem)];
  const uint32_t rank = rank_at(addresses_[std::countr_zero(lanes_)]), words = std::max(1U, p.bytes / 4);
  const bool loads = p.path == Path::cluster_load && !p.atomic;
  if (rank == w.cta->rank) {
    access_shared(w, p, now);
    if (!loads) unit.lsu_free += 1;  // the upper half of the addresses
  }
  if (!loads) path = std::max<double>(path, static_cast<double>(now) + p.interval + 2.0 * (words - 1));
  if (rank == w.cta->rank) return;
  Sm& peer = sms_[w.sm + rank - w.cta->rank];
  const Touched t = touched(addresses_, lanes_, p.bytes);
  if (p.path == Path::cluster_store) {
    queue_store(unit, p, now);
    const double sent = write(unit, peer, static_cast<double>(now), p.atomic ? t.atomic : t.written);
    unit.dsm_done = std::max(unit.dsm_done, sent + p_.dsm_store_done);
    return;
  }
  const double start = std::max({static_cast<double>(now), unit.lsu_free, unit.lsu_held});
  unit.lsu_free = start + (loads ? words : words + 1);
  const auto time = static_cast<double>(now);
  const uint32_t passes = shared_passes(addresses_, lanes_, p.bytes);
  const uint32_t request = loads ? t.lines : t.atomic;
  const double asked = send(unit, peer, time, request, p_.dsm_crowded_load);
  const double back = std::max(asked, send(peer, unit, time, t.sectors, p_.dsm_crowded_load));
  const double first = static_cast<double>(request) / t.lines * packet_bytes / p_.dsm_bytes_per_cycle;
  const double latency = p_.dsm_latency + first + (loads ? 0 : p_.dsm_atomic) + (passes - 1) + (words - 1);
  set_ready(w, p, static_cast<uint64_t>(back + latency));
  unit.dsm_done = std::max(unit.dsm_done, back + latency - p.latency);
}

// st.async and red.async: from registers, as stores; they land on their own.
void SmGroup::store_async(Warp& w, const Price& p, uint64_t id, uint64_t now) {
  if (lanes_ == 0) return;
  Sm& unit = sms_[w.sm];
  auto& path = unit.sub[w.sub].pipe_free[static_cast<size_t>(Resource::smem)];
  path =
      std::max<double>(path, static_cast<double>(now) + p.interval + 2.0 * (std::max(1U, p.bytes / 4) - 1));
  Sm& peer = sms_[w.sm + rank_at(addresses_[std::countr_zero(lanes_)]) - w.cta->rank];
  const Touched t = touched(addresses_, lanes_, p.bytes);
  queue_store(unit, p, now);
  const double sent = write(unit, peer, static_cast<double>(now), p.atomic ? t.atomic : t.written);
  w.last_async = std::max(w.last_async, static_cast<uint64_t>(sent + p_.dsm_latency));
  unit.landed = std::max(unit.landed, w.last_async);
  push(static_cast<uint64_t>(sent + p_.dsm_store_latency), Event::Kind::land, *w.cluster, id);
}

// A bulk copy from the SM's own shared memory to that of a CTA of the cluster, by its TMA unit.
void SmGroup::copy_to_cluster(Warp& w, uint64_t id, const Traffic& t, uint64_t now) {
  Sm& unit = sms_[w.sm];
  Sm& peer = sms_[w.sm + static_cast<uint32_t>(std::countr_zero(t.ctas)) - w.cta->rank];
  const double start = std::max({static_cast<double>(now), unit.copy_free, unit.dsm_out});
  unit.copy_free = std::max(static_cast<double>(now), unit.copy_free) + p_.dsm_copy_interval;
  const double sent = write(unit, peer, static_cast<double>(now), std::ceil(t.bytes / packet_bytes));
  push(static_cast<uint64_t>(sent), Event::Kind::read, *w.cluster, id);
  push(static_cast<uint64_t>(sent + p_.dsm_copy_latency), Event::Kind::land, *w.cluster, id);
  unit.copies.push(start);
  const double room = unit.copies.before(static_cast<size_t>(p_.dsm_copy_queue));
  w.next = std::max(w.next, now + static_cast<uint64_t>(p_.dsm_copy_interval));
  if (room <= static_cast<double>(w.next)) return;
  w.next = static_cast<uint64_t>(room);
  w.why = Stall::tma_throttle;
}

// When a fence that begins now is done. Those of a wide scope wait for the warp's stores to be on their way,
// for what the SM has to do with others of the cluster, and, when the warp has asynchronous stores on their
// way, for those of the whole SM to be there; the SM takes one in an interval, a few more at once. If the SM
// has read or written GMEM since the last one, L2 is asked first whether all has arrived.
uint64_t SmGroup::fence(Warp& w, uint32_t latency, uint64_t now) {
  if (latency < p_.l2_latency / 2) return now + latency;
  Sm& unit = sms_[w.sm];
  if (std::exchange(unit.accessed, false))
    unit.stored = std::max(unit.stored, now + static_cast<uint64_t>(p_.l2_latency));
  const double begin =
      std::max(static_cast<double>(std::max({now, w.last_store, unit.stored})), unit.dsm_done);
  const double interval = prices_.fence_interval();
  unit.fence_free = std::max(unit.fence_free, begin - (p_.fence_queue - 1) * interval) + interval;
  const double done = std::max(begin, unit.fence_free - interval) + latency;
  if (w.last_async <= now) return static_cast<uint64_t>(done);
  const double known = unit.crowded ? p_.dsm_crowded_fence : 0;
  return std::max(static_cast<uint64_t>(done), unit.landed + static_cast<uint64_t>(known));
}

// A release at cluster scope stands behind a fence: the instruction issues when that is done. Towards its end
// the fence waits for arrivals that other warps have sent out meanwhile. True: look again at `at`.
bool SmGroup::release(Warp& w, const Price& p, uint32_t pc, uint32_t mask, uint64_t& at) {
  if (w.fenced) return false;
  w.why = Stall::membar;
  if (w.fence_end != 0) {
    at = std::max(w.fence_end, sms_[w.sm].told + p.release);
    w.fence_end = 0;
    w.fenced = true;
    return false;
  }
  Exec x = exec(w);
  if (!guarded(x, pc, mask)) return false;
  w.fence_end = fence(w, p.release, std::max(at, w.arrive_free));
  at = w.fence_end - static_cast<uint64_t>(p_.dsm_fence_tail);
  return true;
}

// Warps go on one after the other.
uint64_t SmGroup::cluster_barrier_delay(const Warp& w) const {
  const int doublings = static_cast<int>(std::bit_width(std::min<size_t>(w.cluster->ctas.size(), 8))) - 1;
  return static_cast<uint64_t>(p_.cluster_barrier_latency + p_.cluster_barrier_per_warp * (w.warp->id + 1) +
                               p_.cluster_barrier_per_doubling * std::max(0, doublings - 1));
}

// At an mbarrier that is named by its place in the cluster.
void SmGroup::arrive_remote(Warp& w, uint64_t now) {
  if (lanes_ == 0) return;
  Sm& unit = sms_[w.sm];
  const double start = std::max(static_cast<double>(now), unit.lsu_free);
  unit.lsu_free = start + p_.mbarrier_remote_interval;
  const auto mbarrier = static_cast<uint32_t>(addresses_[std::countr_zero(lanes_)]);
  if (w.last_mbarrier == mbarrier)  // its address is at hand
    w.arrive_free = now + static_cast<uint64_t>(p_.mbarrier_remote_again);
  w.last_mbarrier = mbarrier;
  if (rank_at(mbarrier) == w.cta->rank) return;
  unit.told = now + static_cast<uint64_t>(p_.dsm_arrive_done);
  w.last_store = std::max(w.last_store, unit.told);
  const auto time = static_cast<uint64_t>(start + p_.mbarrier_remote);
  const auto known = std::ranges::find_if(remote_arrivals_, [&](const RemoteArrival& a) {
    return a.cluster == w.cluster && a.mbarrier == mbarrier;
  });
  if (known != remote_arrivals_.end())
    known->time = time;
  else
    remote_arrivals_.push_back({w.cluster, mbarrier, time});
}

// Cycles from now until a warp goes on that waits for an mbarrier of its CTA to which arrivals are on the
// way.
uint64_t SmGroup::remote_delay(const Warp& w, uint64_t mbarrier, uint64_t now) const {
  const auto address = (static_cast<uint32_t>(mbarrier) & shared_offset_mask) | w.cta->rank << cta_rank_shift;
  for (const RemoteArrival& a : remote_arrivals_)
    if (a.cluster == w.cluster && a.mbarrier == address && a.time > now)
      return a.time - now + static_cast<uint64_t>(p_.mbarrier_wake);
  return 0;
}

}  // namespace palladion::sim::hardware
