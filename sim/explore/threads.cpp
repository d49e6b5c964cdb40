#include <algorithm>
#include <bit>

#include "sim/explore/raw_events.h"

namespace palladion::sim::check {
namespace {

// A thread of the warp that is being built. What it must have seen before its next operation is pending.
struct Slot {
  uint32_t thread = 0;
  std::vector<Prerequisite> pending;
  std::vector<uint64_t> wgmma;  // pending too: all warps of the warpgroup must have issued these
};

bool is_meeting(const RawEvent& e) {
  return e.kind == RawEvent::Kind::met || e.kind == RawEvent::Kind::converged;
}

// Lanes that take part in the same events, lowest lane first.
std::vector<uint32_t> classes_of(std::span<const RawEvent> events) {
  uint32_t all = 0;
  for (const RawEvent& e : events)
    if (!is_meeting(e)) all |= e.lanes;
  std::vector<uint32_t> classes;
  if (all != 0) classes.push_back(all);
  for (const RawEvent& e : events) {
    if (e.kind == RawEvent::Kind::converged) continue;
    for (size_t i = 0, n = classes.size(); i < n; ++i) {
      const uint32_t in = classes[i] & e.lanes, out = classes[i] & ~e.lanes;
      if (in == 0 || out == 0) continue;
      classes[i] = in;
      classes.push_back(out);
    }
  }
  std::ranges::sort(classes, {}, [](uint32_t c) { return std::countr_zero(c); });
  return classes;
}

// The events between two points at which the warp is together: [from, to).
struct Segment {
  size_t from = 0, to = 0;
  std::span<const RawEvent> of(std::span<const RawEvent> events) const {
    return events.subspan(from, to - from);
  }
};

std::vector<Segment> split(std::span<const RawEvent> events) {
  std::vector<Segment> segments;
  for (size_t from = 0; from < events.size();) {
    size_t to = from;
    while (to < events.size() && events[to].kind != RawEvent::Kind::converged) ++to;
    segments.push_back({from, to});
    from = to + 1;
  }
  return segments;
}

// The same, whichever threads its lanes are.
bool is_lane_wise(const RawEvent& e) {
  if (is_meeting(e)) return true;
  if (e.kind == RawEvent::Kind::issue) return std::has_single_bit(e.lanes);
  return e.kind == RawEvent::Kind::op &&
         (e.per_lane || e.op.kind == SyncKind::bar_pass || e.op.kind == SyncKind::wait);
}

bool is_use(const RawEvent& e, SyncKind kind, uint32_t object) {
  return e.kind == RawEvent::Kind::op && e.op.kind == kind && e.op.object == object;
}

// A thread that passes a barrier is the one that arrived there with its first lane.
bool arrived_as_they_pass(std::span<const RawEvent> arriving, std::span<const RawEvent> passing,
                          uint32_t lanes) {
  const std::vector<uint32_t> before = classes_of(arriving), now = classes_of(passing);
  for (size_t c = 0; c < now.size(); ++c) {
    if ((now[c] & lanes) == 0) continue;
    const uint32_t first = now[c] & (0U - now[c]);
    if (c >= before.size() || (before[c] & first) == 0) return false;
  }
  return true;
}

// Where lanes arrive at a barrier, are together, and pass it as other threads than they arrived, all of that
// is one segment: a thread knows the generation that it arrived in itself.
std::vector<Segment> segments_of(std::span<const RawEvent> events) {
  std::vector<Segment> segments;
  for (const Segment& next : split(events)) {
    segments.push_back(next);
    for (size_t i = next.from; i < next.to; ++i) {
      const RawEvent& pass = events[i];
      if (pass.kind != RawEvent::Kind::op || pass.op.kind != SyncKind::bar_pass) continue;
      size_t at = i;
      while (at > 0 && !is_use(events[at - 1], SyncKind::bar_arrive, pass.op.object)) --at;
      size_t a = segments.size() - 1;
      while (a > 0 && segments[a].from >= at) --a;
      if (at == 0 || a + 1 == segments.size()) continue;
      const Segment joined{segments[a].from, next.to};
      if (arrived_as_they_pass(segments[a].of(events), segments.back().of(events), pass.lanes) ||
          !std::ranges::all_of(joined.of(events), is_lane_wise))
        continue;
      segments.resize(a);
      segments.push_back(joined);
    }
  }
  return segments;
}

class Builder {
 public:
  Builder(const RawRun& run, Skeleton& skeleton) : run_(run), skeleton_(skeleton) {}

