#include "sim/check/memory/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "sim/check/memory/stored_values.h"

namespace palladion::sim::check {
namespace {

bool is_strong(isa::Order o) { return o != isa::Order::weak; }

uint8_t flags_of(const Access& a) {
  uint8_t f = is_strong(a.order) ? Record::strong : 0;
  if (a.kind != Access::Kind::write) f |= Record::reads;
  if (a.kind != Access::Kind::read) f |= Record::writes;
  if (a.kind == Access::Kind::atomic) f |= Record::atomic | Record::strong;
  return f;
}

// Bytes of an element of a strong access. Vectors and packed types stand for an operation of each element
// (PTX, "Vector Data-types", "Packed Data-types").
uint8_t element_of(const Access& a) {
  if (!is_strong(a.order) && a.kind != Access::Kind::atomic) return 0;
  return std::visit(
      [](const auto& e) -> uint8_t {
        if constexpr (requires { e.type, e.elements, e.order, e.scope; }) {
          const bool packed = e.type == isa::Type::f16x2 || e.type == isa::Type::bf16x2;
          return static_cast<uint8_t>(isa::bytes(e.type) / (packed ? 2 : 1));
        }
        return 0;
      },
      *a.origin.effect);
}

uint32_t log2_of(uint32_t size) { return static_cast<uint32_t>(std::countr_zero(size)); }

// No two lanes touch a byte that is the same.
bool are_apart(const Access& a, uint32_t lanes) {
  std::array<uint64_t, 32> places;
  size_t n = 0;
  bool ascending = true;
  for (uint32_t m = lanes; m != 0; m &= m - 1, ++n) {
    places[n] = a.addresses[std::countr_zero(m)];
    ascending &= n == 0 || places[n] >= places[n - 1] + a.size;
  }
  if (ascending) return true;
  std::sort(places.begin(), places.begin() + static_cast<ptrdiff_t>(n));
  for (size_t i = 1; i < n; ++i)
    if (places[i] < places[i - 1] + a.size) return false;
  return true;
}

// Of lanes that read one place together each may be the one that others do not wait for: a record is of such
// lanes alone, and one of all those that have a place of their own. visit(lanes).
template <class Visit>
void for_each_reader(const Access& a, uint32_t lanes, Visit&& visit) {
  uint32_t others = lanes;
  for (uint32_t m = a.kind == Access::Kind::read ? lanes : 0; m != 0;) {
    const Lane first = lowest_lane(m);
    uint32_t together = 0;
    for (; m != 0 && a.addresses[lowest_lane(m)] == a.addresses[first]; m &= m - 1) together |= m & (0 - m);
    if (together == lanes || std::has_single_bit(together)) continue;
    others &= ~together;
    visit(together);
  }
  if (others != 0) visit(others);
}

}  // namespace

// --- one cluster ----------------------------------------------------------------------------------
MemoryChecks::MemoryChecks(const ClusterContext& context, HappensBefore& order, ConflictSink& sink)
    : context_(context), order_(order), detector_(pool_, records_, sink) {
  for (const CtaState& cta : context.cluster.ctas) shared_.emplace_back(cta.shared.size());
  last_.resize(context.cluster.ctas.size() * context.cluster.ctas.front().warps.size());
}

template <class Emit>
void MemoryChecks::for_each_run(const Access& a, uint32_t lanes, Emit&& emit) {
  const Lane first = lowest_lane(lanes);
  if (a.size > granule || !std::has_single_bit(a.size)) {  // each lane's bytes are its own run
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const Lane lane = lowest_lane(m);
      emit(a.addresses[lane], uint64_t{a.size}, lane, every_lane);
    }
    return;
  }
  bool same = (lanes & (lanes - 1)) != 0;
  for (uint32_t m = lanes; m != 0 && same; m &= m - 1)
    same = a.addresses[std::countr_zero(m)] == a.addresses[first];
  if (same) return emit(a.addresses[first], uint64_t{a.size}, first, every_lane);
  const uint32_t size = log2_of(a.size);
  uint64_t start = a.addresses[first], bytes = a.size;
  Lane run_lane = first, previous = first;
  for (uint32_t m = lanes & (lanes - 1); m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    const uint64_t at = a.addresses[lane];
    if (lane == previous + 1 && at == start + bytes) {
      bytes += a.size;
    } else {
      emit(start, bytes, run_lane, size);
      start = at, bytes = a.size, run_lane = lane;
    }
    previous = lane;
  }
  emit(start, bytes, run_lane, size);
}

