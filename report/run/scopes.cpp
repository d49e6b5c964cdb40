#include "report/run/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/core/profile.h"
#include "isa/host/files.h"

namespace palladion::report {

using namespace host;

namespace {

using Warpgroups = std::vector<plgpu::ProfiledWarpgroup>;

// Of the warpgroup that ran longest: %globaltimer ticks in steps of up to a microsecond.
double measured_mhz(const Warpgroups& all) {
  double best = 0, longest = 0;
  for (const auto& w : all) {
    const double ns = static_cast<double>(w.time_end - w.time_start);
    if (w.time_end > w.time_start && ns > longest) {
      best = static_cast<double>(w.clock_end - w.clock_start) * 1000 / ns;
      longest = ns;
    }
  }
  return best;
}

// An exit ends the last open entry of its scope.
std::vector<traces::Scope> pairs_in(const plgpu::ProfiledWarpgroup& w, const plgpu::Profile& profile,
                                    int64_t offset) {
  std::vector<traces::Scope> out;
  std::vector<plgpu::ProfiledWarpgroup::Event> open;
  for (const auto& e : w.events) {
    if (!e.exit) {
      open.push_back(e);
    } else if (!open.empty() && open.back().scope == e.scope) {
      const auto at = [&](uint64_t clock) {
        return static_cast<uint64_t>(static_cast<int64_t>(clock) + offset);
      };
      out.push_back({profile.scopes[e.scope], at(open.back().clock), at(e.clock)});
      open.pop_back();
    }
  }
  return out;
}

// The offset of an SM's clock from the first start of all, taken from the earliest warpgroup on that SM.
std::map<uint32_t, int64_t> offsets_of(const Warpgroups& all, double mhz) {
  uint64_t first = ~0ULL;
  std::map<uint32_t, const plgpu::ProfiledWarpgroup*> earliest;
  for (const auto& w : all) {
    first = std::min(first, w.time_start);
    auto& e = earliest[w.sm];
    if (e == nullptr || w.clock_start < e->clock_start) e = &w;
  }
  std::map<uint32_t, int64_t> out;
  for (const auto& [sm, w] : earliest)
    out[sm] = static_cast<int64_t>(static_cast<double>(w->time_start - first) * mhz / 1000) -
              static_cast<int64_t>(w->clock_start);
  return out;
}

}  // namespace

RunScopes scopes_of(const plgpu::Profile& profile, std::span<const std::byte> buffer, double mhz,
                    std::string what, std::string kernel) {
  const Warpgroups all = plgpu::read_profile(profile, buffer);
  RunScopes out;
  out.times.what = std::move(what);
  out.times.kernel = std::move(kernel);
  out.times.sm_clock_mhz = mhz > 0 ? mhz : measured_mhz(all);
  const auto offsets = offsets_of(all, out.times.sm_clock_mhz);
  out.start = ~0ULL;
  for (const auto& w : all) {
    out.start = std::min(out.start, w.clock_start);
    out.lost += w.lost;
    out.times.lanes.push_back({w.cta, w.warpgroup, w.sm, w.lost, pairs_in(w, profile, offsets.at(w.sm))});
  }
  return out;
}

Outcome<RunScopes> read_scopes(const std::string& file) {
  const auto text = read_text(file, most_of_records);
  if (!text) return user_error(text.error());
  auto times = traces::scopes_from(*text);
  if (!times) return user_error(fmt::format("{}: {}", file, times.error()));
  RunScopes out{.times = std::move(*times)};
  for (const auto& lane : out.times.lanes) out.lost += lane.lost;
  return out;
}

Outcome<void> write_scopes(const std::string& file, const RunScopes& scopes) {
  if (const auto written = write_text(file, traces::to_text(scopes.times)); !written)
    return not_written(written.error());
  return {};
}

}  // namespace palladion::report
