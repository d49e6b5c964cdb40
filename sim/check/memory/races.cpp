#include "sim/check/memory/races.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace palladion::sim::check {
namespace {

// The lanes of the later access at some bytes.
uint32_t lanes_at(const Actor& a, Ref mine, uint32_t first, uint32_t count) {
  if (size_of(mine) == every_lane) return a.lanes;
  uint32_t lanes = 0;
  for (uint32_t b = first; b < first + count; ++b) lanes |= 1U << lane_of(mine, b);
  return lanes;
}

// Which accesses of others do not race with it by being strong: the more, the stronger.
int strength(bool strong, isa::Scope scope, bool reduces) {
  if (reduces) return static_cast<int>(isa::Scope::sys) + 1;
  return strong ? 1 + static_cast<int>(std::min(scope, isa::Scope::gpu)) : 0;
}
int strength(const Record& r) {
  return strength((r.flags & Record::strong) != 0, r.scope, r.async && r.async->reduces);
}
int strength(const Actor& a) { return strength(a.strong, a.scope, a.reduces); }

}  // namespace

void Detector::begin(const Actor& actor, bool defined_at_start) {
  actor_ = actor;
  actor_.execution = sink_.next_execution();
  defined_ = defined_at_start;
  memo_.fill({});
  steps_.fill({});
  last_written_by_ = 0;
}

// In a race of a warp with itself, a lane that alone writes a byte reads it in the order of its program.
uint32_t Detector::readers(Ref earlier, bool wrote, uint32_t first, uint32_t count, Ref mine) const {
  const Record& r = records_[record_of(earlier)];
  const bool one_warp = r.cluster == actor_.cluster && r.warp == actor_.warp && !r.async && !actor_.async;
  uint32_t all = 0;
  for (uint32_t b = first; b < first + count; ++b) {
    const uint32_t then = lanes_at(r, earlier, b), now = lanes_at(actor_, mine, b, 1);
    const uint32_t read = wrote ? now : then, written = wrote ? then : now;
    all |= one_warp && std::has_single_bit(written) ? read & ~written : read;
  }
  return all;
}

bool Detector::against(Ref earlier, bool wrote, bool last, uint64_t address, uint32_t first, uint32_t count,
                       Ref mine) {
  if (record_of(earlier) == actor_.record && (!actor_.again || earlier == mine)) return false;
  const Record& r = records_[record_of(earlier)];
  const Relation rel = count == granule ? granule_relation(r, earlier, wrote, mine)
                                        : relation(earlier, wrote, first, count, mine);
  if (actor_.async && actor_.writes && wrote && r.async) note_overwritten(r.async);
  if (rel == Relation::ordered) return false;
  Conflict c{.earlier = record_of(earlier), .earlier_wrote = wrote, .relation = rel};
  c.address = address + first;
  c.bytes = count;
  c.earlier_lanes = r.async ? 0 : lanes_at(r, earlier, first);
  if (r.async) c.earlier_parts = part_of(r, earlier, first);
  c.lane = size_of(mine) == every_lane ? lowest_lane(actor_.lanes | 1U << 31) : Lane(lane_of(mine, first));
  c.lanes = lanes_at(actor_, mine, first, count);
  c.first_lanes = lanes_at(actor_, mine, first, 1);
  c.readers = readers(earlier, wrote, first, count, mine);
  const uint32_t at = first - values_from_;
  c.last = last;
  c.written_by = record_of(last_write_);
  c.unwritten = last_write_ == 0;
  c.equal = last && r.valued && values_.last != nullptr &&
            std::memcmp(values_.last + at, values_.now + at, count) == 0;
  note(c);
  return true;
}

// Keeps which operation the actor's overwrote, and which of those that had waited for that one are ordered
// before the actor's issuer.
void Detector::note_overwritten(const std::shared_ptr<AsyncRecord>& before) {
  AsyncRecord& op = *records_[actor_.record].async;
  if (op.overwrote == before || before.get() == &op) return;
  op.overwrote = before;
  before->overwrote = nullptr;  // else every operation would be kept
  op.released_by.clear();
  for (const Publication& p : before->published) {
    if (p.reads_only) continue;
    const bool own = before->cluster == actor_.cluster && p.warp == actor_.warp;
    uint32_t lanes = own ? p.lanes & actor_.lanes : 0, time = p.time;
    for (uint32_t m = p.lanes & ~lanes; m != 0; m &= m - 1) {
      const uint32_t known = actor_.view->known(Visibility::generic, before->cluster, p.warp, lowest_lane(m));
      if (known < p.time) continue;
      lanes |= m & (0 - m);
      time = std::max(time, known);
    }
    if (lanes != 0) op.released_by.push_back({p.warp, lanes, time});
  }
}

