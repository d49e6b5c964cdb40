// How a group's instructions meet shared memory, GMEM and the units that work on their own.
#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/clock/sm/group.h"

namespace palladion::sim::hardware {

// The share of the port that wgmma leaves to loads and stores while it reads its operands.
double SmGroup::left_by_tensor_core(const Sm& unit, double time) const {
  return time < unit.tensor_free ? std::max(1 / p_.smem_pass_beside_wgmma, 1 - unit.tensor_share) : 1;
}

// ldmatrix and stmatrix: each address is a row of 16 bytes, eight make a pass.
uint32_t SmGroup::passes_of(const Price& p) const {
  const uint32_t passes =
      p.takes_turns ? atomic_passes(addresses_, lanes_, p.bytes) : shared_passes(addresses_, lanes_, p.bytes);
  return p_.bank_conflicts ? passes : std::min(passes, ideal_passes(lanes_, p.bytes));
}

// A loop around a compare-and-swap: in each round one lane of each bank comes through, unless another warp
// has just changed its word.
void SmGroup::spin_in_shared(Warp& w, const Price& p, uint64_t now) {
  const double round = p.latency + 2 * (shared_passes(addresses_, lanes_, p.bytes) - 1);
  const uint64_t cta = uint64_t{w.cluster->index} << 40 ^ uint64_t { w.cta->rank } << 36;
  std::array<double, 32> bank{};
  double end = 0;
  for (uint32_t m = lanes_; m != 0; m &= m - 1) {
    const uint64_t word = addresses_[std::countr_zero(m)] / 4;
    double& changed = sms_[w.sm].changed[cta ^ word];
    double start = std::max(bank[word % 32], static_cast<double>(now));
    if (std::abs(start - changed) < p_.smem_cas_interval) start += round;
    changed = start;
    end = std::max(end, bank[word % 32] = start + round);
  }
  w.next = static_cast<uint64_t>(end);
  w.why = Stall::short_scoreboard;
  instructions_ += static_cast<uint64_t>((end - static_cast<double>(now)) / round - 0.5) * p.slots;
  set_ready(w, p, w.next);
}

void SmGroup::access_shared(Warp& w, const Price& p, uint64_t now) {
  if (lanes_ == 0) return;
  Sm& unit = sms_[w.sm];
  const uint32_t passes = passes_of(p), ideal = ideal_passes(lanes_, p.bytes), cycles = passes * p.port;
  bank_conflicts_ += passes > ideal ? passes - ideal : 0;
  const double issue = std::max({static_cast<double>(now), unit.lsu_free, unit.lsu_held});
  if (unit.lsu_held > static_cast<double>(now)) unit.network_queue.push(unit.lsu_held);
  const double start = std::max(issue, unit.port_free);
  unit.port_free = start + cycles * line_bytes / p_.smem_bytes_per_cycle / left_by_tensor_core(unit, start);
  // Instructions queue in front of the port.
  unit.lsu_free = std::max(issue + p_.smem_lsu_interval, unit.port_free);
  book(unit, Resource::smem, cycles);
  // Each further pass takes two cycles to come back, each further word of a lane one.
  const uint32_t wide = !p.rows && p.bytes > 4 ? p.bytes / 4 - 1 : 0;
  const double beside = start < unit.tensor_free ? p_.smem_beside_wgmma : 0;
  if (p.path == Path::shared_load || p.path == Path::cluster_load)
    set_ready(w, p, static_cast<uint64_t>(start + beside) + p.latency + 2 * (passes - 1) + wide);
  // One sub-core alone gets half of the port; the words of a store take two cycles more to get there.
  const uint32_t words = p.path == Path::shared_store && p.bytes > 4 ? 2 : 0;
  double& path = unit.sub[w.sub].pipe_free[static_cast<size_t>(Resource::smem)];
  path = std::max(path, static_cast<double>(now)) +
         std::max<double>({p.interval, 2.0 * cycles, 2.0 * ideal + words});
  if (p.loops) spin_in_shared(w, p, now);
  if (gathered_ != 0 && p.scatter != 0) {
    w.next = static_cast<uint64_t>(start) + gathered_ + p.latency + p.scatter;
    set_ready(w, p, w.next);
  }
}

uint32_t SmGroup::add_request(Request::Kind kind, uint32_t sm, double time, double step, uint32_t first) {
  batch.requests.push_back({.kind = kind,
                            .time = static_cast<uint64_t>(time),
                            .step = step,
                            .first = first,
                            .lines = static_cast<uint32_t>(batch.lines.size()) - first,
                            .sm = sms_[sm].id});
  return static_cast<uint32_t>(batch.requests.size() - 1);
}

void SmGroup::access_global(Warp& w, uint32_t index, const Price& p, uint64_t now) {
  if (lanes_ == 0) return;
  const isa::Space space = space_of(p.space, addresses_[std::countr_zero(lanes_)]);
  if (is_shared(space)) return access_shared(w, p, now);
  Sm& unit = sms_[w.sm];
  const double start = std::max({static_cast<double>(now), unit.lsu_free, unit.lsu_held});
  if (space == isa::Space::local) {
    unit.lsu_free = start + p_.smem_lsu_interval;
    return set_ready(w, p, static_cast<uint64_t>(start + p_.l1_hit_latency));
  }
  const auto first = static_cast<uint32_t>(batch.lines.size());
  const uint32_t count = touched_lines(addresses_, lanes_, p.bytes, batch.lines);
  unit.lsu_free = start + p_.smem_lsu_interval * count;
  unit.accessed = true;
  // One memory instruction of a sub-core after the other.
  double& path = unit.sub[w.sub].pipe_free[static_cast<size_t>(Resource::smem)];
  path = std::max(path, static_cast<double>(now)) + p.interval;
  if (p.path == Path::global_store) {
    stored(unit, p, batch.lines.data() + first, count, start);
    for (uint32_t i = 0; i < count; ++i)
      if (L1Cache::Line* l = unit.l1.find(batch.lines[first + i].line))
        l->sectors &= static_cast<uint8_t>(~batch.lines[first + i].sectors);
    writes_.push_back(
        {.request = add_request(Request::Kind::write, w.sm, start, p_.smem_lsu_interval, first), .sm = w.sm});
    return;
  }
  load_through_l1(w, index, p, start, first, count);
}

// Stores are on their way: when L2 will have acknowledged them all.
void SmGroup::stored(Sm& unit, const Price& p, const LineAccess* lines, uint32_t count, double start) {
  double cycles = 0;
  for (uint32_t i = 0; i < count; ++i)
    cycles += (p.path == Path::global_atomic ? atomic_pieces(lines[i]) : write_pieces(lines[i])) *
              sector_bytes / p_.l2_sm_write_bytes_per_cycle;
  unit.write_free = std::max(unit.write_free, start) + cycles;
  // What waits for its way holds up those behind it.
  unit.lsu_free = std::max(unit.lsu_free, unit.write_free - p_.l2_sm_write_queue);
  unit.stored = std::max(unit.stored, static_cast<uint64_t>(unit.write_free + p_.l2_latency));
}

// Lines that L1 holds, or has asked for, are not asked for again.
void SmGroup::load_through_l1(Warp& w, uint32_t index, const Price& p, double start, uint32_t first,
                              uint32_t count) {
  Sm& unit = sms_[w.sm];
  double ready = start + p_.l1_hit_latency;
  uint32_t also = no_request, kept = first, sectors = 0;
  const auto request = static_cast<uint32_t>(batch.requests.size());
  for (uint32_t i = first; i < first + count; ++i) {
    LineAccess access = batch.lines[i];
    sectors += static_cast<uint32_t>(std::popcount(access.sectors));
    if (p.past_l1) {
      batch.lines[kept++] = access;
      continue;
    }
    L1Cache::Line* l = unit.l1.find(access.line);
    if (l == nullptr) l = &unit.l1.allocate(access.line, static_cast<uint64_t>(start));
    l->used = static_cast<uint64_t>(start);
    if ((l->sectors & access.sectors) != 0 && l->filled == never)
      also = std::max(also + 1, l->request + 1) - 1;
    if ((l->sectors & access.sectors) != 0 && l->filled != never)
      ready = std::max(ready, static_cast<double>(l->filled));
    access.sectors &= static_cast<uint8_t>(~l->sectors);
    if (access.sectors == 0) continue;
    l->sectors |= access.sectors;
    l->filled = never;
    l->request = request;
    fills_.push_back({w.sm, access.line, request});
    batch.lines[kept++] = access;
  }
  batch.lines.resize(kept);
  unit.l1_free = std::max(unit.l1_free, start) + sectors * sector_bytes / p_.l1_bytes_per_cycle;
  ready = std::max(ready, unit.l1_free + p_.l1_hit_latency - 1);
  book(unit, Resource::l1, sectors * sector_bytes / p_.l1_bytes_per_cycle);
  if (kept == first && also == no_request) {
    set_ready(w, p, static_cast<uint64_t>(ready));
    return share_board(w, p);
  }
  Pending wait{.also = also, .warp = index, .not_before = static_cast<uint64_t>(ready)};
  wait.request =
      kept == first ? also : add_request(Request::Kind::read, w.sm, start, p_.smem_lsu_interval, first);
  set_unanswered(w, p, static_cast<uint32_t>(pending_.size()), 0);
  pending_.push_back(wait);
  share_board(w, p);
}

// Of each line: how many lanes of an atomic want the same word.
void SmGroup::count_alike(LineAccess* lines, uint32_t count, uint32_t lanes) const {
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t mine = 0;
    for (uint32_t m = lanes; m != 0; m &= m - 1)
      if (addresses_[std::countr_zero(m)] / line_bytes == lines[i].line) mine |= m & (0 - m);
    lines[i].alike = static_cast<uint8_t>(most_alike(addresses_, mine));
  }
}

