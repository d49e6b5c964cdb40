#include "sim/check/memory/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "sim/check/memory/stored_values.h"
#include "sim/check/protocol/ledger_flow.h"

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

// Equal runs at equal distances become one touch.
void append(GlobalLog& log, GlobalAccess& access, const GlobalTouch& t) {
  if (access.touches != 0) {
    GlobalTouch& last = log.touches.back();
    const uint64_t distance = t.address - last.address;
    const bool joins = last.pattern == t.pattern && t.pattern >> 5 == every_lane && last.bytes == t.bytes &&
                       (last.count == 1 || distance == last.stride * last.count);
    if (joins && t.address > last.address) {
      if (last.count == 1) last.stride = distance;
      ++last.count;
      return;
    }
  }
  log.touches.push_back(t);
  ++access.touches;
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
  const auto first = static_cast<uint32_t>(std::countr_zero(lanes));
  if (a.size > granule || !std::has_single_bit(a.size)) {  // each lane's bytes are its own run
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(m));
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
  uint32_t run_lane = first, previous = first;
  for (uint32_t m = lanes & (lanes - 1); m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const uint64_t at = a.addresses[lane];
    if (at == a.addresses[previous] && a.kind == Access::Kind::read)
      continue;  // a broadcast: the first lane represents all
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

void MemoryChecks::touch_shared(uint64_t address, uint64_t bytes, uint32_t lane, uint32_t size_log2) {
  const auto a = static_cast<uint32_t>(address);
  SharedShadow& shadow = shared_[a >> cta_rank_shift];
  const uint64_t begin = a & shared_offset_mask, rank = a & ~shared_offset_mask;
  const uint64_t size = context_.cluster.ctas[a >> cta_rank_shift].shared.size();
  bytes = std::min(bytes, size - std::min(begin, size));  // a load may end behind it: bounds.h
  if (size_log2 == every_lane && (begin | bytes) % granule == 0 && shadow.contains(begin + bytes - 1)) {
    detector_.touch_run(&shadow.cell(begin), address, bytes / granule, every_lane << 5);
    return;
  }
  for_each_granule(begin, bytes, size_log2, lane,
                   [&](uint64_t at, uint32_t first, uint32_t count, uint32_t pattern) {
                     if (shadow.contains(at))
                       detector_.touch(shadow.cell(at), rank | at, first, count, pattern);
                   });
}

bool MemoryChecks::observes(const Access& a) {
  if (!check::observes(a)) return false;
  if (a.kind != Access::Kind::atomic) return true;
  const auto [at, fresh] = result_used_.try_emplace(a.origin.pc);
  if (fresh) at->second = result_used(*context_.run.program, a.origin.pc);
  return at->second;
}

Actor MemoryChecks::actor_of(const Access& a, uint32_t lanes) {
  const WarpOfCluster warp = order_.index(a.origin);
  Actor actor;
  actor.order = &order_;
  actor.view = &order_.view(warp, static_cast<uint32_t>(std::countr_zero(lanes)));
  actor.cluster = context_.cluster.index;
  actor.warp = warp;
  actor.rank = a.origin.cta_rank;
  actor.lanes = lanes;
  actor.reads = a.kind != Access::Kind::write;
  actor.writes = a.kind != Access::Kind::read;
  actor.strong = is_strong(a.order) || a.kind == Access::Kind::atomic;
  actor.observes = observes(a);
  actor.scope = a.scope;
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
    if ((lanes & shared) != 0) access_shared(a, lanes & shared);
    if ((lanes & global) != 0) access_global(a, lanes & global);
  });
}

