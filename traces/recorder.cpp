#include "traces/recorder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/machine/exec/exec.h"

namespace palladion::traces {
namespace {

// Events that all clusters, and each on average, have before they are written: by then the roles are known.
constexpr size_t worth_writing = 1 << 14, of_each = 512;

Track sm_track(uint32_t sm) {
  return {track_id(fmt::format("sim/{}", sm)), track_id("sim"), TrackKind::sm, static_cast<int>(sm),
          fmt::format("SM {}", sm)};
}

}  // namespace

Track simulator_track(TimeUnit unit) {
  return {track_id("sim"), 0, TrackKind::process, 1,
          fmt::format("simulator (1 ns = 1 {})",
                      unit == TimeUnit::sm_cycles ? "SM cycle" : "warp instruction: no clock")};
}

void Recorder::start(const sim::RunView& run) { run_ = run; }

void Recorder::observe(sim::ClusterState& cluster, sim::ClusterEvents& events) {
  if (full_ || !options_.ctas.holds(cluster, run_.launch->grid)) return;
  ++clusters_;
  events.add(clusters_alive_.add(
      cluster, std::make_unique<ClusterRecorder>(run_, cluster, options_.unit, options_.window, full_,
                                                 [this](ClusterRecorder& c) { write(c); })));
}

void Recorder::at_quantum_boundary(std::span<sim::ClusterState* const> resident) {
  std::vector<ClusterRecorder*> recorded;
  size_t events = 0;
  for (const sim::ClusterState* cluster : resident) {
    ClusterRecorder* c = clusters_alive_.find(*cluster);
    if (c == nullptr) continue;
    recorded.push_back(c);
    events += c->trace().events().size();
  }
  if (events >= std::max(worth_writing, of_each * recorded.size()))
    for (ClusterRecorder* c : recorded) write(*c);
}

void Recorder::retire(sim::ClusterState& cluster) {
  const std::unique_ptr<ClusterRecorder> c = clusters_alive_.take(cluster);
  if (c == nullptr) return;
  c->close();
  write(*c);
  for (auto& [sm, places] : slots_)
    for (Place& p : places)
      if (p.first == &cluster) p = {};
}

// The lowest place on the SM that no resident CTA has.
uint32_t Recorder::slot_of(const sim::ClusterState& cluster, uint16_t rank) {
  std::vector<Place>& places = slots_[cluster.ctas[rank].sm];
  const Place mine{&cluster, rank};
  auto at = std::ranges::find(places, mine);
  if (at == places.end()) at = std::ranges::find(places, Place{});
  if (at == places.end()) at = places.insert(at, Place{});
  *at = mine;
  return static_cast<uint32_t>(at - places.begin());
}

void Recorder::add_parent(const Track& track) {
  if (!written_.insert(track.id).second) return;
  if (!sink_.add(track)) full_ = true;
}

Track Recorder::process() {
  Track track = simulator_track(options_.unit);
  add_parent(track);
  return track;
}

// "sim/0/1/warpgroup 2/warp 9": the SM, the CTA's place on it, and on.
std::string Recorder::place_of(ClusterTrace& trace, const ClusterTrace::Made& track) const {
  if (track.parent == ClusterTrace::no_track) {
    const sim::ClusterState& c = trace.cluster();
    const std::vector<Place>& places = slots_.at(c.ctas[track.cta_rank].sm);
    const auto slot = std::ranges::find(places, Place{&c, track.cta_rank}) - places.begin();
    return fmt::format("sim/{}/{}", c.ctas[track.cta_rank].sm, slot);
  }
  return place_of(trace, trace.tracks()[track.parent]) + "/" + track.key;
}

void Recorder::write_tracks(ClusterTrace& trace) {
  for (ClusterTrace::Made& t : trace.tracks()) {
    if (t.id != 0) continue;
    Track track{.kind = t.kind, .order = t.order, .name = t.name};
    if (t.parent == ClusterTrace::no_track) {
      const uint32_t sm = trace.cluster().ctas[t.cta_rank].sm;
      track.order = static_cast<int>(slot_of(trace.cluster(), t.cta_rank));
      track.name = fmt::format("CTA slot {}", track.order);
      add_parent(simulator_track(options_.unit));
      add_parent(sm_track(sm));
      track.parent = sm_track(sm).id;
    } else {
      track.parent = trace.tracks()[t.parent].id;
    }
    track.id = t.id = track_id(place_of(trace, t));
    add_parent(track);
  }
}

void Recorder::write(ClusterRecorder& cluster) {
  const std::lock_guard lock(writing_);
  ClusterTrace& trace = cluster.trace();
  cluster.name_roles();
  if (!full_) write_tracks(trace);
  for (ClusterTrace::Kept& kept : trace.events()) {
    kept.event.track = trace.tracks()[kept.track].id;
    if (!full_ && sink_.add(kept.event)) {
      ++events_;
      continue;
    }
    full_ = true;
    ended_at_ = std::min(ended_at_.value_or(~0ULL), kept.event.to);
  }
  trace.events().clear();
}

}  // namespace palladion::traces
