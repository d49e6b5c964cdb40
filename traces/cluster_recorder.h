#pragma once
// Turns the events of one cluster into tracks, slices and arrows.
#include <atomic>
#include <functional>

#include "sim/check/core/context.h"
#include "traces/mbarriers.h"
#include "traces/operations.h"
#include "traces/stages.h"
#include "traces/warps.h"

namespace palladion::traces {

class ClusterRecorder final : public sim::ClusterObserver {
 public:
  // `when_large` is called when very much has come together between two edges.
  ClusterRecorder(const sim::RunView& run, sim::ClusterState& cluster, TimeUnit unit, Window window,
                  const std::atomic<bool>& stop, std::function<void(ClusterRecorder&)> when_large);

  void began() override;
  void accessed(const sim::Origin& who, const sim::Access& access) override;
  void mbarrier(const sim::Origin& who, const sim::MbarrierEvent& e) override;
  void cta_barrier(const sim::Origin& who, const sim::CtaBarrierEvent& e) override;
  void cluster_barrier(const sim::Origin& who, const sim::ClusterBarrierEvent& e) override;
  void issued(const sim::Origin& who, const sim::AsyncIssue& e) override;
  void joined(const sim::Origin& who, uint64_t id) override;
  void async_read(uint64_t id) override;
  void async_landed(uint64_t id) override;
  void committed(const sim::Origin& who, sim::GroupKind kind) override;
  void waited(const sim::Origin& who, sim::GroupKind kind, uint64_t allowed, bool read_only) override;
  void exited(const sim::Origin& who) override;
  void stalled(const sim::Origin& who, sim::Stall why, uint64_t from) override;
  void worked(uint64_t id, sim::Resource unit, uint64_t from, uint64_t to) override;
  void ended() override { close(); }

  // Writes what is open; the last call but for trace().
  void close();
  // Roles are named by what their warps have done up to now.
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
