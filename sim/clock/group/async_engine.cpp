#include "sim/clock/group/async_engine.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace palladion::sim::hardware {
namespace {

// The lines of a copy's runs of bytes.
void add_lines(const std::vector<Piece>& pieces, std::vector<LineAccess>& lines) {
  for (const Piece& piece : pieces) {
    const uint64_t end = piece.address + piece.bytes;
    for (uint64_t at = piece.address; at < end;) {
      const uint64_t line = at / line_bytes, next = std::min(end, (line + 1) * line_bytes);
      const uint64_t from = at % line_bytes / sector_bytes, to = (next - 1) % line_bytes / sector_bytes;
      const auto sectors = static_cast<uint8_t>(((2U << to) - 1) & ~((1U << from) - 1));
      lines.push_back({line, sectors});
      at = next;
    }
  }
}

UnitWorked worked(uint64_t id, const TensorCore::Served& s) {
  return {id, Resource::tensor, cycle_of(s.start), cycle_of(s.end)};
}

void book(Sm& sm, const TensorCore::Served& s) {
  sm.usage.book(Resource::tensor, s.cycles);
  sm.usage.book(Resource::smem, s.reads);
}

}  // namespace

AsyncEngine::Started AsyncEngine::start(Warp& w, uint64_t id, const Traffic& t, Cycle now, std::span<Sm> sms,
                                        Requests& requests) {
  using Family = isa::AsyncFamily;
  Sm& sm = sms[w.sm];
  if (t.family == Family::cluster_launch)  // a round trip to where the grid's clusters are distributed
    return {.land = now + whole_cycles(p_->l2_latency)};
  if (t.family == Family::wgmma) return multiply(w, id, t, now, sm);
  if (t.family == Family::tcgen05) return use_tensor_memory(id, t, now, sms);
  if (!t.from_global() && !t.to_global()) return copy_to_cluster(w, t, now, sms);
  if (t.family == Family::cp_async) return copy_lanes(w, id, t, now, sm, requests);
  return t.from_global() ? load(w, id, t, now, sm, requests) : store(w, id, t, now, sm, requests);
}

// cp.async: through the load-store unit.
AsyncEngine::Started AsyncEngine::copy_lanes(const Warp& w, uint64_t id, const Traffic& t, Cycle now, Sm& sm,
                                             Requests& requests) {
  const uint32_t first = requests.next_line();
  add_lines(t.global, requests.batch.lines);
  const uint32_t lines = requests.next_line() - first;
  const Cycles start = sm.memory.copy_lanes(now, lines);
  if (lines == 0) return {.land = now + 1};
  const uint32_t request = requests.add(Request::Kind::read, w.sm, start, p_->smem_lsu_interval, first);
  requests.answers.wait({.request = request, .cluster = w.cluster_number, .id = id});
  return {};
}

// A bulk copy from the SM's own shared memory to that of a CTA of the cluster, by its TMA unit.
AsyncEngine::Started AsyncEngine::copy_to_cluster(Warp& w, const Traffic& t, Cycle now, std::span<Sm> sms) {
  constexpr double packet_bytes = 32;
  NetworkPort& network = sms[w.sm].memory.network();
  NetworkPort& peer = sms[static_cast<uint32_t>(std::countr_zero(t.ctas))].memory.network();
  network.start_copy(time_of(now));
  const Cycles sent = network.write(peer, time_of(now), std::ceil(t.bytes / packet_bytes));
  w.next = std::max(w.next, now + whole_cycles(p_->dsm_copy_interval));
  if (const Cycles room = network.copy_opens(); room > time_of(w.next))
    w.wait_until(Stall::tma_throttle, cycle_of(room));
  return {.read = cycle_of(sent), .land = cycle_of(sent + p_->dsm_copy_latency)};
}

// When the TMA unit sends the copy's requests.
Cycles AsyncEngine::take(Sm& sm, TmaUnit::Direction direction, const Traffic& t, Cycle issued, Cycles cycles,
                         UnitWorked& work) const {
  const TmaUnit::Sending sending = sm.tma.take(direction, time_of(issued), cycles);
  sm.usage.book(Resource::tma,
                cycles);  // not SMEM: what TMA reads and writes there does not wait for the port
  work.unit = Resource::tma, work.from = cycle_of(sending.from), work.to = cycle_of(sending.to);
  return sending.from + (t.through_tensor_map() ? sm.tma.fetch_descriptor(t.tensor_map) : 0);
}

AsyncEngine::Started AsyncEngine::load(const Warp& w, uint64_t id, const Traffic& t, Cycle now, Sm& sm,
                                       Requests& requests) {
  const uint32_t first = requests.next_line();
  add_lines(t.global, requests.batch.lines);
  const uint32_t lines = requests.next_line() - first;
  const Cycles cycles = std::max(lines, t.rows) * p_->tma_row_interval;
  UnitWorked work{.id = id};
  const Cycles start = take(sm, TmaUnit::Direction::load, t, now, cycles, work);
  Pending wait{.cluster = w.cluster_number, .id = id, .load = sm.tma.count_load(), .sm = w.sm};
  wait.extra = (t.through_tensor_map() ? p_->tma_latency : p_->bulk_latency) +
               (std::popcount(t.ctas) > 1 ? p_->tma_multicast : 0);
  if (lines == 0)  // all of it lies outside the tensor
    return {.land = cycle_of(start + cycles + p_->l2_latency + wait.extra), .work = work};
  wait.request = requests.add(Request::Kind::read, w.sm, start, cycles / lines, first);
  Request& request = requests.batch.requests[wait.request];
  request.tma = true;
  request.scattered = are_scattered(requests.lines_from(first));
  request.pairs_of_lines = t.pairs_of_lines;
  request.bytes_per_cycle = t.through_tensor_map() ? p_->tma_bytes_per_cycle : p_->bulk_bytes_per_cycle;
  request.first_sm = requests.first_sm;
  request.receivers = t.ctas;
  requests.answers.wait(wait);
  return {.work = work};
}