void MemoryChecks::access_shared(const Access& a, uint32_t lanes) {
  if (is_strong(a.order) || a.kind == Access::Kind::atomic)
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      order_.strong().access(a, a.addresses[lane] & 0xFFFF'FFFF, 1U << lane, true);
    }
  Actor actor = actor_of(a, lanes);
  actor.unchanged = a.kind == Access::Kind::write ? a.unchanged : 0;
  // Lanes with different views that store one value: the second part does not find it in memory yet.
  const bool parts = a.kind == Access::Kind::write && lanes != a.lanes;
  bool again = false;
  actor.record = generic_record(a, lanes, parts ? content_of(a, lanes) : 0, &again);
  actor.again = again && actor.writes && are_apart(a, lanes);
  detector_.begin(actor, false);
  for_each_run(a, lanes, [&](uint64_t address, uint64_t bytes, uint32_t lane, uint32_t size) {
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
  const auto value_of = [&](uint32_t lane) {
    Words out{};
    values.read(lane, reinterpret_cast<uint8_t*>(out.data()));
    return out;
  };
  const size_t words = (a.size + 7) / 8;
  const Words first = value_of(static_cast<uint32_t>(std::countr_zero(lanes)));
  for (size_t k = 0; k < words; ++k) mix(one, first[k]);
  for (uint32_t m = lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(m));
    const Words mine = value_of(lane);
    uniform &= mine == first;
    mix(all, a.addresses[lane]);
    for (size_t k = 0; k < words; ++k) mix(all, mine[k]);
  }
  return static_cast<uint32_t>((uniform ? one : ~all) >> 32) | 1;
}

void MemoryChecks::access_global(const Access& a, uint32_t lanes) {
  const Origin& origin = a.origin;
  if (is_strong(a.order) || a.kind == Access::Kind::atomic)
    for (uint32_t m = lanes; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      order_.strong().access(a, a.addresses[lane], 1U << lane, false);
    }
  const WarpOfCluster warp = order_.index(origin);
  GlobalAccess g;
  g.rank = origin.cta_rank;
  g.view = order_.view_ref(warp, static_cast<uint32_t>(std::countr_zero(lanes)));
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
  g.observes = observes(a);
  const StoredValues values(context_, a);
  g.record.valued = a.kind == Access::Kind::write && values.known();
  if (a.kind == Access::Kind::write) g.unchanged = a.unchanged;
  g.first_value = log_.values.size();
  g.first_touch = static_cast<uint32_t>(log_.touches.size());
  for_each_run(a, lanes, [&](uint64_t address, uint64_t bytes, uint32_t lane, uint32_t size) {
    const auto zero = static_cast<uint8_t>(size == every_lane ? every_lane << 5 : size << 5 | lane);
    append(log_, g, {.address = address, .bytes = static_cast<uint32_t>(bytes), .pattern = zero});
    if (!g.record.valued) return;
    const size_t at = log_.values.size();
    log_.values.resize(at + bytes);
    values.read(lane, log_.values.data() + at, static_cast<uint32_t>(bytes / a.size));
  });
  log_.accesses.push_back(std::move(g));
}

// --- asynchronous operations ----------------------------------------------------------------------
// What all the accesses of one operation have in common.
struct MemoryChecks::Operation {
  Origin origin;
  std::shared_ptr<AsyncRecord> op;
  ViewRef view;
  Actor actor;
  Record record;
};

MemoryChecks::Operation MemoryChecks::operation(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op,
                                                const ViewRef& view) const {
  const Origin& origin = e.origin;
  const WarpOfCluster warp = order_.index(origin);
  Operation o{.origin = origin, .op = op, .view = view, .actor = {}, .record = {}};
  o.actor.order = &order_;
  o.actor.view = view.get();
  o.actor.cluster = context_.cluster.index;
  o.actor.warp = e.participants == isa::Participants::warpgroup ? Actor::no_warp : warp;
  o.actor.rank = origin.cta_rank;
  o.actor.lanes = origin.lanes;
  o.actor.async = true;
  o.actor.async_id = e.id;
  o.actor.reduces = e.reduces;
  o.record.cluster = o.actor.cluster;
  o.record.pc = origin.pc;
  o.record.time = order_.time(warp);
  o.record.lanes = origin.lanes;
  o.record.warp = warp;
  o.record.async = op;
  return o;
}

// The visibility that the actor needs of earlier accesses, and up to which time its own are fenced.
void MemoryChecks::aim(Operation& o, Visibility visibility, bool writes, uint8_t flags) const {
  o.actor.reads = !writes;
  o.actor.writes = writes;
  o.actor.shared = visibility == Visibility::shared_async;
  o.actor.visibility = o.op->async_proxy ? visibility : Visibility::generic;
  o.record.flags = flags | (writes ? Record::writes : Record::reads);
  const bool own = o.actor.visibility != Visibility::generic && o.actor.warp != Actor::no_warp;
  const auto lane = static_cast<uint32_t>(std::countr_zero(o.origin.lanes));
  o.actor.own_async = own ? order_.own(o.actor.visibility, o.actor.warp, lane) : 0;
}

void MemoryChecks::operate_shared(Operation& o, std::span<const Piece> pieces) {
  if (records_.size() > collect_at_) collect_records();
  o.actor.record = records_.add(o.record);
  o.actor.rank = ~0U;
  uint32_t lanes = o.origin.lanes;  // of cp.async: each has a piece of its own
  for (const Piece& p : pieces) {
    const auto rank = static_cast<uint32_t>(p.address >> cta_rank_shift);
    if (rank != o.actor.rank) {  // a multicast: each CTA is judged separately
      if (o.actor.rank != ~0U) detector_.end();
      o.actor.rank = rank;
      detector_.begin(o.actor, false);
    }
    if (o.op->lane_exact) {
      touch_shared(p.address, p.bytes, static_cast<uint32_t>(std::countr_zero(lanes)),
                   static_cast<uint32_t>(std::countr_zero(p.bytes)));
      lanes &= lanes - 1;
    } else {
      touch_shared(p.address, p.bytes, 0, every_lane);
    }
  }
  detector_.end();
  o.actor.rank = o.origin.cta_rank;
}

void MemoryChecks::operate_global(const Operation& o, std::span<const Piece> pieces) {
  GlobalAccess g{.record = o.record,
                 .view = o.view,
                 .own_async = o.actor.own_async,
                 .rank = static_cast<uint16_t>(o.actor.rank),
                 .visibility = o.actor.visibility,
                 .of_warp = o.actor.warp != Actor::no_warp};
  g.first_touch = static_cast<uint32_t>(log_.touches.size());
  for (const Piece& p : pieces) append(log_, g, {.address = p.address, .bytes = p.bytes});
  log_.accesses.push_back(std::move(g));
}

void MemoryChecks::operate(Operation& o, std::span<const Piece> all, bool writes) {
  std::vector<Piece> outside;  // of tensor memory, whose accesses tensor_memory.h judges
  if (o.op->is_tensor())
    std::ranges::copy_if(all, std::back_inserter(outside),
                         [](const Piece& p) { return p.space != isa::Space::tensor; });
  const std::span<const Piece> pieces = o.op->is_tensor() ? std::span<const Piece>(outside) : all;
  if (pieces.empty()) return;
  const bool shared = pieces.front().shared();
  aim(o, shared ? Visibility::shared_async : Visibility::global_async, writes, 0);
  o.actor.shared = shared;
  if (shared)
    operate_shared(o, pieces);
  else
    operate_global(o, pieces);
}

void MemoryChecks::issued(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op, const ViewRef& view) {
  ++accesses_;
  Operation o = operation(e, op, view);
  operate(o, e.reads, false);
  operate(o, e.writes, true);
  if (!e.fills.empty()) {
    aim(o, Visibility::shared_async, true, Record::fill);
    operate_shared(o, e.fills);
  }
  const bool has_map = e.tensor_map != 0 && space_of(e.tensor_map) == isa::Space::global &&
                       context_.run.memory->lookup(e.tensor_map) != nullptr;
  if (!has_map) return;
  aim(o, Visibility::tensormap, false, Record::tensormap);
  const Piece map{isa::Space::global, e.tensor_map, 128};
  operate_global(o, std::span(&map, 1));
}

// The object's eight bytes belong to the barrier from init to inval.
void MemoryChecks::on(const MbarrierEvent& e) {
  const Origin& origin = e.origin;
  using A = isa::MbarrierAction;
  if (e.action != A::init && e.action != A::inval) return;
  uint64_t addresses[32];
  std::fill_n(addresses, 32, e.address);
  const Access a{origin,  Access::Kind::write, isa::Space::shared_cta, 8, addresses,
                 e.lanes, isa::Order::weak,    isa::Scope::cta};
  SharedShadow& shadow = shared_[e.address >> cta_rank_shift];
  const uint32_t offset = e.address & shared_offset_mask, g = offset / granule * granule;
  Cell& cell = shadow.cell(g);
  // Earlier uses of the bytes as data are checked against the init; barrier operations are not data.
  if (cell.split())
    for (uint32_t b = offset - g; b < offset - g + 8; ++b) {
      Cell& byte = pool_.block(cell)[b];
      if (byte.write != 0 && (records_[record_of(byte.write)].flags & Record::barrier) != 0) byte.write = 0;
    }
  Actor actor = actor_of(a, e.lanes);
  last_[order_.index(origin)] = {};
  actor.record = generic_record(a, e.lanes);
  if (e.action == A::init) records_[actor.record].flags |= Record::barrier;
  last_[order_.index(origin)] = {};
  detector_.begin(actor, false);
  touch_shared(e.address, 8, static_cast<uint32_t>(std::countr_zero(e.lanes)), 3);
  detector_.end();
}

}  // namespace palladion::sim::check
