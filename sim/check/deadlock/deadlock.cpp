#include "sim/check/deadlock/deadlock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "sim/check/catalogue/catalogue.h"
#include "sim/check/deadlock/deadlock_reasons.h"
#include "sim/schedule/polled.h"

namespace palladion::sim::check {
namespace {

constexpr const char* standstill = "PLD3080";  // no known reason

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
  std::map<std::pair<uint32_t, std::string>, uint32_t> kinds;
  std::vector<std::optional<uint32_t>> sites(g.waiters().size());
  for (const uint32_t i : order) {
    const Waiter& w = g.waiters()[i];
    const std::string text = g.awaited(w);
    const auto [at, is_new] = kinds.try_emplace({w.origin.pc, text}, kinds.size());
    if (at->second >= sites_shown) continue;
    sites[i] = at->second;
    if (!is_new) {
      ++f.waits[at->second].alike;
      continue;
    }
    f.sites.push_back(g.ledger().context().reporter.site(w.origin, w.spins ? "spins" : "waits"));
    f.notes.push_back(text);
    f.waits.push_back(g.blocked(w));
  }
  for (size_t i = 0; i < f.waits.size(); ++i)
    if (f.waits[i].alike > 1)
      f.notes[i] += fmt::format(" ({} groups of lanes like this one)", f.waits[i].alike);
  return sites;
}

// The warps that could still provide it, of all that wait at a site in the same way.
void add_arrivers(Finding& f, const WaitGraph& g, const std::vector<std::optional<uint32_t>>& sites) {
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, std::optional<uint32_t>>;  // site, CTA, warp, its site
  std::map<Key, uint32_t> lanes;
  for (uint32_t i = 0; i < sites.size(); ++i)
    for (const uint32_t k : sites[i] ? g.waiters()[i].arrivers : std::vector<uint32_t>{}) {
      const Origin& origin = g.waiters()[k].origin;
      lanes[{*sites[i], origin.cta_rank, origin.warp, sites[k]}] |= origin.lanes;
    }
  for (const auto& [key, mask] : lanes) {
    const auto& [at, rank, warp, site] = key;
    f.waits[at].arrivers.push_back({g.cluster().ctas[rank].id, warp, mask, site});
  }
}

// --- the object -----------------------------------------------------------------------------------
std::string signal_text(const WaitGraph& g, const Signal& s) {
  const Site site = plain_site(g.run(), g.cluster(), s.origin);
  std::string out = fmt::format("warp {}", s.origin.warp);
  if (g.cluster().ctas.size() > 1)
    out += fmt::format(" of CTA ({},{},{})", site.cta.x, site.cta.y, site.cta.z);
  if (s.arrivals != 0) out += fmt::format(" {} time{}", s.arrivals, s.arrivals == 1 ? "" : "s");
  if (s.expected != 0) out += fmt::format(" expecting {} bytes", s.expected);
  if (s.delivered != 0) out += fmt::format(" delivering {} bytes", s.delivered);
  if (site.source.known()) out += fmt::format(" at {}:{}", site.source.file, site.source.line);
  if (site.ptx_line != 0) out += fmt::format(" (PTX line {})", site.ptx_line);
  if (s.nth != 0) out += fmt::format(", execution {}", s.nth);
  return out;
}

void add_signals(Finding& f, const WaitGraph& g, const MbarrierPhase& p, const char* when) {
  if (p.number < 0) return;
  std::string text;
  size_t n = 0;
  for (const Signal& s : p.signals)
    if (n++ < signals_shown) text += (text.empty() ? "" : "; ") + signal_text(g, s);
  if (n > signals_shown) text += fmt::format("; and {} more", n - signals_shown);
  f.notes.push_back(fmt::format("signals in {} phase {}: {}", when, p.number, text.empty() ? "none" : text));
}

// Warps that can still arrive; warps that arrived before and have exited.
void add_candidates(Finding& f, const WaitGraph& g, const Waiter& w) {
  std::map<std::string, std::string> warps;  // by what they wait for
  for (const uint32_t i : w.arrivers) {
    const Waiter& v = g.waiters()[i];
    std::string& names = warps[v.spins ? "spinning on memory" : "waiting for " + g.object(v)];
    names += (names.empty() ? "" : ", ") + g.name(v);
  }
  std::string text;
  for (const auto& [what, names] : warps)
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", names, what);
  f.notes.push_back("could still arrive: " +
                    (text.empty() ? "no thread: the code of the other warps has no arrival left" : text));
  if (w.object == nullptr) return;
  std::set<std::string> gone;
  for (const auto& [key, arriver] : w.object->arrivers) {
    if (g.cluster().ctas[arriver.cta_rank].warps[arriver.warp].alive != 0) continue;
    const auto warp = static_cast<uint32_t>(key >> 32);
    const Origin* exit = g.ledger().lifetime().exit_of(warp);
    const uint32_t line = exit == nullptr ? 0 : exit->instruction->origin.ptx_line;
    gone.insert(fmt::format("warp {}{}", arriver.warp, line == 0 ? "" : fmt::format(" (PTX line {})", line)));
  }
  if (!gone.empty())
    f.notes.push_back(fmt::format("arrived before and have exited: {}", fmt::join(gone, "; ")));
}

void add_object(Finding& f, const WaitGraph& g, const Waiter& w) {
  f.object = g.object(w);
  if (w.wait.kind == Wait::Kind::mbarrier && w.object != nullptr) {
    const MbarrierObject& b = *w.object;
    f.notes.push_back(fmt::format("{} was initialised with count {}; phase {} is current, phase {} was {}",
                                  f.object, b.count, b.number, b.number - 1,
                                  b.number == 0              ? "before the first one: parity 1 passes at once"
                                  : b.last.observers.empty() ? "complete, and no wait has observed it"
                                                             : "complete and observed"));
    add_signals(f, g, b.current, "the current");
    add_signals(f, g, b.last, "the last");
  }
  if (!w.spins) add_candidates(f, g, w);
}

void add_cycle(Finding& f, const WaitGraph& g, const Reason& r) {
  if (r.cycle.empty()) return;
  std::string text;
  for (const uint32_t i : r.cycle)
    text += fmt::format("{} -> {} -> ", g.name(g.waiters()[i]), g.object(g.waiters()[i]));
  f.notes.push_back("cycle: " + text + g.name(g.waiters()[r.cycle.front()]));
}

void add_culprits(Finding& f, const WaitGraph& g, const Reason& r) {
  std::set<uint32_t> pcs;
  for (const Origin& origin : r.culprits) {
    if (pcs.size() >= signals_shown || !pcs.insert(origin.pc).second) continue;
    f.sites.push_back(g.ledger().context().reporter.site(origin, "has signalled"));
    f.notes.emplace_back("nothing: it has signalled");
  }
}

Finding report(const WaitGraph& g, const Reason& r, size_t resident, bool more_clusters) {
  Finding f;
  f.code = standstill;
  f.fatal = true;
  f.missing = r.missing;
  f.rule = r.rule;
  f.help = r.help;
  if (r.code != Code::none) complete(f, r.code);
  add_arrivers(f, g, add_waiters(f, g, r));
  uint64_t warps = 0;
  for (const CtaState& cta : g.cluster().ctas)
    warps += static_cast<uint64_t>(
        std::ranges::count_if(cta.warps, [](const WarpState& w) { return !w.finished(); }));
  f.message =
      fmt::format("deadlock: {}", r.message.empty() ? fmt::format("no warp can continue; {} warp{}", warps,
                                                                  warps == 1 ? " waits" : "s wait")
                                                    : r.message);
  if (r.waits_for_host) call_wait_for_host(f, warps);
  add_culprits(f, g, r);
  if (r.root < g.waiters().size()) add_object(f, g, g.waiters()[r.root]);
  add_cycle(f, g, r);
  if (resident > 1)
    f.notes.push_back(
        fmt::format("{} clusters are blocked; this is the first one with a known cause", resident));
  if (more_clusters) f.notes.emplace_back("CTAs that are not yet resident wait for room on the SMs");
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
    f.message = "deadlock: no warp can continue";
    return f;
  }
  return report(*graph, best, resident.size(), more_clusters);
}

}  // namespace palladion::sim::check
