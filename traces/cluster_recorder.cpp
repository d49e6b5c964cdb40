#include "traces/cluster_recorder.h"

#include <fmt/format.h>

#include <utility>

#include "sim/machine/exec/exec.h"

namespace palladion::traces {
namespace {

// Events of one cluster that may come together before they are written, about 100 bytes each.
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

void ClusterRecorder::began() {
  began_ = trace_.now();
  // Tracks in the order in which they are read.
  for (uint16_t rank = 0; rank < trace_.cluster().ctas.size(); ++rank)
    for (uint32_t w = 0; w + 3 < warps_.warps_per_cta(); w += 4) warps_.role(rank, w / 4);
}

void ClusterRecorder::check_size() {
  if (trace_.events().size() >= large) when_large_(*this);
}

void ClusterRecorder::accessed(const sim::Origin&, const sim::Access& access) {
  if (!stopped()) stages_.accessed(access, "threads");
}

void ClusterRecorder::mbarrier(const sim::Origin& who, const sim::MbarrierEvent& e) {
  if (stopped()) return;
  mbarriers_.happened(who, e);
  check_size();
}

void ClusterRecorder::cta_barrier(const sim::Origin& who, const sim::CtaBarrierEvent& e) {
  if (stopped()) return;
  if (e.step == sim::CtaBarrierEvent::Step::arrive)
    return warps_.waits(who, trace_.keep(fmt::format("{}", e.id)));
  warps_.waited_for(who, trace_.keep(fmt::format("{}", e.id)));
  warps_.goes_on(who, sim::Stall::barrier);
}

void ClusterRecorder::cluster_barrier(const sim::Origin& who, const sim::ClusterBarrierEvent& e) {
  if (stopped()) return;
  if (e.step == sim::ClusterBarrierEvent::Step::arrive) return warps_.waits(who, {});
  warps_.goes_on(who, sim::Stall::cluster_barrier);
}

void ClusterRecorder::issued(const sim::Origin& who, const sim::AsyncIssue& e) {
  if (stopped()) return;
  reporter_.issued(who, e);
  operations_.issued(who, e);
  check_size();
}

void ClusterRecorder::joined(const sim::Origin& who, uint64_t id) {
  if (stopped()) return;
  reporter_.joined(who, id);
  operations_.joined(who, id);
}

void ClusterRecorder::async_read(uint64_t id) {
  if (!stopped()) operations_.read(id);
}

void ClusterRecorder::async_landed(uint64_t id) {
  if (!stopped()) operations_.landed(id);
}

void ClusterRecorder::committed(const sim::Origin& who, sim::GroupKind kind) {
  if (!stopped()) operations_.committed(who, kind);
}

void ClusterRecorder::waited(const sim::Origin& who, sim::GroupKind kind, uint64_t allowed, bool read_only) {
  if (!stopped()) operations_.waited(who, kind, allowed, read_only);
}

void ClusterRecorder::exited(const sim::Origin& who) {
  if (!stopped()) warps_.exited(who);
}

void ClusterRecorder::stalled(const sim::Origin& who, sim::Stall why, uint64_t from) {
  if (stopped()) return;
  warps_.stalled(who, why, from);
  check_size();
}

void ClusterRecorder::worked(uint64_t id, sim::Resource unit, uint64_t from, uint64_t to) {
  if (!stopped()) operations_.worked(id, unit, from, to);
}

void ClusterRecorder::close() {
  if (std::exchange(closed_, true)) return;
  operations_.flush();
  mbarriers_.flush();
  stages_.flush();
  warps_.flush();
  for (uint16_t rank = 0; rank < trace_.cluster().ctas.size(); ++rank) {
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
      std::string role = reporter_.role(track.cta_rank, static_cast<uint16_t>(track.order * 4 + w));
      if (role.size() > best.size()) best = std::move(role);
    }
    if (!best.starts_with("warpgroup")) best = best.empty() ? track.key : track.key + ", " + best;
    track.name = best;
  }
}

}  // namespace palladion::traces
