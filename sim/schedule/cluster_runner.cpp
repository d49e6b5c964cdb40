#include "sim/schedule/cluster_runner.h"

#include <algorithm>
#include <new>

#include "sim/machine/exec/shuffle.h"
#include "sim/machine/exec/specials.h"
#include "sim/schedule/endless.h"

namespace palladion::sim {
namespace {

constexpr uint32_t slice = 512;                   // warp instructions before the next warp executes
constexpr uint64_t quiet_instructions = 1 << 18;  // warp instructions without a change: perhaps a spin
constexpr uint32_t idle_rounds = 64;              // rounds of nothing but polling before the quantum ends

// splitmix64: the schedule's own generator, one state a cluster.
uint64_t next_random(uint64_t& state) {
  const uint64_t value = scramble(state);
  state += scramble_step;
  return value;
}

bool can_merge(const LaneGroup& a, const LaneGroup& b) {
  const auto free = [](const LaneGroup& g) {
    return g.wait.kind == Wait::Kind::none || g.wait.kind == Wait::Kind::convergence ||
           g.wait.kind == Wait::Kind::poll;
  };
  return a.pc == b.pc && a.resumed == b.resumed && free(a) && free(b) && a.calls == b.calls;
}

void merge_groups(WarpState& warp) {
  auto& groups = warp.groups;
  std::erase_if(groups, [](const LaneGroup& g) { return g.mask == 0; });
  for (size_t i = 0; i < groups.size(); ++i) {
    for (size_t k = i + 1; k < groups.size();) {
      if (!can_merge(groups[i], groups[k])) {
        ++k;
        continue;
      }
      groups[i].mask |= groups[k].mask;
      groups[i].cluster_generation = std::max(groups[i].cluster_generation, groups[k].cluster_generation);
      if (groups[i].wait.kind != Wait::Kind::poll || groups[k].wait.kind != Wait::Kind::poll)
        groups[i].wait = {};
      groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

// The deepest call first, then the smallest pc: lanes that are behind catch up and merge with the others.
bool before(const LaneGroup& a, const LaneGroup& b) {
  const bool pa = a.wait.kind == Wait::Kind::poll, pb = b.wait.kind == Wait::Kind::poll;
  if (pa != pb) return pb;
  if (pa) return a.last_run < b.last_run;
  if (a.calls.size() != b.calls.size()) return a.calls.size() > b.calls.size();
  return a.pc < b.pc;
}

void start_warp(const RunContext& c, ClusterState& cluster, CtaState& cta, WarpOfCta id) {
  WarpState& w = cta.warps[id];
  w.id = id;
  const uint32_t first = id * 32, in_warp = std::min(32U, cta.threads - first);
  w.alive = in_warp == 32 ? ~0U : (1U << in_warp) - 1;
  w.groups.push_back({.pc = c.program.start,
                      .mask = w.alive,
                      .wait = {},
                      .resumed = false,
                      .cluster_generation = 0,
                      .last_run = 0,
                      .timed_out_at = ~0ULL,
                      .barrier_generation = 0,
                      .calls = {}});
  w.registers.resize(c.program.register_bytes);
  w.local.resize(size_t{c.program.local_bytes} * 32);
  // What the warp holds is whole units: 256 a thread where the code uses 255.
  const auto unit = static_cast<uint32_t>(c.program.arch->register_unit_per_thread);
  w.register_limit = (c.program.launch_registers + unit - 1) / unit * unit;
  Exec x(c.run_of(cluster));
  x.cta = &cta;
  x.warp = &w;
  x.registers = w.registers.data();
  initialise_registers(x);
}

// One stage of one asynchronous operation, chosen by the schedule; false when none is ready.
bool advance_one(const ClusterRun& run, bool random) {
  ClusterState& cluster = run.cluster;
  const size_t n = cluster.pending.size();
  if (n == 0) return false;
  const size_t start = random ? next_random(cluster.random) % n : 0;
  for (size_t i = 0; i < n; ++i)
    if (advance(run, (start + i) % n)) return true;
  return false;
}

bool advance_all(const ClusterRun& run) {
  const ClusterState& cluster = run.cluster;
  bool any = false;
  size_t i = 0;
  while (i < cluster.pending.size()) {
    const size_t size = cluster.pending.size();
    if (!advance(run, i)) {
      ++i;
    } else {
      any = true;
      if (cluster.pending.size() < size && i > 0) i = 0;  // operations that waited for it may be ready
    }
    if (cluster.faulted) return any;
  }
  return any;
}

struct Round {
  uint64_t executed = 0;
  bool useful = false, polled = false;
};

Round run_round(const RunContext& c, ClusterState& cluster, bool polls) {
  Round round;
  const bool random = c.schedule.kind == Schedule::Kind::seeded;
  Exec x(c.run_of(cluster));
  x.land_at_issue = c.schedule.kind == Schedule::Kind::earliest;
  x.watch = c.watch;
  for (CtaState& cta : cluster.ctas) {
    if (cta.alive_threads == 0) continue;
    x.cta = &cta;
    const size_t n = cta.warps.size(), start = random ? next_random(cluster.random) % n : 0;
    for (size_t i = 0; i < n; ++i) {
      WarpState& warp = cta.warps[(start + i) % n];
      if (warp.finished() || (random && next_random(cluster.random) % 4 == 0)) continue;
      const int g = choose_group(cluster, cta, warp, polls);
      if (g < 0) continue;
      x.warp = &warp;
      x.group = static_cast<uint32_t>(g);
      const uint32_t budget = random ? 1 + static_cast<uint32_t>(next_random(cluster.random) % 64) : slice;
      const bool was_poll = warp.groups[x.group].wait.kind == Wait::Kind::poll;
      const WarpRun run = run_warp(x, budget);
      round.executed += run.executed;
      round.useful |= run.useful;
      round.polled |= was_poll || !run.useful;
      if (cluster.faulted) return round;
    }
    if (c.schedule.kind == Schedule::Kind::functional && !cluster.pending.empty())
      round.useful |= advance_all(x);
    if (cluster.faulted) return round;
  }
  return round;
}

// Nothing in the cluster changes any more, however long the quantum. Looked at seldom, and for short: a long
// computation pays an eighth of what it executes at most.
bool is_idle(const RunContext& c, ClusterState& cluster, Quantum& q) {
  const uint64_t quiet = q.executed - q.changed_at;
  if (quiet < q.look_at) return false;
  q.look_at = 4 * quiet;
  return all_repeat(c, cluster, quiet / 8);
}

// It was idle before the boundary, and what the boundary changed wakes none of its warps. A random schedule
// keeps its draws.
bool still_repeats(const RunContext& c, ClusterState& cluster, const Quantum& q) {
  return q.repeated && q.executed == 0 && cluster.pending.empty() && !cluster.faulted &&
         !cluster.finished() && c.schedule.kind != Schedule::Kind::seeded &&
         all_repeat(c, cluster, Quantum::first_look / 8);
}

}  // namespace

bool time_out_waits(ClusterState& cluster, bool again) {
  bool any = false;
  for (CtaState& cta : cluster.ctas) {
    for (WarpState& warp : cta.warps) {
      for (LaneGroup& g : warp.groups) {
        if (g.wait.kind != Wait::Kind::mbarrier || (!again && g.timed_out_at == cluster.progress)) continue;
        g.timed_out_at = cluster.progress;
        g.wait = {};
        g.resumed = true;
        any = true;
      }
    }
  }
  return any;
}

int choose_group(ClusterState& cluster, CtaState& cta, WarpState& warp, bool polls) {
  merge_groups(warp);
  int best = -1;
  for (size_t i = 0; i < warp.groups.size(); ++i) {
    const LaneGroup& g = warp.groups[i];
    if (!can_proceed(cluster, cta, warp, g) || (!polls && g.wait.kind == Wait::Kind::poll)) continue;
    if (best < 0 || before(g, warp.groups[static_cast<size_t>(best)])) best = static_cast<int>(i);
  }
  return best;
}

void start_cluster(const RunContext& c, ClusterState& cluster) {
  cluster.random = c.schedule.seed * 0x2545F4914F6CDD1DULL + cluster.index;
  cluster.id = c.launch.cluster_id(cluster.index);
  const auto count = static_cast<uint32_t>(c.launch.cluster.count());
  const auto threads = static_cast<uint32_t>(c.launch.block.count());
  cluster.ctas.resize(count);
  for (uint32_t rank = 0; rank < count; ++rank) {
    CtaState& cta = cluster.ctas[rank];
    cta.rank = CtaRank(rank);
    cta.sm = cluster.sms.empty()
                 ? (cluster.index * count + rank) % static_cast<uint32_t>(c.program.arch->sm_count)
                 : cluster.sms[rank];
    cta.id = c.launch.cta_id(cluster.index, rank);
    cta.shared.resize(c.program.static_shared + c.launch.dynamic_shared);
    // A load may end behind the memory.
    if (c.program.tracks_shared) cta.unmaterialised.assign(cta.shared.size() + 128, 0);
    cta.barriers.resize(static_cast<size_t>(c.program.arch->named_barriers_per_cta));
    cta.threads = cta.alive_threads = threads;
    cta.warps.resize(c.launch.warps_per_cta());
    for (uint32_t w = 0; w < cta.warps.size(); ++w) start_warp(c, cluster, cta, WarpOfCta(w));
  }
  if (c.observer == nullptr) return;
  auto events = std::make_unique<ClusterEvents>();
  c.observer->observe(cluster, *events);
  if (events->empty()) return;
  c.events[cluster.index] = std::move(events);
  c.run_of(cluster).emit(ClusterBegan{});
}

void run_quantum(const RunContext& c, ClusterState& cluster, uint64_t budget, Quantum& q) {
  const ClusterRun run = c.run_of(cluster);
  q.paused = false;
  if (still_repeats(c, cluster, q)) {
    q.repeats = true;
    return;
  }
  while (q.executed < budget && !cluster.stores.full() && !cluster.faulted && !cluster.finished()) {
    if (cluster.progress != q.progress) {
      q.progress = cluster.progress;
      q.changed_at = q.executed;
      q.look_at = Quantum::first_look;
    }
    if (q.executed - q.changed_at >= quiet_instructions) return;
    if (c.stop != nullptr && c.stop->load(std::memory_order_relaxed)) return;
    // Under `latest` asynchronous work advances only when no lane group can execute, not even by polling.
    const Round round = run_round(c, cluster, true);
    q.executed += round.executed;
    q.useful |= round.useful;
    bool moved = round.useful;
    const bool random = c.schedule.kind == Schedule::Kind::seeded;
    const bool idle = is_idle(c, cluster, q);
    moved &= !idle;
    if (random && next_random(cluster.random) % 2 == 0) moved |= advance_one(run, true);
    if (!moved) moved = advance_one(run, random);
    if (!moved && round.executed == 0) moved = time_out_waits(cluster);
    q.useful |= moved;
    if (moved) {
      q.idle = 0;
    } else if (idle) {
      q.repeats = true;
      return;
    } else if (random ? ++q.idle >= 16 * idle_rounds : round.executed == 0 || ++q.idle >= idle_rounds) {
      return;
    }
    q.paused = c.observer != nullptr && c.observer->wants_pause(cluster);
    if (q.paused) return;
  }
}

namespace {

bool land_at_boundary(const ClusterRun& run) {
  bool any = false;
  for (size_t i = 0; i < run.cluster.pending.size() && !run.cluster.faulted;) {
    const AsyncOp& op = run.cluster.pending[i];
    if (op.stage == AsyncOp::Stage::read && op.lands_at_boundary() && advance(run, i))
      any = true;
    else
      ++i;
  }
  return any;
}

std::vector<std::pair<CtaState*, WarpState*>> warps_in_an_order(ClusterState& cluster, uint64_t seed) {
  std::vector<std::pair<CtaState*, WarpState*>> out;
  for (CtaState& cta : cluster.ctas)
    for (WarpState& warp : cta.warps) out.emplace_back(&cta, &warp);
  shuffle(out, scramble(seed ^ cluster.index) ^ cluster.progress);
  return out;
}

}  // namespace

bool run_quantum_boundary(const RunContext& c, ClusterState& cluster) {
  Exec x(c.run_of(cluster));
  x.watch = c.watch;
  x.at_boundary = true;
  bool any = land_at_boundary(x);
  const auto perform = [&](CtaState& cta, WarpState& warp) {
    x.cta = &cta;
    for (uint32_t g = 0; g < warp.groups.size() && !cluster.faulted; ++g) {
      if (warp.groups[g].wait.kind != Wait::Kind::quantum_boundary) continue;
      x.warp = &warp;
      x.group = g;
      run_warp(x, 1);
      any = true;
    }
  };
  if (c.launch.options.lanes == 0) {
    for (CtaState& cta : cluster.ctas)
      for (WarpState& warp : cta.warps) perform(cta, warp);
  } else {
    for (const auto& [cta, warp] : warps_in_an_order(cluster, c.launch.options.lanes)) perform(*cta, *warp);
  }
  return any;
}

}  // namespace palladion::sim
