#pragma once
// Records a run of the machine into a Sink. An observer: it changes nothing in the run. Events of a cluster
// stay in memory between two quantum boundaries at most, in a bounded number.
#include <memory>
#include <optional>

#include "sim/launch/observer.h"
#include "traces/choice.h"
#include "traces/model.h"

namespace palladion::traces {
// What a Recorder records.
struct RecorderOptions {
  CtaChoice ctas;                       // which CTAs
  Window window;                        // which cycles
  TimeUnit unit = TimeUnit::sm_cycles;  // of the sink's times
};

class Recorder final : public sim::Observer {  // writes a run's timeline into a sink
 public:
  // `sink` must outlive the recorder, which does not finish it.
  Recorder(Sink& sink, RecorderOptions options);
  ~Recorder() override;

  void start(const sim::RunView& run) override;  // before the first event
  // An observer's duty: collects a cluster's events.
  void observe(sim::ClusterState& cluster, sim::ClusterEvents& events) override;
  // Writes what was collected, in the order of clusters.
  void at_quantum_boundary(std::span<sim::ClusterState* const> resident) override;
  void retire(sim::ClusterState& cluster) override;  // a cluster has ended

  // The simulator's process; written at the first call.
  Track process();

  uint64_t events() const;    // written so far
  bool full() const;          // the sink takes no more
  uint64_t clusters() const;  // recorded so far
  // The first time that is missing because the sink was full.
  std::optional<uint64_t> ended_at() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The simulator's own process track, the parent of all SMs.
Track simulator_track(TimeUnit unit);

}  // namespace palladion::traces