// A strong access of GMEM goes to L2; it is performed here, in its turn.
void SmGroup::perform(const EdgeAccess& access) {
  Warp& w = warps_[access.warp];
  if (w.cluster == nullptr || w.cluster->faulted) return;
  auto& groups = w.warp->groups;
  const auto g =
      std::ranges::find_if(groups, [](const LaneGroup& l) { return l.wait.kind == Wait::Kind::edge; });
  if (g == groups.end()) return;
  const uint32_t pc = g->pc;
  const Price& p = prices_[pc];
  Exec x = exec(w);
  x.group = static_cast<uint32_t>(g - groups.begin());
  take_addresses(x, pc, g->mask);
  const uint32_t lanes = lanes_;
  x.at_edge = true;
  w.cluster->now = access.time;
  run_warp(x, 1);
  if (w.cluster->faulted) return retire(*w.cluster, access.time);
  w.state = Warp::State::queued;
  w.next = access.issued + p.slots + gathered_;
  push(w.next, Event::Kind::warp, access.warp);
  if (lanes == 0) return;
  Sm& unit = sms_[w.sm];
  unit.accessed = true;
  if (p.acquires) unit.l1.drop();
  const auto first = static_cast<uint32_t>(batch.lines.size());
  const uint32_t count = touched_lines(addresses_, lanes, p.bytes, batch.lines);
  const double start = std::max(static_cast<double>(access.issued), unit.lsu_free);
  unit.lsu_free = start + p_.smem_lsu_interval * count;
  if (p.path == Path::global_atomic) count_alike(batch.lines.data() + first, count, lanes);
  if (p.path != Path::global_load) stored(unit, p, batch.lines.data() + first, count, start);
  const auto kind = p.path == Path::global_atomic ? Request::Kind::atomic
                    : p.path == Path::global_load ? Request::Kind::read
                                                  : Request::Kind::write;
  const uint32_t request = add_request(kind, w.sm, start, p_.smem_lsu_interval, first);
  if (p.writes == 0) {
    writes_.push_back({.request = request, .sm = w.sm});
    return;
  }
  const uint32_t later = gathered_ != 0 ? gathered_ + p.scatter : 0;
  set_unanswered(w, p, static_cast<uint32_t>(pending_.size()), later);
  w.drain |= later != 0;  // all lanes have their results before the warp goes on
  w.deferred |= later != 0;
  pending_.push_back({.request = request, .warp = access.warp});
}

