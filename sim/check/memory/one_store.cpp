#include "sim/check/memory/one_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

#include "sim/check/memory/stored_values.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {
namespace {

constexpr uint32_t next(uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); }

// As in most stores: each lane's bytes lie behind those of the one before.
bool ascending(const Access& a) {
  uint64_t end = 0;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const uint64_t at = a.addresses[next(m)];
    if (at < end) return false;
    end = at + a.size;
  }
  return true;
}

// By lane, the lowest one with its address: lanes of one access overlap in all of their bytes or in none.
struct Addresses {
  uint32_t lane[32];

  explicit Addresses(const Access& a) {
    uint8_t lanes[64] = {};  // by a hash of the address: 1 + a lane
    for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
      const uint32_t i = next(m);
      uint64_t at = (a.addresses[i] * 0x9E37'79B9'7F4A'7C15) >> 58;
      while (lanes[at] != 0 && a.addresses[lanes[at] - 1] != a.addresses[i]) at = (at + 1) % 64;
      if (lanes[at] == 0) lanes[at] = static_cast<uint8_t>(i + 1);
      lane[i] = lanes[at] - 1U;
    }
  }
};

// "0x0000002a": up to 16 bytes as a number.
std::string number(const uint8_t* bytes, uint32_t size) {
  std::string out = "0x";
  for (uint32_t b = size; b-- > 0;) out += fmt::format("{:02x}", bytes[b]);
  return out;
}

}  // namespace

void OneStore::on(const Access& a) {
  if (a.kind != Access::Kind::write || a.order != isa::Order::weak || ascending(a)) return;
  const StoredValues values(context_, a);
  if (!values.known()) return;
  const Addresses addresses(a);
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const uint32_t i = next(m), first = addresses.lane[i];
    if (first == i) continue;
    const isa::Space space = a.space == isa::Space::generic ? space_of(a.addresses[i]) : a.space;
    if (space != isa::Space::global && !is_shared(space)) continue;  // each lane has memory of its own
    uint8_t mine[StoredValues::most_bytes], other[StoredValues::most_bytes];
    values.read(Lane(i), mine), values.read(Lane(first), other);
    if (std::memcmp(mine, other, a.size) != 0) return report(a, first, i);
    copies_.insert(a.origin.pc);
  }
}

// What is copied is told by its place: lanes that copy the same bytes store one value.
void OneStore::on(const AsyncIssue& e) {
  if (e.family != isa::AsyncFamily::cp_async ||
      e.writes.size() != static_cast<size_t>(std::popcount(e.origin.lanes)))
    return;
  constexpr Code code = Code::lane_store_conflict;
  struct Copy {
    Lane lane;
    uint64_t from = 0;
    uint32_t bytes = 0;  // 0: zeros alone
  };
  std::unordered_map<uint64_t, Copy> first;  // by the address that is written
  size_t written = 0, read = 0;
  for (uint32_t m = e.origin.lanes; m != 0; m &= m - 1, ++written) {
    Copy copy{.lane = lowest_lane(m)};
    if ((e.read_lanes >> copy.lane & 1) != 0 && read < e.reads.size()) {
      copy.from = e.reads[read].address;
      copy.bytes = e.reads[read++].bytes;
    }
    const Piece& to = e.writes[written];
    const auto [at, fresh] = first.try_emplace(to.address, copy);
    if (fresh || (at->second.from == copy.from && at->second.bytes == copy.bytes)) continue;
    const FindingKey key{code, e.origin.pc, e.origin.pc, 0};
    if (context_.reporter.seen(key, e.origin)) return;
    Finding f;
    f.object = shared_object(context_.run, context_.cluster, SharedAddress(to.address), to.bytes);
    Origin origin = e.origin;
    origin.lanes = 1U << at->second.lane | 1U << copy.lane;
    f.sites.push_back(context_.reporter.site(origin, Part{.does = Does::writes, .asynchronous = true}));
    return context_.reporter.report(key, std::move(f));
  }
}

void OneStore::report(const Access& a, uint32_t first, uint32_t second) {
  constexpr Code code = Code::lane_store_conflict;
  const uint64_t address = a.addresses[first];
  const bool global = space_of(a.space, address) == isa::Space::global;
  const FindingKey key{code, a.origin.pc, a.origin.pc, global ? 1U : 0U};
  if (context_.reporter.seen(key, a.origin)) return;
  Finding f;
  f.object = global ? global_object(context_.run, address, a.size)
                    : shared_object(context_.run, context_.cluster, SharedAddress(address), a.size);
  Origin origin = a.origin;
  origin.lanes = 0;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1)
    if (a.addresses[next(m)] == address) origin.lanes |= 1U << next(m);
  f.sites.push_back(context_.reporter.site(origin, Does::writes));
  const StoredValues values(context_, a);
  uint8_t mine[StoredValues::most_bytes], other[StoredValues::most_bytes];
  values.read(Lane(first), mine), values.read(Lane(second), other);
  const auto several = static_cast<uint32_t>(std::popcount(origin.lanes));
  f.notes.push_back(
      say<Phrase::lanes_store>(several, first, number(mine, a.size), second, number(other, a.size)));
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
