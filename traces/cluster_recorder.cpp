#include "traces/cluster_recorder.h"

#include <fmt/format.h>

#include <utility>

#include "report/text/words.h"
#include "sim/machine/exec/exec.h"

namespace palladion::traces {
namespace {

// Events of one cluster that may accumulate before they are written, about 100 bytes each.
constexpr size_t large = 1 << 19;

}  // namespace

ClusterRecorder::ClusterRecorder(const sim::RunView& run, sim::ClusterState& cluster, TimeUnit unit,
                                 Window window, const std::atomic<bool>& stop,
                                 std::function<void(ClusterRecorder&)> when_large)
    : trace_(run, cluster, unit, window),
      reporter_(run, cluster),
      warps_(trace_),
      stages_(trace_),
      operations_(trace_, warps_, stages_),
      mbarriers_(trace_, warps_, operations_),
      stop_(stop),
      when_large_(std::move(when_large)) {}

void ClusterRecorder::on(const sim::ClusterBegan&) {
  began_ = trace_.now();
  // Tracks in the order in which they are read.
  const auto ctas = sim::CtaRank(trace_.cluster().ctas.size());
  for (sim::CtaRank rank; rank < ctas; ++rank)
    for (uint32_t w = 0; w + 3 < warps_.warps_per_cta(); w += 4) warps_.role(rank, w / 4);
}

void ClusterRecorder::check_size() {
  if (trace_.events().size() >= large) when_large_(*this);
}

void ClusterRecorder::on(const sim::Access& access) {
  if (!stopped()) stages_.accessed(access, "threads");
}

void ClusterRecorder::on(const sim::MbarrierEvent& e) {
  if (stopped()) return;
  mbarriers_.happened(e);
  check_size();
}

void ClusterRecorder::on(const sim::CtaBarrierEvent& e) {
  const sim::Origin& origin = e.origin;
  if (stopped()) return;
  if (e.step == sim::CtaBarrierEvent::Step::arrive)
    return warps_.waits(origin, trace_.keep(fmt::format("{}", e.id)));
  warps_.waited_for(origin, trace_.keep(fmt::format("{}", e.id)));
  warps_.goes_on(origin, sim::Stall::barrier);
}

void ClusterRecorder::on(const sim::ClusterBarrierEvent& e) {
  if (stopped()) return;
  if (e.step == sim::ClusterBarrierEvent::Step::arrive) return warps_.waits(e.origin, {});
  warps_.goes_on(e.origin, sim::Stall::cluster_barrier);
}

void ClusterRecorder::on(const sim::AsyncIssue& e) {
  if (stopped()) return;
  reporter_.on(e);
  operations_.on(e);
  check_size();
}

void ClusterRecorder::on(const sim::AsyncJoined& event) {
  if (stopped()) return;
  reporter_.on(event);
  operations_.on(event);
}

void ClusterRecorder::on(const sim::AsyncRead& event) {
  if (!stopped()) operations_.read(event.id);
}

void ClusterRecorder::on(const sim::AsyncLanded& event) {
  if (!stopped()) operations_.on(event);
}

void ClusterRecorder::on(const sim::GroupCommitted& event) {
  if (!stopped()) operations_.on(event);
}

void ClusterRecorder::on(const sim::GroupWaited& event) {
  if (!stopped()) operations_.on(event);
}

void ClusterRecorder::on(const sim::Exited& event) {
  if (!stopped()) warps_.exited(event.origin);
}

void ClusterRecorder::on(const sim::Stalled& event) {
  if (stopped()) return;
  warps_.stalled(event);
  check_size();
}

void ClusterRecorder::on(const sim::UnitWorked& event) {
  if (!stopped()) operations_.on(event);
}

void ClusterRecorder::close() {
  if (std::exchange(closed_, true)) return;
  operations_.flush();
  mbarriers_.flush();
  stages_.flush();
  warps_.flush([&](sim::SharedAddress address) { return mbarriers_.at(address); });
  const auto ctas = sim::CtaRank(trace_.cluster().ctas.size());
  for (sim::CtaRank rank; rank < ctas; ++rank) {
    const isa::Dim3& id = trace_.cluster().ctas[rank].id;
    trace_.add(trace_.cta(rank), {.from = began_,
                                  .to = trace_.now(),
                                  .category = Category::life,
                                  .name = trace_.keep(fmt::format("CTA ({},{},{})", id.x, id.y, id.z))});
  }
}

void ClusterRecorder::name_roles() {
  for (ClusterTrace::Made& track : trace_.tracks()) {
    if (track.kind != TrackKind::role || track.id != 0) continue;
    std::string best;
    for (int w = 0; w < 4; ++w) {
      std::string role =
          report::text_of(reporter_.role(sim::CtaRank(track.cta_rank), sim::WarpOfCta(track.order * 4 + w)));
      if (role.size() > best.size()) best = std::move(role);
    }
    if (!best.starts_with("warpgroup")) best = best.empty() ? track.key : track.key + ", " + best;
    track.name = best;
  }
}

}  // namespace palladion::traces
