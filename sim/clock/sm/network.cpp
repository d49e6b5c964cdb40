#include "sim/clock/sm/network.h"

#include <array>
#include <bit>

#include "sim/clock/memory/lines.h"

namespace palladion::sim::hardware {
namespace {

constexpr double packet_bytes = 32;
constexpr uint32_t chunk_bytes = 16;  // of a sector that is not written as a whole each is a packet

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

  Packets packets() {
    std::sort(chunks_.begin(), end(), [](const Chunk& a, const Chunk& b) { return a.index < b.index; });
    Packets t;
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

}  // namespace

Packets packets_of(const uint64_t* addresses, uint32_t lanes, uint32_t bytes) {
  Chunks chunks;
  for (uint32_t m = lanes; m != 0; m &= m - 1) chunks.add(addresses[std::countr_zero(m)], bytes);
  return chunks.packets();
}

Cycles NetworkPort::send(NetworkPort& to, Cycles time, double packets, double contention) {
  const Cycles out = packet_bytes / p_->dsm_bytes_per_cycle * (shared_ && this != &to ? contention : 1);
  out_ = std::max(out_, time) + packets * out;
  to.in_ = std::max(to.in_, time) + packets * packet_bytes / p_->dsm_in_bytes_per_cycle;
  return std::max(out_, to.in_);
}

Cycles NetworkPort::write(NetworkPort& to, Cycles time, double packets) {
  const double done = send(to, time, packets, p_->dsm_contended_store);
  constexpr double on_the_way = 32;  // packets of an instruction
  out_ = std::max(out_, to.in_ - p_->dsm_queue * on_the_way);
  if (this != &to)
    to.out_ =
        std::max(to.out_, time) + packets * p_->dsm_acknowledged * packet_bytes / p_->dsm_bytes_per_cycle;
  return done;
}

void NetworkPort::queue_store(Cycles leaves, uint32_t bytes) {
  for (uint32_t i = 0; i < std::max(1U, bytes / 8); ++i) stores_.push(leaves);
}

Cycles NetworkPort::start_copy(Cycles now) {
  const Cycles start = std::max({now, copy_free_, out_});
  copy_free_ = std::max(now, copy_free_) + p_->dsm_copy_interval;
  copies_.push(start);
  return start;
}

void RemoteArrivals::add(ClusterOfGroup cluster, SharedAddress mbarrier, Cycle time) {
  const auto known = std::ranges::find_if(
      arrivals_, [&](const Arrival& a) { return a.cluster == cluster && a.mbarrier == mbarrier; });
  if (known != arrivals_.end())
    known->time = time;
  else
    arrivals_.push_back({cluster, mbarrier, time});
}

Cycle RemoteArrivals::arrives(ClusterOfGroup cluster, SharedAddress mbarrier, Cycle now) const {
  for (const Arrival& a : arrivals_)
    if (a.cluster == cluster && a.mbarrier == mbarrier && a.time > now) return a.time;
  return Cycle(0);
}

void RemoteArrivals::remove(ClusterOfGroup cluster) {
  std::erase_if(arrivals_, [&](const Arrival& a) { return a.cluster == cluster; });
}

}  // namespace palladion::sim::hardware