  void build() {
    for (uint32_t w = 0; w < run_.warps.size(); ++w) {
      warp_ = w;
      slots_.clear();
      used_.clear();
      for (const Segment& s : segments_of(run_.warps[w])) segment(s.of(run_.warps[w]));
    }
    for (const Late& l : late_) resolve(l);
    skeleton_.threads.insert(skeleton_.threads.end(), agents_.begin(), agents_.end());
    skeleton_.order_commits();
  }

 private:
  struct Late {
    uint32_t thread, position;
    uint64_t wgmma;
  };

  std::vector<SyncOp>& ops(const Slot& s) { return skeleton_.threads[s.thread].ops; }

  uint32_t position(const Slot& s) { return static_cast<uint32_t>(ops(s).size()); }

  void push(Slot& s, SyncOp op) {
    op.after.insert(op.after.end(), s.pending.begin(), s.pending.end());
    s.pending.clear();
    for (const uint64_t id : s.wgmma) late_.push_back({s.thread, position(s), id});
    s.wgmma.clear();
    ops(s).push_back(std::move(op));
  }

  // A position that the thread reaches when everything that it did and waited for is complete.
  Prerequisite here(Slot& s, uint32_t place) {
    if (!s.pending.empty() || !s.wgmma.empty() || ops(s).empty()) push(s, {.place = place, .after = {}});
    return {s.thread, position(s)};
  }

  void segment(std::span<const RawEvent> events) {
    const std::vector<uint32_t> classes = classes_of(events);
    if (classes.empty()) return;
    begin(classes.size());
    for (const RawEvent& e : events) {
      if (is_meeting(e)) {
        meet(classes, e.kind == RawEvent::Kind::met ? e.lanes : ~0U);
        continue;
      }
      for (size_t c = 0; c < classes.size(); ++c)
        if ((classes[c] & e.lanes) != 0) happen(slots_[c], e, classes[c]);
      if (e.kind == RawEvent::Kind::op && e.op.kind == SyncKind::wait) note_together(classes, e.lanes);
    }
  }

  void note_together(const std::vector<uint32_t>& classes, uint32_t lanes) {
    const size_t before = skeleton_.together.size();
    for (size_t c = 0; c < classes.size(); ++c)
      if ((classes[c] & lanes) != 0) skeleton_.together.push_back({slots_[c].thread, position(slots_[c])});
    if (skeleton_.together.size() - before < 2)
      skeleton_.together.resize(before);
    else
      skeleton_.together_ends.push_back(static_cast<uint32_t>(skeleton_.together.size()));
  }

  // All threads of the segment before have reached its end before one of these continues.
  void begin(size_t count) {
    while (slots_.size() < count) {
      slots_.push_back(
          {.thread = static_cast<uint32_t>(skeleton_.threads.size()), .pending = {}, .wgmma = {}});
      skeleton_.threads.push_back({.cta_rank = CtaRank(warp_ / run_.warps_per_cta),
                                   .warp = WarpOfCta(warp_ % run_.warps_per_cta),
                                   .ops = {}});
    }
    Slot before;
    for (const uint32_t u : used_) {
      Slot& s = slots_[u];
      before.pending.insert(before.pending.end(), s.pending.begin(), s.pending.end());
      before.wgmma.insert(before.wgmma.end(), s.wgmma.begin(), s.wgmma.end());
      s.pending.clear();
      s.wgmma.clear();
      if (position(s) != 0) before.pending.push_back({s.thread, position(s)});
    }
    used_.clear();
    for (uint32_t c = 0; c < count; ++c) {
      Slot& s = slots_[c];
      s.wgmma = before.wgmma;
      for (const Prerequisite& p : before.pending)
        if (p.thread != s.thread) s.pending.push_back(p);
      used_.push_back(c);
    }
  }

