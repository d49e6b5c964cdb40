#pragma once
// Makes tracks, slices and arrows of the events of one cluster.
#include <atomic>
#include <functional>

#include "sim/check/core/context.h"
#include "traces/mbarriers.h"
#include "traces/operations.h"
#include "traces/stages.h"
#include "traces/warps.h"

namespace palladion::traces {

class ClusterRecorder {
 public:
  // `when_large` is called when very many events have accumulated between two quantum boundaries.
  ClusterRecorder(const sim::RunView& run, sim::ClusterState& cluster, TimeUnit unit, Window window,
                  const std::atomic<bool>& stop, std::function<void(ClusterRecorder&)> when_large);

  void on(const sim::ClusterBegan&);
  void on(const sim::Access& access);
  void on(const sim::MbarrierEvent& e);
  void on(const sim::CtaBarrierEvent& e);
  void on(const sim::ClusterBarrierEvent& e);
  void on(const sim::AsyncIssue& e);
  void on(const sim::AsyncJoined& event);
  void on(const sim::AsyncRead& event);
  void on(const sim::AsyncLanded& event);
  void on(const sim::GroupCommitted& event);
  void on(const sim::GroupWaited& event);
  void on(const sim::Exited& event);
  void on(const sim::Stalled& event);
  void on(const sim::UnitWorked& event);
  void on(const sim::ClusterEnded&) { close(); }

  // Writes what is open; the last call but for trace().
  void close();
  // A role's name states what its warps have done so far.
  void name_roles();
  ClusterTrace& trace() { return trace_; }

 private:
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  void check_size();

  ClusterTrace trace_;
  sim::check::Reporter reporter_;
  Warps warps_;
  Stages stages_;
  Operations operations_;
  Mbarriers mbarriers_;
  const std::atomic<bool>& stop_;
  std::function<void(ClusterRecorder&)> when_large_;
  uint64_t began_ = 0;
  bool closed_ = false;
};

}  // namespace palladion::traces
