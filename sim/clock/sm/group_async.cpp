// Copies and matrix products: from their issue to their landing.
#include <algorithm>

#include "sim/clock/sm/group.h"

namespace palladion::sim::hardware {

void SmGroup::issue_async(Warp& w, const Price& p, uint64_t now, uint64_t first_id) {
  if (p.unit == isa::Unit::tensor) return start_wgmma(w, now);
  for (uint64_t id = first_id; id < w.cluster->next_async; ++id) {
    const AsyncOp* op = pending(*w.cluster, id);
    if (op == nullptr) continue;
    Traffic t;
    op->body->describe(t);
    if (t.kind == Traffic::Kind::cluster_store)
      store_async(w, p, id, now);
    else
      start_copy(w, *op, t, now);
  }
}

// The lines of a copy's runs of bytes.
void SmGroup::add_lines(const std::vector<Piece>& pieces) {
  for (const Piece& piece : pieces) {
    const uint64_t end = piece.address + piece.bytes;
    for (uint64_t at = piece.address; at < end;) {
      const uint64_t line = at / line_bytes, next = std::min(end, (line + 1) * line_bytes);
      const uint64_t from = at % line_bytes / sector_bytes, to = (next - 1) % line_bytes / sector_bytes;
      const auto sectors = static_cast<uint8_t>(((2U << to) - 1) & ~((1U << from) - 1));
      batch.lines.push_back({line, sectors});
      at = next;
    }
  }
}

void SmGroup::start_copy(Warp& w, const AsyncOp& op, const Traffic& t, uint64_t now) {
  using Kind = Traffic::Kind;
  Sm& unit = sms_[w.sm];
  ClusterState& cluster = *w.cluster;
  const auto time = static_cast<double>(now);
  if (t.kind == Kind::arrival) {
    arrivals_.push_back({&cluster, op.id});
    return try_arrivals(now);
  }
  if (t.kind == Kind::cluster_copy) return copy_to_cluster(w, op.id, t, now);
  const auto first = static_cast<uint32_t>(batch.lines.size());
  add_lines(t.global);
  const auto lines = static_cast<uint32_t>(batch.lines.size()) - first;
  Pending wait{.cluster = &cluster, .id = op.id};
  if (t.kind == Kind::lane_copies) {
    const double start = std::max(time, unit.lsu_free);
    unit.lsu_free = start + p_.smem_lsu_interval * std::max(1U, lines);
    if (lines == 0) return push(now + 1, Event::Kind::land, cluster, op.id);
    wait.request = add_request(Request::Kind::read, w.sm, start, p_.smem_lsu_interval, first);
    pending_.push_back(wait);
    return;
  }
  if (t.kind == Kind::tma_load) return start_tma_load(w, op.id, t, first, time);
  start_tma_store(w, op.id, t, first, time);
}

// The unit takes a copy from its queue; then it waits until those before it have sent their requests. When it
// sends its own.
double SmGroup::take_copy(Warp& w, double& free, uint64_t id, const Traffic& t, double cycles,
                          double issued) {
  Sm& unit = sms_[w.sm];
  const double taken = std::max(issued, unit.tma_free);
  unit.tma_queue.push(taken);
  const double passed = std::max(taken, unit.tma_next.before(static_cast<size_t>(p_.tma_next)));
  unit.tma_free = passed + p_.tma_issue_interval;
  const double start = std::max(passed, free);
  unit.tma_next.push(start);
  free = start + cycles;
  book(unit, Resource::tma, cycles);  // not SMEM: what TMA reads and writes there does not wait for the port
  if (w.cluster->observer)
    w.cluster->observer->worked(id, Resource::tma, static_cast<uint64_t>(start), static_cast<uint64_t>(free));
  const bool is_new = t.tiled && unit.descriptors.insert(t.tensor_map).second;
  return start + (is_new ? p_.tma_descriptor_miss : 0);
}

void SmGroup::start_tma_load(Warp& w, uint64_t id, const Traffic& t, uint32_t first, double start) {
  const auto lines = static_cast<uint32_t>(batch.lines.size()) - first;
  const double cycles = std::max(lines, t.rows) * p_.tma_row_interval;
  start = take_copy(w, sms_[w.sm].tma_copy_free, id, t, cycles, start);
  Pending wait{.cluster = w.cluster, .id = id, .load = ++sms_[w.sm].tma_loads, .sm = w.sm};
  wait.extra =
      (t.tiled ? p_.tma_latency : p_.bulk_latency) + (std::popcount(t.ctas) > 1 ? p_.tma_multicast : 0);
  if (lines == 0)  // all of it lies outside the tensor
    return push(static_cast<uint64_t>(start + cycles + p_.l2_latency + wait.extra), Event::Kind::land,
                *w.cluster, id);
  wait.request = add_request(Request::Kind::read, w.sm, start, cycles / lines, first);
  Request& request = batch.requests[wait.request];
  request.tma = true;
  request.scattered = are_scattered(std::span(batch.lines).subspan(first));
  request.pairs_of_lines = t.pairs_of_lines;
  request.bytes_per_cycle = t.tiled ? p_.tma_bytes_per_cycle : p_.bulk_bytes_per_cycle;
  request.first_sm = sms_.front().id;
  request.receivers = t.ctas;
  pending_.push_back(wait);
}

// Sources are read as fast as the SM can write to L2.
void SmGroup::start_tma_store(Warp& w, uint64_t id, const Traffic& t, uint32_t first, double start) {
  const double occupied = std::max(t.rows * p_.tma_row_interval, t.bytes / p_.l2_sm_write_bytes_per_cycle);
  start = take_copy(w, sms_[w.sm].tma_store_free, id, t, occupied, start);
  const auto lines = static_cast<uint32_t>(batch.lines.size()) - first;
  const auto read = static_cast<uint64_t>(start + p_.tma_store_latency + occupied);
  push(read, Event::Kind::read, *w.cluster, id);
  const auto done = static_cast<uint64_t>(static_cast<double>(read) + p_.tma_store_done);
  if (lines == 0) return push(done, Event::Kind::land, *w.cluster, id);
  const auto kind = t.kind == Traffic::Kind::tma_reduce ? Request::Kind::atomic : Request::Kind::write;
  const uint32_t request = add_request(kind, w.sm, start, occupied / lines, first);
  sms_[w.sm].accessed = true;
  writes_.push_back({.request = request, .sm = w.sm, .id = id, .cluster = w.cluster, .not_before = done});
}

// Arrivals that cp.async.mbarrier.arrive has put off until copies have landed.
void SmGroup::try_arrivals(uint64_t now) {
  for (size_t i = 0; i < arrivals_.size();) {
    const auto [cluster, id] = arrivals_[i];
    const AsyncOp* op = pending(*cluster, id);
    if (op != nullptr && !op->body->ready(*cluster)) {
      ++i;
      continue;
    }
    arrivals_.erase(arrivals_.begin() + static_cast<std::ptrdiff_t>(i));
    if (op != nullptr) push(now, Event::Kind::land, *cluster, id);
  }
}

// The tensor core takes an instruction when all four warps have issued it, one after the other. It is
// bound by its multiplications or by the operands that it reads from shared memory: 128 bytes a cycle.
void SmGroup::start_wgmma(Warp& w, uint64_t now) {
  ClusterState& cluster = *w.cluster;
  const AsyncOp* op = pending(cluster, w.warp->wgmma.back().id);
  if (op == nullptr || !op->body->ready(cluster)) return;
  constexpr double row_bytes = 32;  // of k, for every type
  Traffic t;
  op->body->describe(t);
  Sm& unit = sms_[w.sm];
  const double products = t.rows * t.columns * (row_bytes / 2) / p_.wgmma_macs_per_cycle;
  const double reads = ((t.a_in_registers ? 0 : t.rows) + t.columns) * row_bytes / p_.smem_bytes_per_cycle;
  const double cycles =
      std::max({products, reads, t.a_in_registers ? p_.wgmma_least_rs : 0}) + p_.wgmma_overhead;
  const double start = std::max(static_cast<double>(now) + p_.wgmma_start, unit.tensor_free);
  unit.tensor_free = start + cycles;
  unit.tensor_share = reads / cycles;
  Sm::Products& own = products_of(unit, w);
  own.end = unit.tensor_free;
  own.alone = std::max(own.alone, static_cast<double>(now) + p_.wgmma_start) + cycles;
  book(unit, Resource::tensor, cycles);
  book(unit, Resource::smem, reads);
  if (cluster.observer)
    cluster.observer->worked(op->id, Resource::tensor, static_cast<uint64_t>(start),
                             static_cast<uint64_t>(unit.tensor_free));
  const double tail = t.a_in_registers ? p_.wgmma_tail_rs : p_.wgmma_tail_ss;
  push(static_cast<uint64_t>(start + products + tail), Event::Kind::land, cluster, op->id);
  unit.tensor_ends[unit.tensor_taken++ % unit.tensor_ends.size()] = unit.tensor_free;
}

// When the tensor core's queue takes another instruction: those of all warpgroups wait in one.
double SmGroup::tensor_opens(const Sm& unit) const {
  const auto queue =
      std::min(static_cast<uint32_t>(p_.wgmma_queue), static_cast<uint32_t>(unit.tensor_ends.size()));
  return unit.tensor_taken < queue ? 0
                                   : unit.tensor_ends[(unit.tensor_taken - queue) % unit.tensor_ends.size()];
}

// Its number in the grid.
uint64_t SmGroup::warpgroup_of(const Warp& w) {
  return (w.cluster->index * w.cluster->ctas.size() + w.cta->rank) * 8 + w.warp->id / 4;
}

Sm::Products& SmGroup::products_of(Sm& unit, const Warp& w) {
  const uint64_t warpgroup = warpgroup_of(w);
  const auto found = std::ranges::find(unit.products, warpgroup, &Sm::Products::warpgroup);
  if (found != unit.products.end()) return *found;
  return *std::ranges::min_element(unit.products, {}, &Sm::Products::end) = {.warpgroup = warpgroup};
}

// When a warp's long sequences may issue: while another warpgroup's instructions are under way not before its
// own would have ended without them.
double SmGroup::sequences_open(const Sm& unit, const Warp& w, double time) const {
  const uint64_t warpgroup = warpgroup_of(w);
  double opens = 0;
  bool company = false;
  for (const Sm::Products& p : unit.products) {
    if (p.warpgroup == warpgroup)
      opens = p.alone + p_.wgmma_company;
    else
      company |= p.end > time;
  }
  return company ? opens : 0;
}

void SmGroup::landed(ClusterState& cluster, uint64_t id, uint64_t now) {
  const AsyncOp* op = pending(cluster, id);
  if (op == nullptr) return;
  const auto index = [&] { return static_cast<size_t>(pending(cluster, id) - cluster.pending.data()); };
  if (op->stage == AsyncOp::Stage::issued && !advance(cluster, index()))
    return push(now + 1, Event::Kind::land, cluster, id);  // one before it has not landed
  if (cluster.faulted) return retire(cluster, now);
  if (op->body->at_edge()) {
    landings.push_back({now, &cluster, id});
    return;
  }
  if (!advance(cluster, index())) return push(now + 1, Event::Kind::land, cluster, id);
  settle(cluster, now);
}

void SmGroup::land(const EdgeLanding& landing) {
  ClusterState& cluster = *landing.cluster;
  AsyncOp* op = pending(cluster, landing.id);
  if (op == nullptr || cluster.faulted) return;
  cluster.at_edge = true;
  cluster.now = landing.time;
  advance(cluster, static_cast<size_t>(op - cluster.pending.data()));
  cluster.at_edge = false;
  settle(cluster, landing.time);
}

// After an operation has landed.
void SmGroup::settle(ClusterState& cluster, uint64_t now) {
  if (cluster.faulted) return retire(cluster, now);
  if (!arrivals_.empty()) try_arrivals(now);
  wake(cluster, now, true);
  if (cluster.finished()) retire(cluster, now);
}

}  // namespace palladion::sim::hardware