  void meet(const std::vector<uint32_t>& classes, uint32_t lanes) {
    std::vector<Prerequisite> all;
    for (size_t c = 0; c < classes.size(); ++c)
      if ((classes[c] & lanes) != 0 && position(slots_[c]) != 0)
        all.push_back({slots_[c].thread, position(slots_[c])});
    for (size_t c = 0; c < classes.size(); ++c) {
      if ((classes[c] & lanes) == 0) continue;
      for (const Prerequisite& p : all)
        if (p.thread != slots_[c].thread) slots_[c].pending.push_back(p);
    }
  }

  void happen(Slot& s, const RawEvent& e, uint32_t lanes) {
    switch (e.kind) {
      case RawEvent::Kind::op:
        push(s, operation(e, lanes));
        return;
      case RawEvent::Kind::issue:
        return issue(s, e, lanes);
      case RawEvent::Kind::wgmma_issue:
        marks_[e.id].push_back(s.pending.empty() ? Prerequisite{s.thread, position(s)} : here(s, e.op.place));
        return;
      case RawEvent::Kind::wgmma_wait:
        s.wgmma.push_back(e.id);
        return;
      default:
        return;
    }
  }

  SyncOp operation(const RawEvent& e, uint32_t lanes) const {
    SyncOp op = e.op;
    const auto n = static_cast<uint32_t>(std::popcount(lanes));
    if (e.per_lane || e.by_lane) {
      op.count *= n;
      op.tx *= n;
    }
    if (op.kind != SyncKind::bar_arrive) return op;
    const BarrierUse& use = run_.generations[e.id];
    op.needed = use.completed ? use.threads : std::max(use.expected, use.threads);
    return op;
  }

  // `lanes`: those of the thread. Lanes of several threads may have issued the operation together.
  void issue(Slot& s, const RawEvent& e, uint32_t lanes) {
    const auto signals = run_.signals.find(e.id);
    if (signals == run_.signals.end()) return;
    const Prerequisite issued = here(s, e.op.place);
    const bool each = e.by_lane && signals->second.size() == static_cast<size_t>(std::popcount(e.lanes));
    uint32_t rest = e.lanes;  // whose signals are to come
    for (SyncOp op : signals->second) {
      const uint32_t lane = rest & (0 - rest);
      rest &= rest - 1;
      if (each && (lanes & lane) == 0) continue;
      if (e.by_lane && !each) op.count *= static_cast<uint32_t>(std::popcount(lanes));
      op.place = e.op.place;
      op.after = {issued};
      agents_.push_back({.cta_rank = skeleton_.threads[s.thread].cta_rank,
                         .warp = skeleton_.threads[s.thread].warp,
                         .agent = true,
                         .committer = e.committer,
                         .commit = e.commit,
                         .ops = {std::move(op)}});
    }
  }

  // A wgmma completes when the four warps have issued it.
  void resolve(const Late& l) {
    for (const Prerequisite& p : marks_[l.wgmma])
      if (p.thread != l.thread && p.position != 0)
        skeleton_.threads[l.thread].ops[l.position].after.push_back(p);
  }

  const RawRun& run_;
  Skeleton& skeleton_;
  uint32_t warp_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint32_t> used_;  // slots of the segment before
  std::vector<SyncThread> agents_;
  std::vector<Late> late_;
  std::map<uint64_t, std::vector<Prerequisite>> marks_;
};

}  // namespace

void make_threads(const RawRun& run, Skeleton& skeleton) { Builder(run, skeleton).build(); }

}  // namespace palladion::sim::check
