// What asynchronous operations do to memory.
#include <algorithm>
#include <array>
#include <iterator>

#include "sim/check/memory/memory.h"

namespace palladion::sim::check {

// What all the accesses of one operation have in common.
struct MemoryChecks::Operation {
  Origin origin;
  std::shared_ptr<AsyncRecord> op;
  ViewRef view;
  Actor actor;
  Record record;
};

MemoryChecks::Operation MemoryChecks::operation(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op,
                                                const ViewRef& view, uint32_t lanes) const {
  const Origin& origin = e.origin;
  const WarpOfCluster warp = order_.index(origin);
  Operation o{.origin = origin, .op = op, .view = view, .actor = {}, .record = {}};
  o.actor.order = &order_;
  o.actor.view = view.get();
  o.actor.cluster = context_.cluster.index;
  o.actor.warp = e.participants == isa::Participants::warpgroup ? Actor::no_warp : warp;
  o.actor.rank = origin.cta_rank;
  o.actor.lanes = lanes;
  o.actor.async = true;
  o.actor.async_id = e.id;
  o.actor.reduces = e.reduces;
  o.record.cluster = o.actor.cluster;
  o.record.pc = origin.pc;
  o.record.time = order_.time(warp);
  o.record.lanes = lanes;
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
  const Lane lane = lowest_lane(o.actor.lanes);
  o.actor.own_async = own ? order_.own(o.actor.visibility, o.actor.warp, lane) : 0;
  const bool global = visibility == Visibility::global_async;
  o.actor.own_shared = own && global ? order_.own(Visibility::shared_async, o.actor.warp, lane) : 0;
}

// The usual piece of an operation: whole granules.
bool MemoryChecks::touch_granules(const Piece& p) {
  SharedShadow& shadow = shared_[p.address >> cta_rank_shift];
  const uint64_t begin = p.address & shared_offset_mask;
  if ((begin | p.bytes) % granule != 0 || begin + p.bytes > shadow.bytes()) return false;
  detector_.touch_run(&shadow.cell(begin), p.address, p.bytes / granule, every_lane << 5);
  return true;
}

void MemoryChecks::operate_shared(Operation& o, std::span<const Piece> pieces) {
  if (records_.size() > collect_at_) collect_records();
  o.actor.record = records_.add(o.record);
  bool begun = false;
  uint32_t lanes = o.actor.lanes;  // where each has a piece of its own
  for (const Piece& p : pieces) {
    const CtaRank rank(p.address >> cta_rank_shift);
    if (!begun || rank != o.actor.rank) {  // a multicast: each CTA is judged separately
      if (begun) detector_.end();
      begun = true;
      o.actor.rank = rank;
      detector_.begin(o.actor, false);
    }
    if (o.op->lane_exact) {
      touch_shared(p.address, p.bytes, lowest_lane(lanes), static_cast<uint32_t>(std::countr_zero(p.bytes)));
      lanes &= lanes - 1;
    } else if (!touch_granules(p)) {
      touch_shared(p.address, p.bytes, Lane(0), every_lane);
    }
  }
  detector_.end();
  o.actor.rank = o.origin.cta_rank;
}

void MemoryChecks::operate_global(const Operation& o, std::span<const Piece> pieces) {
  GlobalAccess g{.record = o.record,
                 .view = o.view,
                 .own_async = o.actor.own_async,
                 .own_shared = o.actor.own_shared,
                 .rank = o.actor.rank,
                 .visibility = o.actor.visibility,
                 .of_warp = o.actor.warp != Actor::no_warp};
  g.first_touch = static_cast<uint32_t>(log_.touches.size());
  for (const Piece& p : pieces) log_.append(g, {.address = p.address, .bytes = p.bytes});
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

namespace {
// Of pieces that these lanes have, one each, those of some.
std::span<const Piece> pieces_of(uint32_t some, std::span<const Piece> pieces, uint32_t lanes,
                                 std::array<Piece, 32>& place) {
  if (some == lanes) return pieces;
  size_t n = 0;
  for (const Piece& p : pieces) {
    if ((some & lanes & (0 - lanes)) != 0) place[n++] = p;
    lanes &= lanes - 1;
  }
  return std::span(place).first(n);
}
}  // namespace

void MemoryChecks::issued(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op, const ViewRef& view) {
  ++accesses_;
  if (!op->lane_exact) return issued(e, op, view, e.origin.lanes);
  // Lanes with different views are judged separately.
  order_.for_each_view(order_.index(e.origin), e.origin.lanes,
                       [&](const ViewRef& own, uint32_t lanes) { issued(e, op, own, lanes); });
}

void MemoryChecks::issued(const AsyncIssue& e, const std::shared_ptr<AsyncRecord>& op, const ViewRef& view,
                          uint32_t lanes) {
  Operation o = operation(e, op, view, lanes);
  std::array<Piece, 32> place;
  const bool own = op->lane_exact;
  operate(o, own ? pieces_of(lanes, e.reads, e.read_lanes, place) : e.reads, false);
  operate(o, own ? pieces_of(lanes, e.writes, e.origin.lanes, place) : e.writes, true);
  if (!e.fills.empty()) {
    aim(o, Visibility::shared_async, true, Record::fill);
    operate_shared(o, e.fills);
  }
  const bool has_map = e.tensor_map != 0 && space_of(e.tensor_map) == isa::Space::global &&
                       context_.run.memory->lookup(Address(e.tensor_map)) != nullptr;
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
  touch_shared(e.address, 8, lowest_lane(e.lanes), 3);
  detector_.end();
}

}  // namespace palladion::sim::check
