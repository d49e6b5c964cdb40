#pragma once
// Records a run of the machine into a Sink. An observer: it changes nothing in the run. Events of a cluster
// stay in memory between two quantum boundaries at most, in a bounded number.
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"
#include "traces/choice.h"
#include "traces/cluster_recorder.h"

namespace palladion::traces {

struct RecorderOptions {
  CtaChoice ctas;
  Window window;
  TimeUnit unit = TimeUnit::sm_cycles;
};

class Recorder final : public sim::Observer {
 public:
  // `sink` must outlive the recorder, which does not finish it.
  Recorder(Sink& sink, RecorderOptions options) : sink_(sink), options_(options) {}

  void start(const sim::RunView& run) override;
  void observe(sim::ClusterState& cluster, sim::ClusterEvents& events) override;
  void at_quantum_boundary(std::span<sim::ClusterState* const> resident) override;
  void retire(sim::ClusterState& cluster) override;

  // The simulator's process; written at the first call.
  Track process();

  uint64_t events() const { return events_; }
  bool full() const { return full_; }
  uint64_t clusters() const { return clusters_; }
  // The first time that is missing because the sink was full.
  std::optional<uint64_t> ended_at() const { return ended_at_; }

 private:
  // A CTA's place on its SM while it is resident.
  using Place = std::pair<const sim::ClusterState*, uint16_t>;

  void write(ClusterRecorder& cluster);
  void write_tracks(ClusterTrace& trace);
  std::string place_of(ClusterTrace& trace, const ClusterTrace::Made& track) const;
  uint32_t slot_of(const sim::ClusterState& cluster, uint16_t rank);
  void add_parent(const Track& track);

  Sink& sink_;
  RecorderOptions options_;
  sim::RunView run_;
  sim::PerCluster<ClusterRecorder> clusters_alive_;
  std::mutex writing_;
  std::atomic<bool> full_ = false;
  std::optional<uint64_t> ended_at_;
  std::map<uint32_t, std::vector<Place>> slots_;  // by SM
  std::set<uint64_t> written_;                    // tracks
  std::atomic<uint64_t> clusters_ = 0;
  uint64_t events_ = 0;
};

// The simulator's own process track, the parent of all SMs.
Track simulator_track(TimeUnit unit);

}  // namespace palladion::traces
