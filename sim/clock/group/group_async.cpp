// Copies and matrix products: from their issue to their landing, and what L2's answers bring.
#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/clock/group/group.h"

namespace palladion::sim::hardware {

void SmGroup::issue_async(Warp& w, const InstructionCost& cost, uint64_t now, uint64_t first_id) {
  if (cost.columns != 0) return start_wgmma(w, now);
  store_.reset();
  for (uint64_t id = first_id; id < w.cluster->next_async; ++id) {
    const AsyncOp* op = find_pending(*w.cluster, id);
    if (op == nullptr) continue;
    const Traffic t = op->traffic();
    if (t.family == isa::AsyncFamily::remote_store)
      store_async(w, cost, id, now);
    else if (t.family == isa::AsyncFamily::tcgen05)
      start_tcgen05(w, *op, t, now);
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
  using Family = isa::AsyncFamily;
  if (t.family == Family::deferred_arrival || t.family == Family::tcgen05_commit) {
    arrivals_.push_back({w.cluster_number, op.id});
    return try_arrivals(now);
  }
  if (t.family == Family::cluster_launch)  // a round trip to where the grid's clusters are handed out
    return events_.add(now + static_cast<uint64_t>(p_->l2_latency), Event::Kind::land, w.cluster_number,
                       op.id);
  if (!t.from_global() && !t.to_global()) return copy_to_cluster(w, op.id, t, now);
  const auto first = static_cast<uint32_t>(batch.lines.size());
  add_lines(t.global);
  if (t.family == Family::cp_async) return copy_lanes(w, op.id, first, now);
  if (t.from_global()) return start_tma_load(w, op.id, t, first, static_cast<double>(now));
  start_tma_store(w, op.id, t, first, static_cast<double>(now));
}

// cp.async: through the load-store unit.
void SmGroup::copy_lanes(const Warp& w, uint64_t id, uint32_t first, uint64_t now) {
  const auto lines = static_cast<uint32_t>(batch.lines.size()) - first;
  const double start =
      sm_of(w).lsu.take(static_cast<double>(now), p_->smem_lsu_interval * std::max(1U, lines));
  if (lines == 0) return events_.add(now + 1, Event::Kind::land, w.cluster_number, id);
  const uint32_t request = add_request(Request::Kind::read, w.sm, start, p_->smem_lsu_interval, first);
  answers_.wait({.request = request, .cluster = w.cluster_number, .id = id});
}

// st.async and red.async: from registers, as stores; they land on their own.
void SmGroup::store_async(Warp& w, const InstructionCost& cost, uint64_t id, uint64_t now) {
  if (access_.empty()) return;
  Sm& unit = sm_of(w);
  const uint32_t words = std::max(1U, cost.bytes / 4);
  sub_core_of(w).pipes.hold(Resource::smem, static_cast<double>(now) + cost.interval + 2.0 * (words - 1));
  Sm& peer = sms_[static_cast<uint32_t>(access_.first()) >> cta_rank_shift];
  const double sent = store_to(unit, peer, cost, now);
  w.last_async = std::max(w.last_async, static_cast<uint64_t>(sent + p_->dsm_latency));
  unit.fences.async_stored(w.last_async);
  events_.add(static_cast<uint64_t>(sent + p_->dsm_store_latency), Event::Kind::land, w.cluster_number, id);
}

// A bulk copy from the SM's own shared memory to that of a CTA of the cluster, by its TMA unit.
void SmGroup::copy_to_cluster(Warp& w, uint64_t id, const Traffic& t, uint64_t now) {
  constexpr double packet_bytes = 32;
  NetworkPort& network = sm_of(w).network;
  Sm& peer = sms_[static_cast<uint32_t>(std::countr_zero(t.ctas))];
  const auto time = static_cast<double>(now);
  network.start_copy(time);
  const double sent = network.write(peer.network, time, std::ceil(t.bytes / packet_bytes));
  events_.add(static_cast<uint64_t>(sent), Event::Kind::read, w.cluster_number, id);
  events_.add(static_cast<uint64_t>(sent + p_->dsm_copy_latency), Event::Kind::land, w.cluster_number, id);
  const double room = network.copy_opens();
  w.next = std::max(w.next, now + static_cast<uint64_t>(p_->dsm_copy_interval));
  if (room <= static_cast<double>(w.next)) return;
  w.wait_until(Stall::tma_throttle, static_cast<uint64_t>(room));
}

// When the TMA unit sends the copy's requests.
double SmGroup::take_copy(const Warp& w, TmaUnit::Direction direction, uint64_t id, const Traffic& t,
                          double issued, double cycles) {
  Sm& unit = sm_of(w);
  const TmaUnit::Sending sending = unit.tma.take(direction, issued, cycles);
  unit.book(Resource::tma, cycles);  // not SMEM: what TMA reads and writes there does not wait for the port
  context_->run_of(*w.cluster)
      .emit(UnitWorked{id, Resource::tma, static_cast<uint64_t>(sending.from),
                       static_cast<uint64_t>(sending.to)});
  return sending.from + (t.through_tensor_map() ? unit.tma.fetch_descriptor(t.tensor_map) : 0);
}

void SmGroup::start_tma_load(const Warp& w, uint64_t id, const Traffic& t, uint32_t first, double start) {
  const auto lines = static_cast<uint32_t>(batch.lines.size()) - first;
  const double cycles = std::max(lines, t.rows) * p_->tma_row_interval;
  start = take_copy(w, TmaUnit::Direction::load, id, t, start, cycles);
  Pending wait{.cluster = w.cluster_number, .id = id, .load = sm_of(w).tma.count_load(), .sm = w.sm};
  wait.extra = (t.through_tensor_map() ? p_->tma_latency : p_->bulk_latency) +
               (std::popcount(t.ctas) > 1 ? p_->tma_multicast : 0);
  if (lines == 0)  // all of it lies outside the tensor
    return events_.add(static_cast<uint64_t>(start + cycles + p_->l2_latency + wait.extra), Event::Kind::land,
                       w.cluster_number, id);
  wait.request = add_request(Request::Kind::read, w.sm, start, cycles / lines, first);
  Request& request = batch.requests[wait.request];
  request.tma = true;
  request.scattered = are_scattered(std::span(batch.lines).subspan(first));
  request.pairs_of_lines = t.pairs_of_lines;
  request.bytes_per_cycle = t.through_tensor_map() ? p_->tma_bytes_per_cycle : p_->bulk_bytes_per_cycle;
  request.first_sm = sms_.front().id;
  request.receivers = t.ctas;
  answers_.wait(wait);
}

// Sources are read as fast as the SM can write to L2.
void SmGroup::start_tma_store(const Warp& w, uint64_t id, const Traffic& t, uint32_t first, double start) {
  const auto same_piece = [](const Piece& a, const Piece& b) {
    return a.address == b.address && a.bytes == b.bytes;
  };
  if (store_ && !t.reduces && store_->tensor_map == t.tensor_map && store_->bytes == t.bytes &&
      std::ranges::equal(store_->global, t.global, same_piece))
    return join_store(w, id, first);
  const double occupied = std::max(t.rows * p_->tma_row_interval, t.bytes / p_->l2_sm_write_bytes_per_cycle);
  start = take_copy(w, TmaUnit::Direction::store, id, t, start, occupied);
  const auto lines = static_cast<uint32_t>(batch.lines.size()) - first;
  const auto read = static_cast<uint64_t>(start + p_->tma_store_latency + occupied);
  events_.add(read, Event::Kind::read, w.cluster_number, id);
  const auto done = static_cast<uint64_t>(static_cast<double>(read) + p_->tma_store_done);
  store_ = Store{t.tensor_map, t.bytes, t.global, read, done, std::nullopt};
  if (lines == 0) return events_.add(done, Event::Kind::land, w.cluster_number, id);
  const auto kind = t.reduces ? Request::Kind::atomic : Request::Kind::write;
  const uint32_t request = add_request(kind, w.sm, start, occupied / lines, first);
  sm_of(w).fences.accesses_gmem();
  store_->request = request;
  writes_.push_back(
      {.request = request, .sm = w.sm, .cluster = w.cluster_number, .id = id, .not_before = done});
}

// Lanes of a warp that issue one store: an H200 performs it once (reductions and loads once a lane).
void SmGroup::join_store(const Warp& w, uint64_t id, uint32_t first) {
  batch.lines.resize(first);
  events_.add(store_->read, Event::Kind::read, w.cluster_number, id);
  if (!store_->request) return events_.add(store_->done, Event::Kind::land, w.cluster_number, id);
  writes_.push_back({.request = *store_->request,
                     .sm = w.sm,
                     .cluster = w.cluster_number,
                     .id = id,
                     .not_before = store_->done});
}

void SmGroup::try_arrivals(uint64_t now) {
  for (size_t i = 0; i < arrivals_.size();) {
    const auto [number, id] = arrivals_[i];
    const AsyncOp* op = find_pending(cluster(number), id);
    if (op != nullptr && !op->ready(context_->run_of(cluster(number)))) {
      ++i;
      continue;
    }
    arrivals_.erase(arrivals_.begin() + static_cast<std::ptrdiff_t>(i));
    if (op != nullptr) events_.add(now, Event::Kind::land, number, id);
  }
}

// The tensor core takes an instruction when all four warps have issued it, one after the other.
void SmGroup::start_wgmma(const Warp& w, uint64_t now) {
  const AsyncOp* op = find_pending(*w.cluster, w.warp->wgmma.back().id);
  if (op == nullptr || !op->ready(context_->run_of(*w.cluster))) return;
  const Traffic t = op->traffic();
  Sm& unit = sm_of(w);
  const TensorCore::Served s =
      unit.tensor.take(warpgroup_of(w), {t.rows, t.columns, t.from_registers()}, static_cast<double>(now));
  unit.book(Resource::tensor, s.cycles);
  unit.book(Resource::smem, s.reads);
  context_->run_of(*w.cluster)
      .emit(
          UnitWorked{op->id, Resource::tensor, static_cast<uint64_t>(s.start), static_cast<uint64_t>(s.end)});
  events_.add(static_cast<uint64_t>(s.landed), Event::Kind::land, w.cluster_number, op->id);
}

// A product or a copy on the tensor memory of one SM, or of the two of a pair, which begin together.
void SmGroup::start_tcgen05(const Warp& w, const AsyncOp& op, const Traffic& t, uint64_t now) {
  const bool product = t.columns != 0;
  tcgen05_products_ += t.products;
  const TensorCore::TensorMemoryWork work{.cycles = product ? t.columns / p_->tcgen05_columns_per_cycle
                                                            : t.bytes / p_->tcgen05_copy_bytes_per_cycle,
                                          .reads = t.bytes / p_->smem_bytes_per_cycle};
  double start = static_cast<double>(now);
  for (uint32_t left = t.ctas; left != 0; left &= left - 1)
    start = std::max(start, sms_[static_cast<uint32_t>(std::countr_zero(left))].tensor.turn(start));
  TensorCore::Served s;
  for (uint32_t left = t.ctas; left != 0; left &= left - 1) {
    Sm& unit = sms_[static_cast<uint32_t>(std::countr_zero(left))];
    s = unit.tensor.run(work, start);
    unit.book(Resource::tensor, s.cycles);
    unit.book(Resource::smem, s.reads);
  }
  context_->run_of(*w.cluster)
      .emit(
          UnitWorked{op.id, Resource::tensor, static_cast<uint64_t>(s.start), static_cast<uint64_t>(s.end)});
  // A's rows are read before the first column; see tcgen05.tail in the clock's file.
  constexpr double row_bytes = 32;
  const double first =
      product && t.source == isa::Space::shared_cta ? t.rows * row_bytes / p_->smem_bytes_per_cycle : 0;
  const double pair = (t.ctas & (t.ctas - 1)) != 0 ? p_->tcgen05_pair : 0;
  events_.add(static_cast<uint64_t>(start + work.cycles + first + p_->tcgen05_tail + pair), Event::Kind::land,
              w.cluster_number, op.id);
}

void SmGroup::landed(uint32_t number, uint64_t id, uint64_t now) {
  ClusterState& c = cluster(number);
  const AsyncOp* op = find_pending(c, id);
  if (op == nullptr) return;
  const ClusterRun run = context_->run_of(c);
  if (op->stage == AsyncOp::Stage::issued && !advance_operation(run, id))
    return events_.add(now + 1, Event::Kind::land, number, id);  // one before it has not landed
  if (c.faulted) return retire(number, now);
  if (op->lands_at_boundary()) {
    landings.push_back({now, number, id});
    return;
  }
  if (!advance_operation(run, id)) return events_.add(now + 1, Event::Kind::land, number, id);
  settle(number, now);
}

void SmGroup::land(const Landing& landing) {
  ClusterState& c = cluster(landing.cluster);
  if (c.faulted || !is_pending(c, landing.id)) return;
  ClusterRun run = context_->run_of(c);
  run.at_boundary = true;
  c.now = landing.time;
  advance_operation(run, landing.id);
  settle(landing.cluster, landing.time);
}

// After an operation has landed.
void SmGroup::settle(uint32_t number, uint64_t now) {
  ClusterState& c = cluster(number);
  if (c.faulted) return retire(number, now);
  if (!arrivals_.empty()) try_arrivals(now);
  wake(c, now, true);
  if (c.finished()) retire(number, now);
}

void SmGroup::answer() {
  for (Sm& sm : sms_) {
    for (const L1::Fill& f : sm.l1.fills) sm.l1.fill(f.line, f.request, batch.requests[f.request].done);
    sm.l1.fills.clear();
  }
  answers_.serve(batch);
  land_answered();
  for (const Pending& waiting : answers_.pending())
    if (waiting.cluster == no_cluster && warps_[waiting.warp].registers.is_unanswered())
      warps_[waiting.warp].registers.resolve(answers_);
  for (const Write& write : writes_) written(write);
  for (const uint32_t index : parked_) {
    Warp& w = warps_[index];
    if (w.state != Warp::State::memory) continue;
    w.state = Warp::State::queued;
    events_.add(w.next, Event::Kind::warp, index);
  }
  answers_.clear();
  writes_.clear();
  parked_.clear();
  batch.clear();
}

// Copies whose lines have come. Lines of the copy behind it overtake a copy's last ones.
void SmGroup::land_answered() {
  for (uint32_t i = 0; i < answers_.pending().size(); ++i) {
    const Pending& waiting = answers_.pending()[i];
    if (waiting.cluster == no_cluster) continue;
    const double overtaken = sms_[waiting.sm].tma.is_overtaken(waiting.load) ? p_->tma_overtaken : 0;
    events_.add(static_cast<uint64_t>(static_cast<double>(answers_.time(i)) + waiting.extra + overtaken),
                Event::Kind::land, waiting.cluster, waiting.id);
  }
}

// Stores that are far behind hold up the unit that sent them, reductions when too many wait; a store is done
// when L2 has taken it, which is half of a round trip before the SM could know.
void SmGroup::written(const Write& write) {
  const Request& r = batch.requests[write.request];
  const uint64_t taken = r.done - std::min(r.done, static_cast<uint64_t>(p_->l2_latency));
  const double behind = static_cast<double>(taken) - p_->l2_latency;
  Sm& unit = sms_[write.sm];
  drained_ = std::max(drained_, r.done);
  unit.fences.stored(r.done);
  if (write.cluster == no_cluster)
    return unit.lsu.hold(r.kind == Request::Kind::atomic ? r.accepted : behind);
  unit.tma.hold_stores(behind);
  events_.add(std::max(write.not_before, taken), Event::Kind::land, write.cluster, write.id);
}

}  // namespace palladion::sim::hardware