void Detector::note(const Conflict& c) {
  quiet_ = false;
  for (uint32_t k = 0; k < pending_count_; ++k) {
    Conflict& p = pending_[k];
    if (p.earlier != c.earlier || p.relation != c.relation || p.earlier_wrote != c.earlier_wrote) continue;
    const uint64_t end = std::max(p.address + p.bytes, c.address + c.bytes);
    p.address = std::min(p.address, c.address);
    p.bytes = end - p.address;
    p.lanes |= c.lanes;
    p.readers |= c.readers;
    p.equal &= c.equal;
    p.last &= c.last;
    p.unwritten &= c.unwritten;
    if (p.written_by != c.written_by) p.written_by = 0;
    return;
  }
  if (pending_count_ == pending_.size()) {
    sink_.conflict(actor_, pending_.front());
    std::shift_left(pending_.begin(), pending_.end(), 1);
    --pending_count_;
  }
  pending_[pending_count_++] = c;
}

void Detector::flush() {
  for (uint32_t k = 0; k < pending_count_; ++k) sink_.conflict(actor_, pending_[k]);
  pending_count_ = 0;
  if (uninitialised_bytes_ != 0)
    sink_.uninitialised(actor_, uninitialised_at_, uninitialised_bytes_, Lane(uninitialised_lane_));
  uninitialised_bytes_ = 0;
}

// A read need not be kept when every actor that is ordered after the new one is ordered after it, too, or in
// conflict with both: the same lanes' earlier reads that are as strong, and operations of groups, which are
// retired in the order of their issue.
bool Detector::replaces(Ref old, Ref mine) const {
  const Record& r = records_[record_of(old)];
  if (r.cluster != actor_.cluster || writes(old) || strength(r) < strength(actor_)) return false;
  if (r.async != nullptr) {
    const Record& now = records_[actor_.record];
    if (r.async->is_tensor())
      return now.async != nullptr && now.async->stream == r.async->stream && now.time >= r.time;
    if (!actor_.async || r.async->group == isa::AsyncGroup::none || r.async->lane_exact) return false;
    if (now.async->group != r.async->group) return false;
    if (r.async->group == isa::AsyncGroup::wgmma) return now.async->warpgroup == r.async->warpgroup;
    return now.warp == r.warp && now.lanes == r.lanes;
  }
  return !actor_.async && r.warp == actor_.warp && (old & 0xFF) == (mine & 0xFF) &&
         r.element == actor_.element && (size_of(old) != every_lane || r.lanes == actor_.lanes);
}

void Detector::add_read(Cell& c, Ref mine) {
  if (c.read[0] == mine || c.read[1] == mine) return;
  if (c.has_list() && std::ranges::find(pool_.list(c), mine) != pool_.list(c).end()) return;
  for (Ref& old : c.read)
    if (old != 0 && replaces(old, mine)) {
      old = mine;
      return;
    }
  if (c.has_list())
    for (Ref& old : pool_.list(c))
      if (replaces(old, mine)) {
        old = mine;
        return;
      }
  pool_.add_read(c, mine);
}

void Detector::touch_cell(Cell& cell, uint64_t address, uint32_t first, uint32_t count, Ref mine) {
  const Actor& a = actor_;
  conflicting_write_ = 0;
  last_write_ = cell.write;
  if (cell.write == 0) {
    if (a.reads && !defined_) {
      quiet_ = false;
      const uint64_t at = address + first;
      if (uninitialised_bytes_ == 0 || at < uninitialised_at_)
        uninitialised_lane_ = size_of(mine) == every_lane ? 0 : lane_of(mine, first);
      const uint64_t begin = uninitialised_bytes_ == 0 ? at : std::min(at, uninitialised_at_);
      const uint64_t end = uninitialised_bytes_ == 0 ? 0 : uninitialised_at_ + uninitialised_bytes_;
      uninitialised_at_ = begin;
      uninitialised_bytes_ = std::max(end, at + count) - begin;
    }
  } else {
    against_write(cell, address, first, count, mine);
  }
  if (a.writes) return write(cell, address, first, count, mine);
  if (cell.has_writes())
    pool_.for_each_read(cell, [&](Ref r) {
      if (writes(r) && !same_warp(r, conflicting_write_))
        against(r, true, false, address, first, count, mine);
    });
  add_read(cell, mine);
}

