#include "traces/cluster_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/program/program.h"

namespace palladion::traces {

ClusterTrace::ClusterTrace(const sim::RunView& run, const sim::ClusterState& cluster, TimeUnit unit,
                           Window window)
    : run_(run),
      cluster_(cluster),
      unit_(unit),
      window_(window),
      flow_base_(cluster.index + 1),
      lines_(run.program->code.size()) {}

uint64_t ClusterTrace::now() const { return clocked() ? cluster_.now : cluster_.instructions; }

ClusterTrace::LocalTrack ClusterTrace::cta(sim::CtaRank rank) {
  return track(rank, no_track, TrackKind::cta, rank, "CTA", "");
}

ClusterTrace::LocalTrack ClusterTrace::track(sim::CtaRank rank, LocalTrack parent, TrackKind kind, int order,
                                             const std::string& key, const std::string& name) {
  const auto [at, added] =
      known_.try_emplace(fmt::format("{}/{}/{}", rank, parent, key), static_cast<LocalTrack>(tracks_.size()));
  if (added) tracks_.push_back({rank, parent, kind, order, key, name});
  return at->second;
}

std::string_view ClusterTrace::keep(std::string_view text) { return *texts_.emplace(text).first; }

std::string_view ClusterTrace::line(sim::Pc pc) {
  std::string_view& known = lines_[pc];
  if (!known.empty()) return known;
  const isa::Instruction* instruction = run_.program->code[pc].instruction;
  if (instruction == nullptr) return known = keep("end of the kernel");
  const isa::SourceLoc* loc = run_.program->module->source(*instruction);
  if (loc == nullptr || !loc->known())
    return known = keep(fmt::format("PTX line {}", instruction->origin.ptx_line));
  return known = keep(fmt::format("{}:{}", loc->file.substr(loc->file.rfind('/') + 1), loc->line));
}

void ClusterTrace::add(LocalTrack track, Event event) {
  if (event.to < window_.first || event.from >= window_.last) return;
  event.from = std::max(event.from, window_.first);
  event.to = std::min(event.to, window_.last);
  events_.push_back({track, std::move(event)});
}

}  // namespace palladion::traces