void MemoryChecks::touch_shared(uint64_t address, uint64_t bytes, Lane lane, uint32_t size_log2) {
  const auto a = static_cast<uint32_t>(address);
  SharedShadow& shadow = shared_[a >> cta_rank_shift];
  const uint64_t begin = a & shared_offset_mask, rank = a & ~shared_offset_mask;
  const uint64_t size = context_.cluster.ctas[a >> cta_rank_shift].shared.size();
  bytes = std::min(bytes, size - std::min(begin, size));  // a load may end behind it: bounds.h
  for_each_granule(begin, bytes, size_log2, lane,
                   [&](uint64_t at, uint32_t first, uint32_t count, uint32_t pattern) {
                     if (shadow.contains(at))
                       detector_.touch(shadow.cell(at), rank | at, first, count, pattern);
                   });
}

bool MemoryChecks::observes(const Access& a) {
  if (!check::observes(a)) return false;
  if (a.kind != Access::Kind::atomic) return true;
  return used_results_.contain(*context_.run.program, a.origin.pc);
}

Actor MemoryChecks::actor_of(const Access& a, uint32_t lanes) {
  const WarpOfCluster warp = order_.index(a.origin);
  Actor actor;
  actor.order = &order_;
  actor.view = &order_.view(warp, lowest_lane(lanes));
  actor.cluster = context_.cluster.index;
  actor.warp = warp;
  actor.rank = a.origin.cta_rank;
  actor.lanes = lanes;
  actor.reads = a.kind != Access::Kind::write;
  actor.writes = a.kind != Access::Kind::read;
  actor.strong = is_strong(a.order) || a.kind == Access::Kind::atomic;
  actor.observes = observes(a);
  actor.scope = a.scope;
  actor.element = element_of(a);
  return actor;
}

uint32_t MemoryChecks::generic_record(const Access& a, uint32_t lanes, uint32_t content, bool* again) {
  const Origin& origin = a.origin;
  const WarpOfCluster warp = order_.index(origin);
  Last& last = last_[warp];
  const uint32_t time = order_.time(warp);
  if (last.pc == origin.pc && last.time == time && last.lanes == lanes && last.content == content) {
    if (again != nullptr) *again = true;
    return last.record;
  }
  if (records_.size() > collect_at_) collect_records();
  Record r;
  r.cluster = context_.cluster.index;
  r.pc = origin.pc;
  r.time = time;
  r.lanes = lanes;
  r.warp = warp;
  r.flags = flags_of(a);
  r.scope = a.scope;
  r.element = element_of(a);
  r.content = content;
  last = {origin.pc, time, lanes, content, records_.add(r)};
  return last.record;
}

void MemoryChecks::collect_records() {
  records_.collect([&](auto&& visit) {
    for (SharedShadow& s : shared_) s.for_each_cell([&](Cell& c) { pool_.for_each_ref(c, visit); });
  });
  for (Last& l : last_) l = {};
  collect_at_ = std::max<size_t>(1U << 16, 2 * records_.size());
}

void MemoryChecks::on(const Access& a) {
  ++accesses_;
  order_.accessed(order_.index(a.origin));
  uint32_t shared = 0, global = 0;
  if (a.space != isa::Space::generic) {
    shared = is_shared(a.space) ? a.lanes : 0;
    global = a.space == isa::Space::global ? a.lanes : 0;
  }
  for (uint32_t m = a.space == isa::Space::generic ? a.lanes : 0; m != 0; m &= m - 1) {
    const isa::Space space = space_of(a.addresses[std::countr_zero(m)]);
    if (is_shared(space)) shared |= m & (0 - m);
    if (space == isa::Space::global) global |= m & (0 - m);
  }
  // Lanes with different views are judged separately.
  order_.for_each_view(order_.index(a.origin), shared | global, [&](const ViewRef&, uint32_t lanes) {
    for_each_reader(a, lanes & shared, [&](uint32_t some) { access_shared(a, some); });
    for_each_reader(a, lanes & global, [&](uint32_t some) { access_global(a, some); });
  });
}