// Lines of the copy behind it overtake a copy's last ones.
Cycle AsyncEngine::landed(const Pending& copy, Cycle time, std::span<const Sm> sms) const {
  const Cycles overtaken = sms[copy.sm].tma.is_overtaken(copy.load) ? p_->tma_overtaken : 0;
  return cycle_of(time_of(time) + copy.extra + overtaken);
}

bool AsyncEngine::Store::is(const Traffic& t) const {
  const auto same_piece = [](const Piece& a, const Piece& b) {
    return a.address == b.address && a.bytes == b.bytes;
  };
  return tensor_map == t.tensor_map && bytes == t.bytes && std::ranges::equal(global, t.global, same_piece);
}

// Sources are read as fast as the SM can write to L2.
AsyncEngine::Started AsyncEngine::store(const Warp& w, uint64_t id, const Traffic& t, Cycle now, Sm& sm,
                                        Requests& requests) {
  if (store_ && !t.reduces && store_->is(t)) return join_store(w, id, requests);
  const uint32_t first = requests.next_line();
  add_lines(t.global, requests.batch.lines);
  const uint32_t lines = requests.next_line() - first;
  const Cycles occupied = std::max(t.rows * p_->tma_row_interval, t.bytes / p_->l2_sm_write_bytes_per_cycle);
  UnitWorked work{.id = id};
  const Cycles start = take(sm, TmaUnit::Direction::store, t, now, occupied, work);
  const Cycle read = cycle_of(start + p_->tma_store_latency + occupied);
  const Cycle done = cycle_of(time_of(read) + p_->tma_store_done);
  store_ = Store{t.tensor_map, t.bytes, t.global, read, done, std::nullopt};
  if (lines == 0) return {.read = read, .land = done, .work = work};
  const auto kind = t.reduces ? Request::Kind::atomic : Request::Kind::write;
  store_->request = requests.add(kind, w.sm, start, occupied / lines, first);
  sm.memory.fences().accesses_gmem();
  requests.writes.push_back(
      {.request = *store_->request, .sm = w.sm, .cluster = w.cluster_number, .id = id, .not_before = done});
  return {.read = read, .work = work};
}

// Lanes of a warp that issue one store: an H200 performs it once (reductions and loads once a lane).
AsyncEngine::Started AsyncEngine::join_store(const Warp& w, uint64_t id, Requests& requests) const {
  if (!store_->request) return {.read = store_->read, .land = store_->done};
  requests.writes.push_back({.request = *store_->request,
                             .sm = w.sm,
                             .cluster = w.cluster_number,
                             .id = id,
                             .not_before = store_->done});
  return {.read = store_->read};
}

// The tensor core takes an instruction when all four warps have issued it, one after the other.
AsyncEngine::Started AsyncEngine::multiply(const Warp& w, uint64_t id, const Traffic& t, Cycle now,
                                           Sm& sm) const {
  const TensorCore::Served s =
      sm.tensor.take(w.warpgroup, {t.rows, t.columns, t.from_registers()}, time_of(now));
  book(sm, s);
  return {.land = cycle_of(s.landed), .work = worked(id, s)};
}

// A product or a copy on the tensor memory of one SM, or of the two of a pair, which begin together.
AsyncEngine::Started AsyncEngine::use_tensor_memory(uint64_t id, const Traffic& t, Cycle now,
                                                    std::span<Sm> sms) const {
  const bool product = t.columns != 0;
  const TensorCore::TensorMemoryWork work{.cycles = product ? t.columns / p_->tcgen05_columns_per_cycle
                                                            : t.bytes / p_->tcgen05_copy_bytes_per_cycle,
                                          .reads = t.bytes / p_->smem_bytes_per_cycle};
  Cycles start = time_of(now);
  for (uint32_t left = t.ctas; left != 0; left &= left - 1)
    start = sms[static_cast<uint32_t>(std::countr_zero(left))].tensor.begins(start);
  TensorCore::Served s;
  for (uint32_t left = t.ctas; left != 0; left &= left - 1) {
    Sm& sm = sms[static_cast<uint32_t>(std::countr_zero(left))];
    s = sm.tensor.run(work, start);
    book(sm, s);
  }
  sms.front().usage.tcgen05_products += t.products;
  // A's rows are read before the first column; see tcgen05.tail in the clock's file.
  constexpr double row_bytes = 32;
  const Cycles first =
      product && t.source == isa::Space::shared_cta ? t.rows * row_bytes / p_->smem_bytes_per_cycle : 0;
  const Cycles pair = (t.ctas & (t.ctas - 1)) != 0 ? p_->tcgen05_pair : 0;
  return {.land = cycle_of(start + work.cycles + first + p_->tcgen05_tail + pair), .work = worked(id, s)};
}

}  // namespace palladion::sim::hardware