// Values that waited for answers have their times now.
void SmGroup::resolve(Warp& w) {
  w.unanswered = w.deferred = false;
  for (Value& v : w.values) {
    if (v.ready != never) continue;
    v.ready = answers_[v.answer] + v.offset;
    if (v.offset != 0) w.horizon = std::max(w.horizon, v.ready);  // not the load itself
  }
}

void SmGroup::answer() {
  const auto done = [&](uint32_t request) {
    return request == no_request ? 0 : batch.requests[request].done;
  };
  for (const Fill& f : fills_) {
    L1Cache::Line* l = sms_[f.sm].l1.find(f.line);
    if (l != nullptr && l->request == f.request && l->filled == never) l->filled = done(f.request);
  }
  answers_.clear();
  for (const Pending& p : pending_) {
    uint64_t time = std::max({done(p.request), done(p.also), p.not_before});
    for (const Due& part : p.parts)
      if (part.waits) time = std::max(time, answers_[part.answer] + part.offset);
    answers_.push_back(time);
    if (p.cluster == nullptr) continue;
    // Lines of the copy behind it overtake its last ones.
    const double overtaken = p.load != 0 && p.load < sms_[p.sm].tma_loads ? p_.tma_overtaken : 0;
    push(static_cast<uint64_t>(static_cast<double>(time) + p.extra + overtaken), Event::Kind::land,
         *p.cluster, p.id);
  }
  for (const Pending& p : pending_)
    if (p.cluster == nullptr && warps_[p.warp].unanswered) resolve(warps_[p.warp]);
  // Stores that are far behind hold up the unit that sent them, reductions when too many wait; a store is
  // done when L2 has taken it, which is half of a round trip before the SM could know.
  for (const Write& write : writes_) {
    const uint64_t written =
        done(write.request) - std::min(done(write.request), static_cast<uint64_t>(p_.l2_latency));
    Sm& unit = sms_[write.sm];
    drained_ = std::max(drained_, done(write.request));
    unit.stored = std::max(unit.stored, done(write.request));
    if (write.cluster != nullptr) {
      unit.tma_store_free = std::max(unit.tma_store_free, static_cast<double>(written) - p_.l2_latency);
      push(std::max(write.not_before, written), Event::Kind::land, *write.cluster, write.id);
    } else {
      const Request& r = batch.requests[write.request];
      unit.lsu_free = std::max(unit.lsu_free, r.kind == Request::Kind::atomic
                                                  ? r.accepted
                                                  : static_cast<double>(written) - p_.l2_latency);
    }
  }
  for (const uint32_t index : parked_) {
    Warp& w = warps_[index];
    if (w.state != Warp::State::memory) continue;
    w.state = Warp::State::queued;
    push(w.next, Event::Kind::warp, index);
  }
  fills_.clear();
  pending_.clear();
  writes_.clear();
  parked_.clear();
  batch.clear();
}

}  // namespace palladion::sim::hardware
