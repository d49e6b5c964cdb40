#include "sim/check/deadlock/deadlock.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "sim/check/catalogue/catalogue.h"
#include "sim/check/deadlock/deadlock_reasons.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/state/grid_workspace.h"
#include "sim/schedule/polled.h"

namespace palladion::sim::check {
namespace {

constexpr isa::CodeNumber standstill = "PLD3080";  // no known reason

constexpr size_t sites_shown = 24, signals_shown = 6, clusters_examined = 16;

// --- the waiters ----------------------------------------------------------------------------------
// The root and its cycle first, then one of each kind that waits at the same place for the same thing.
// Returns by waiter the site that stands for it; of those that are not shown, none.
std::vector<std::optional<uint32_t>> add_waiters(Finding& f, const WaitGraph& g, const Reason& r) {
  std::vector<uint32_t> order{r.root};
  for (const uint32_t i : r.cycle)
    if (i != r.root) order.push_back(i);
  for (uint32_t i = 0; i < g.waiters().size(); ++i)
    if (std::ranges::find(order, i) == order.end()) order.push_back(i);
  std::vector<std::optional<uint32_t>> sites(g.waiters().size());
  std::map<std::tuple<uint32_t, Wait::Kind, uint64_t, uint64_t, uint64_t>, uint32_t> kinds;
  for (const uint32_t i : order) {
    const Waiter& w = g.waiters()[i];
    const uint64_t state = w.spins ? w.polled.address : w.state.encode();
    const auto [at, is_new] =
        kinds.try_emplace({w.origin.pc, w.wait.kind, w.wait.object, w.wait.value, state}, kinds.size());
    if (at->second >= sites_shown) continue;
    sites[i] = at->second;
    if (!is_new) {
      ++f.sites[at->second].wait->alike;
      continue;
    }
    f.sites.push_back(g.ledger().context().reporter.site(w.origin, w.spins ? Does::spins : Does::waits));
    f.sites.back().wait = g.blocked(w);
  }
  return sites;
}

// The warps that could still provide it, of all that wait at a site in the same way.
void add_arrivers(Finding& f, const WaitGraph& g, const std::vector<std::optional<uint32_t>>& sites) {
  using Key = std::tuple<uint32_t, CtaRank, WarpOfCta, std::optional<uint32_t>>;  // site, CTA, warp, its site
  std::map<Key, uint32_t> lanes;
  for (uint32_t i = 0; i < sites.size(); ++i)
    for (const uint32_t k : sites[i] ? g.waiters()[i].arrivers : std::vector<uint32_t>{}) {
      const Origin& origin = g.waiters()[k].origin;
      lanes[{*sites[i], origin.cta_rank, origin.warp, sites[k]}] |= origin.lanes;
    }
  for (const auto& [key, mask] : lanes) {
    const auto& [at, rank, warp, site] = key;
    f.sites[at].wait->arrivers.push_back({g.cluster().ctas[rank].id, warp, mask, site});
  }
}

// --- the object -----------------------------------------------------------------------------------
Site signal_site(const WaitGraph& g, const Signal& s) {
  Site site = plain_site(g.run(), g.cluster(), s.origin);
  site.part = {
      .does = Does::signals, .arrivals = s.arrivals, .expected = s.expected, .delivered = s.delivered};
  site.occurrence = s.nth;
  return site;
}

void add_signals(Finding& f, const WaitGraph& g, const MbarrierPhase& p, Phrase phrase) {
  if (p.number < 0) return;
  Statement signals{.phrase = phrase, .values = {p.number, static_cast<int64_t>(p.signals.size())}};
  for (size_t i = 0; i < std::min(p.signals.size(), signals_shown); ++i)
    signals.values.emplace_back(signal_site(g, p.signals[i]));
  f.notes.push_back(std::move(signals));
}

// Warps that arrived before and have exited.
void add_exited(Finding& f, const WaitGraph& g, const Waiter& w) {
  if (w.object == nullptr) return;
  Statement gone{.phrase = Phrase::arrivers_exited, .values = {}};
  std::set<std::pair<uint32_t, uint32_t>> seen;  // warp, pc
  for (const auto& [key, arriver] : w.object->arrivers) {
    if (g.cluster().ctas[arriver.cta_rank].warps[arriver.warp].alive != 0) continue;
    const WarpOfCluster warp(key >> 32);
    const Origin* exit = g.ledger().lifetime().exit_of(warp);
    if (!seen.insert({warp, exit == nullptr ? isa::no_id : exit->pc}).second) continue;
    Site site = plain_site(g.run(), g.cluster(), exit == nullptr ? arriver : *exit);
    site.part.does = exit == nullptr ? Does::arrives : Does::exits;
    gone.values.emplace_back(std::move(site));
  }
  if (!gone.values.empty()) f.notes.push_back(std::move(gone));
}

// In global memory: a barrier of the grid counts on all of them.
void add_exited_clusters(Finding& f, const WaitGraph& g, const Waiter& w) {
  const auto& deadlock = std::get<Deadlock>(f.what);
  if (w.polled.shared || deadlock.more_clusters || deadlock.for_host) return;
  const LaunchState& launch = *g.run().launch;
  const uint64_t all = launch.grid.count() / launch.cluster.count();
  if (all > deadlock.clusters) f.notes.push_back(say<Phrase::clusters_exited>(all - deadlock.clusters, all));
}

void add_object(Finding& f, const WaitGraph& g, const Waiter& w) {
  f.object = g.object(w);
  if (w.wait.kind == Wait::Kind::mbarrier && w.object != nullptr) {
    const MbarrierObject& b = *w.object;
    f.notes.push_back(b.number == 0 ? say<Phrase::in_first_phase>(f.object, b.count)
                      : b.last.observers.empty()
                          ? say<Phrase::in_unobserved_phase>(f.object, b.count, b.number, b.number - 1)
                          : say<Phrase::in_phase>(f.object, b.count, b.number, b.number - 1));
    add_signals(f, g, b.current, Phrase::signals_in_phase);
    add_signals(f, g, b.last, Phrase::signals_in_last_phase);
  }
  if (w.spins)
    add_exited_clusters(f, g, w);
  else
    add_exited(f, g, w);
}

void add_culprits(Finding& f, const WaitGraph& g, const Reason& r) {
  std::set<uint32_t> pcs;
  for (const Origin& origin : r.culprits) {
    if (pcs.size() >= signals_shown || !pcs.insert(origin.pc).second) continue;
    const Does does = r.code == Code::exited_arriver ? Does::exits : Does::has_signalled;
    f.sites.push_back(g.ledger().context().reporter.site(origin, does));
  }
}

// cooperative_groups keeps the grid's barrier in the workspace of the launch.
bool is_grid_barrier(const RunView& run, const Polled& polled) {
  const auto& words = run.launch->environment;
  const uint64_t workspace = uint64_t{words[1]} << 32 | words[2];
  return workspace != 0 && !polled.shared && polled.address >= workspace &&
         polled.address < workspace + grid_workspace_bytes;
}

// The waiter spins at the barrier of a grid of which some CTAs have exited: those are the cause.
void call_missing_at_grid_sync(Finding& f, const WaitGraph& g, const Waiter& w,
                               std::span<const Ledger* const> resident, bool more_clusters) {
  constexpr size_t named = 8;
  const LaunchState& launch = *g.run().launch;
  const uint64_t all = launch.grid.count(), cluster = launch.cluster.count();
  if (!w.spins || more_clusters || !is_grid_barrier(g.run(), w.polled) || resident.size() * cluster >= all)
    return;
  std::set<uint32_t> present;
  for (const Ledger* l : resident) present.insert(l->context().cluster.index);
  complete(f, Code::exited_arriver);
  f.message = say<Phrase::grid_sync_without_exited>(g.actor(w), all - resident.size() * cluster, all);
  for (uint32_t c = 0; c < all / cluster && f.message.values.size() < 3 + named; ++c)
    for (uint32_t rank = 0; rank < cluster && !present.contains(c); ++rank) {
      const isa::Dim3 id = launch.cta_id(ClusterOfGrid(c), CtaRank(rank));
      f.message.values.emplace_back(say<Phrase::cta_of_grid>(id.x, id.y, id.z));
    }
  f.missing = say<Phrase::all_ctas_at_grid_sync>();
  f.help = say<Phrase::sync_before_return>();
}

Finding report(const WaitGraph& g, const Reason& r, std::span<const Ledger* const> resident,
               bool more_clusters) {
  Finding f;
  f.code = standstill;
  f.fatal = true;
  f.message = r.message;
  f.missing = r.missing;
  f.help = r.help;
  f.notes = r.notes;
  if (r.code != Code::none) complete(f, r.code);
  add_arrivers(f, g, add_waiters(f, g, r));
  uint64_t warps = 0;
  for (const CtaState& cta : g.cluster().ctas)
    warps += static_cast<uint64_t>(
        std::ranges::count_if(cta.warps, [](const WarpState& w) { return !w.finished(); }));
  Deadlock& d = f.what.emplace<Deadlock>();
  d.warps = warps;
  d.clusters = resident.size();
  d.more_clusters = more_clusters;
  for (const uint32_t i : r.cycle) d.cycle.push_back(g.step(i));
  if (r.waits_for_host) call_wait_for_host(f);
  add_culprits(f, g, r);
  if (r.root < g.waiters().size()) {
    add_object(f, g, g.waiters()[r.root]);
    call_missing_at_grid_sync(f, g, g.waiters()[r.root], resident, more_clusters);
  }
  return f;
}

}  // namespace

Finding explain_deadlock(const RunView& run, std::span<const Ledger* const> resident, bool more_clusters) {
  std::unique_ptr<WaitGraph> graph;
  Reason best;
  for (const Ledger* ledger : resident.first(std::min(resident.size(), clusters_examined))) {
    auto g = std::make_unique<WaitGraph>(run, *ledger);
    if (g->waiters().empty()) continue;
    Reason r = find_reason(*g, more_clusters);
    if (graph != nullptr && r.weight <= best.weight) continue;
    best = std::move(r);
    graph = std::move(g);
    if (best.weight >= Reason::Weight::orphan) break;
  }
  if (graph == nullptr) {
    Finding f;
    f.code = standstill;
    f.fatal = true;
    f.what.emplace<Deadlock>();
    return f;
  }
  return report(*graph, best, resident, more_clusters);
}

}  // namespace palladion::sim::check
