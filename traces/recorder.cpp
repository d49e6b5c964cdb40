#include "traces/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <set>

#include "sim/launch/per_cluster.h"
#include "sim/machine/exec/exec.h"
#include "traces/cluster_recorder.h"

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

struct Recorder::State {
  // A CTA's place on its SM while it is resident.
  using Place = std::pair<const sim::ClusterState*, uint16_t>;

  State(Sink& s, RecorderOptions o) : sink(s), options(o) {}

  void write(ClusterRecorder& cluster);
  void write_tracks(ClusterTrace& trace);
  std::string place_of(ClusterTrace& trace, const ClusterTrace::Made& track) const;
  uint32_t slot_of(const sim::ClusterState& cluster, sim::CtaRank rank);
  void add_parent(const Track& track);

  Sink& sink;
  RecorderOptions options;
  sim::RunView run;
  sim::PerCluster<ClusterRecorder> alive;
  std::mutex writing;
  std::atomic<bool> full = false;
  std::optional<uint64_t> ended_at;
  std::map<uint32_t, std::vector<Place>> slots;  // by SM
  std::set<uint64_t> written;                    // tracks
  std::atomic<uint64_t> clusters = 0;
  uint64_t events = 0;
};

Recorder::Recorder(Sink& sink, RecorderOptions options) : state_(std::make_unique<State>(sink, options)) {}
Recorder::~Recorder() = default;

uint64_t Recorder::events() const { return state_->events; }
bool Recorder::full() const { return state_->full; }
uint64_t Recorder::clusters() const { return state_->clusters; }
std::optional<uint64_t> Recorder::ended_at() const { return state_->ended_at; }

void Recorder::start(const sim::RunView& run) { state_->run = run; }

void Recorder::observe(sim::ClusterState& cluster, sim::ClusterEvents& events) {
  State& s = *state_;
  if (s.full || !s.options.ctas.holds(cluster, s.run.launch->grid)) return;
  ++s.clusters;
  events.add(s.alive.add(
      cluster, std::make_unique<ClusterRecorder>(s.run, cluster, s.options.unit, s.options.window, s.full,
                                                 [&s](ClusterRecorder& c) { s.write(c); })));
}

void Recorder::at_quantum_boundary(std::span<sim::ClusterState* const> resident) {
  std::vector<ClusterRecorder*> recorded;
  size_t events = 0;
  for (const sim::ClusterState* cluster : resident) {
    ClusterRecorder* c = state_->alive.find(*cluster);
    if (c == nullptr) continue;
    recorded.push_back(c);
    events += c->trace().events().size();
  }
  if (events >= std::max(worth_writing, of_each * recorded.size()))
    for (ClusterRecorder* c : recorded) state_->write(*c);
}

void Recorder::retire(sim::ClusterState& cluster) {
  const std::unique_ptr<ClusterRecorder> c = state_->alive.take(cluster);
  if (c == nullptr) return;
  c->close();
  state_->write(*c);
  for (auto& [sm, places] : state_->slots)
    for (State::Place& p : places)
      if (p.first == &cluster) p = {};
}

Track Recorder::process() {
  Track track = simulator_track(state_->options.unit);
  state_->add_parent(track);
  return track;
}

// The lowest place on the SM that no resident CTA has.
uint32_t Recorder::State::slot_of(const sim::ClusterState& cluster, sim::CtaRank rank) {
  std::vector<Place>& places = slots[cluster.ctas[rank].sm];
  const Place mine{&cluster, rank};
  auto at = std::ranges::find(places, mine);
  if (at == places.end()) at = std::ranges::find(places, Place{});
  if (at == places.end()) at = places.insert(at, Place{});
  *at = mine;
  return static_cast<uint32_t>(at - places.begin());
}

void Recorder::State::add_parent(const Track& track) {
  if (!written.insert(track.id).second) return;
  if (!sink.add(track)) full = true;
}

// "sim/0/1/warpgroup 2/warp 9": the SM, the CTA's place on it, and on.
std::string Recorder::State::place_of(ClusterTrace& trace, const ClusterTrace::Made& track) const {
  if (track.parent == ClusterTrace::no_track) {
    const sim::ClusterState& c = trace.cluster();
    const std::vector<Place>& places = slots.at(c.ctas[track.cta_rank].sm);
    const auto slot = std::ranges::find(places, Place{&c, track.cta_rank}) - places.begin();
    return fmt::format("sim/{}/{}", c.ctas[track.cta_rank].sm, slot);
  }
  return place_of(trace, trace.tracks()[track.parent]) + "/" + track.key;
}

void Recorder::State::write_tracks(ClusterTrace& trace) {
  for (ClusterTrace::Made& t : trace.tracks()) {
    if (t.id != 0) continue;
    Track track{.kind = t.kind, .order = t.order, .name = t.name};
    if (t.parent == ClusterTrace::no_track) {
      const uint32_t sm = trace.cluster().ctas[t.cta_rank].sm;
      track.order = static_cast<int>(slot_of(trace.cluster(), t.cta_rank));
      track.name = fmt::format("CTA slot {}", track.order);
      add_parent(simulator_track(options.unit));
      add_parent(sm_track(sm));
      track.parent = sm_track(sm).id;
    } else {
      track.parent = trace.tracks()[t.parent].id;
    }
    track.id = t.id = track_id(place_of(trace, t));
    add_parent(track);
  }
}

void Recorder::State::write(ClusterRecorder& cluster) {
  const std::lock_guard lock(writing);
  ClusterTrace& trace = cluster.trace();
  cluster.name_roles();
  if (!full) write_tracks(trace);
  for (ClusterTrace::Kept& kept : trace.events()) {
    kept.event.track = trace.tracks()[kept.track].id;
    if (!full && sink.add(kept.event)) {
      ++events;
      continue;
    }
    full = true;
    ended_at = std::min(ended_at.value_or(~0ULL), kept.event.to);
  }
  trace.events().clear();
}

}  // namespace palladion::traces