void Detector::against_write(const Cell& cell, uint64_t address, uint32_t first, uint32_t count, Ref mine) {
  const Actor& a = actor_;
  const Record& w = records_[record_of(cell.write)];
  quiet_ &= (w.flags & (Record::barrier | Record::fill)) == 0;
  const Lane lane(size_of(mine) == every_lane ? 0 : lane_of(mine, first));
  if ((w.flags & Record::barrier) != 0)
    return sink_.barrier_bytes(a, record_of(cell.write), address + first, lane);
  if (against(cell.write, true, true, address, first, count, mine)) conflicting_write_ = cell.write;
  if (a.reads && !a.async && (w.flags & Record::fill) != 0)
    sink_.fill_read(a, record_of(cell.write), address + first, lane);
  if (a.reads && a.async && cell.write != last_written_by_ && w.async != nullptr) {
    last_written_by_ = cell.write;
    sink_.read_after(a, record_of(cell.write), address + first);
  }
}

bool Detector::same_warp(Ref a, Ref b) const {
  if (a == 0 || b == 0) return false;
  const Record &x = records_[record_of(a)], &y = records_[record_of(b)];
  return x.cluster == y.cluster && x.warp == y.warp;
}

// A strong access of another warp agrees with this strong write, but not with plain accesses behind this one,
// unless it is before them: read-modify-writes observe what was written before (PTX, "Causality Order").
bool Detector::hides(Ref strong) const {
  const Record& r = records_[record_of(strong)];
  if (r.cluster != actor_.cluster) return !(actor_.observes && writes(strong));
  return r.warp != actor_.warp && !(actor_.observes && writes(strong)) &&
         actor_.view->time(Visibility::generic, r.warp) < r.time;
}

// Strong writes of others are compared with this one and agree; what is weaker and came before it stays to be
// compared with them, unless this finding stands for theirs. Of as strong accesses that it hides one stays.
void Detector::write(Cell& cell, uint64_t address, uint32_t first, uint32_t count, Ref mine) {
  const int strong = strength(actor_);
  kept_.clear();
  bool keeps_writes = false;
  Ref hidden = 0;  // the newest
  const auto keep = [&](Ref r) {
    const Record& record = records_[record_of(r)];
    if ((record.flags & Record::barrier) != 0) return;
    if (strength(record) >= strong) {
      if (hides(r)) hidden = r;
      return;
    }
    keeps_writes |= writes(r);
    kept_.push_back(r);
  };
  pool_.for_each_read(cell, [&](Ref r) {
    const bool wrote = writes(r);
    const bool known = wrote && same_warp(r, conflicting_write_);
    const bool conflict = !known && against(r, wrote, false, address, first, count, mine);
    const Record& record = records_[record_of(r)];
    const bool other_warp = record.cluster != actor_.cluster || record.warp != actor_.warp;
    if (strong != 0 && (wrote || !conflict || !other_warp)) keep(r);
  });
  if (strong != 0 && cell.write != 0) keep(cell.write);
  if (hidden != 0) {
    keeps_writes |= writes(hidden);
    kept_.push_back(hidden);
  }
  if (cell.read[0] != 0) pool_.clear_reads(cell);
  cell.write = mine;
  if (kept_.empty()) return;
  for (const Ref r : kept_) pool_.add_read(cell, r);
  if (keeps_writes) cell.more |= Cell::writes_bit;
}

// Neighbouring granules mostly have one history, or a few that take turns: what one became, the next becomes.
void Detector::touch(Cell& cell, uint64_t address, uint32_t first, uint32_t count, uint32_t pattern,
                     const ValuesThere& values) {
  values_ = values;
  values_from_ = first;
  const Ref mine = actor_.record << 8 | pattern;
  if (count == granule && !cell.split()) {
    if (find_step(cell, mine)) {
      cell = steps_[last_step_].after;
      return;
    }
    const Cell was = cell;
    quiet_ = was.more == 0;
    touch_cell(cell, address, 0, granule, mine);
    if (quiet_ && cell.more == 0)
      remember(was, cell, mine);
    else
      steps_.fill({});
    return;
  }
  steps_.fill({});
  if (!cell.split()) pool_.split(cell);
  auto& bytes = pool_.block(cell);
  for (uint32_t b = first; b < first + count; ++b) touch_cell(bytes[b], address, b, 1, mine);
  if (count == granule && actor_.writes) pool_.unite(cell, mine);
}

}  // namespace palladion::sim::check