// What lanes write they write one after the other; those that read one place read the same.
void MemoryChecks::access_strongly(const Access& a, uint32_t lanes, bool shared) {
  if (!is_strong(a.order) && a.kind != Access::Kind::atomic) return;
  while (lanes != 0) {
    const uint64_t address = a.addresses[std::countr_zero(lanes)];
    uint32_t same = lanes & (0 - lanes);
    for (uint32_t m = a.kind == Access::Kind::read ? lanes : 0; m != 0; m &= m - 1)
      if (a.addresses[std::countr_zero(m)] == address) same |= m & (0 - m);
    order_.strong().access(a, shared ? address & 0xFFFF'FFFF : address, same, shared);
    lanes &= ~same;
  }
}

// What a strong read knows before it acquires anything itself.
ViewRef MemoryChecks::view_before(const Access& a, uint32_t lanes) const {
  const bool reads = (is_strong(a.order) && a.kind == Access::Kind::read) || a.kind == Access::Kind::atomic;
  return reads ? order_.view_ref(order_.index(a.origin), lowest_lane(lanes)) : ViewRef();
}

void MemoryChecks::access_shared(const Access& a, uint32_t lanes) {
  const ViewRef before = view_before(a, lanes);
  access_strongly(a, lanes, true);
  if (a.kind != Access::Kind::read) order_.stored_to_shared(order_.index(a.origin), lanes);
  Actor actor = actor_of(a, lanes);
  if (before) actor.acquired = std::exchange(actor.view, before.get());
  actor.unchanged = a.kind == Access::Kind::write ? a.unchanged : 0;
  // Lanes with different views that store one value: the second part does not find it in memory yet.
  const bool parts = a.kind == Access::Kind::write && lanes != a.lanes;
  bool again = false;
  actor.record = generic_record(a, lanes, parts ? content_of(a, lanes) : 0, &again);
  actor.again = again && actor.writes && are_apart(a, lanes);
  detector_.begin(actor, false);
  for_each_run(a, lanes, [&](uint64_t address, uint64_t bytes, Lane lane, uint32_t size) {
    touch_shared(address, bytes, lane, size);
  });
  detector_.end();
}

// Equal for stores of one value by all their lanes, and for stores of the same values at the same places.
uint32_t MemoryChecks::content_of(const Access& a, uint32_t lanes) const {
  const StoredValues values(context_, a);
  if (!values.known()) return 0;
  using Words = std::array<uint64_t, StoredValues::most_bytes / 8>;
  bool uniform = true;
  uint64_t one = a.size, all = a.size;
  const auto mix = [](uint64_t& h, uint64_t v) { h = (h ^ v) * 0x9E37'79B9'7F4A'7C15ULL, h ^= h >> 29; };
  const auto value_of = [&](Lane lane) {
    Words out{};
    values.read(lane, reinterpret_cast<uint8_t*>(out.data()));
    return out;
  };
  const size_t words = (a.size + 7) / 8;
  const Words first = value_of(lowest_lane(lanes));
  for (size_t k = 0; k < words; ++k) mix(one, first[k]);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    const Words mine = value_of(lane);
    uniform &= mine == first;
    mix(all, a.addresses[lane]);
    for (size_t k = 0; k < words; ++k) mix(all, mine[k]);
  }
  return static_cast<uint32_t>((uniform ? one : ~all) >> 32) | 1;
}

void MemoryChecks::access_global(const Access& a, uint32_t lanes) {
  const Origin& origin = a.origin;
  const ViewRef before = view_before(a, lanes);
  access_strongly(a, lanes, false);
  const WarpOfCluster warp = order_.index(origin);
  GlobalAccess g;
  g.rank = origin.cta_rank;
  g.view = order_.view_ref(warp, lowest_lane(lanes));
  if (before) g.acquired = std::exchange(g.view, before);
  const auto* load = std::get_if<isa::Load>(origin.effect);
  if (load != nullptr && load->non_coherent) {  // no fence orders the read-only path after a write
    g.view = order_.nothing();
    g.of_warp = false;
  }
  g.record.cluster = context_.cluster.index;
  g.record.pc = origin.pc;
  g.record.time = order_.time(warp);
  g.record.lanes = lanes;
  g.record.warp = warp;
  g.record.flags = flags_of(a);
  g.record.scope = a.scope;
  g.record.element = element_of(a);
  g.observes = observes(a);
  const StoredValues values(context_, a);
  g.record.valued = a.kind == Access::Kind::write && values.known();
  if (a.kind == Access::Kind::write) g.unchanged = a.unchanged;
  g.first_value = log_.values.size();
  g.first_touch = static_cast<uint32_t>(log_.touches.size());
  for_each_run(a, lanes, [&](uint64_t address, uint64_t bytes, Lane lane, uint32_t size) {
    const auto zero = static_cast<uint8_t>(size == every_lane ? every_lane << 5 : size << 5 | lane);
    log_.append(g, {.address = address, .bytes = static_cast<uint32_t>(bytes), .pattern = zero});
    if (!g.record.valued) return;
    const size_t at = log_.values.size();
    log_.values.resize(at + bytes);
    values.read(lane, log_.values.data() + at, static_cast<uint32_t>(bytes / a.size));
  });
  log_.accesses.push_back(std::move(g));
}

}  // namespace palladion::sim::check
