#pragma once
// All events of a run but values: which thread executed what, where memory was accessed, each
// step of barriers and of asynchronous operations, in order.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"
#include "sim/machine/state/cluster.h"
#include "sim/program/program.h"

namespace palladion::sim::testing {

using Event = std::vector<uint64_t>;

struct EventLog {
  std::vector<Event> events;           // of a cluster
  std::map<uint32_t, uint64_t> count;  // by pc: how often a warp came to the instruction
  friend bool operator==(const EventLog&, const EventLog&) = default;
};

class ClusterRecorder {
 public:
  ClusterRecorder(EventLog& log, const Program& program) : log_(log), program_(program) {}

  void on(const Reached& event) { ++log_.count[event.origin.pc]; }
  void on(const Executing& event) {
    if (program_.code[event.origin.pc].guard < 0) ++log_.count[event.origin.pc];
  }
  void on(const Access& a) {
    Event e = begin(0, a.origin);
    e.insert(e.end(), {uint64_t(a.kind), uint64_t(a.space), a.size, a.lanes});
    for (uint32_t i = 0; i < 32; ++i)
      if ((a.lanes >> i & 1) != 0) e.push_back(a.addresses[i]);
    log_.events.push_back(e);
  }
  void on(const Fenced& event) { log_.events.push_back(begin(1, event.origin)); }
  void on(const WarpSynced& event) { log_.events.push_back(begin(2, event.origin)); }
  void on(const MbarrierEvent& m) {
    add(begin(3, m.origin), {uint64_t(m.action), m.address, m.lanes, m.count, uint64_t(m.tx), m.before,
                             m.after, uint64_t(m.phase), m.completed, m.parity, m.succeeded, m.async_id});
  }
  void on(const CtaBarrierEvent& b) {
    add(begin(4, b.origin), {uint64_t(b.step), b.id, b.threads, b.generation, b.completed});
  }
  void on(const ClusterBarrierEvent& b) {
    add(begin(5, b.origin), {uint64_t(b.step), b.generation, b.completed});
  }
  void on(const AsyncIssue& a) {
    Event e = begin(6, a.origin);
    e.insert(e.end(), {a.id, uint64_t(a.group), a.reduces, a.layout, a.tensor_map});
    for (const auto* pieces : {&a.reads, &a.writes, &a.fills})
      for (const Piece& p : *pieces) e.insert(e.end(), {p.shared(), p.address, p.bytes});
    e.insert(e.end(), a.mbarriers.begin(), a.mbarriers.end());
    e.insert(e.end(), a.mbarrier_bytes.begin(), a.mbarrier_bytes.end());
    log_.events.push_back(e);
  }
  void on(const AsyncJoined& event) { add(begin(7, event.origin), {event.id}); }
  void on(const AsyncRead& event) { log_.events.push_back({8, event.id}); }
  void on(const AsyncLanded& event) { log_.events.push_back({9, event.id}); }
  void on(const GroupCommitted& event) { add(begin(10, event.origin), {uint64_t(event.group)}); }
  void on(const GroupWaited& event) {
    add(begin(11, event.origin), {uint64_t(event.group), event.allowed, event.read_only});
  }
  void on(const ArrivalDeferred& event) { add(begin(12, event.origin), {event.id, event.awaited.size()}); }
  void on(const RegistersSet& event) { add(begin(13, event.origin), {event.before, event.after}); }
  void on(const Exited& event) { log_.events.push_back(begin(14, event.origin)); }

 private:
  static Event begin(uint64_t kind, const Origin& o) { return {kind, o.cta_rank, o.warp, o.lanes, o.pc}; }
  void add(Event e, std::initializer_list<uint64_t> words) {
    e.insert(e.end(), words);
    log_.events.push_back(std::move(e));
  }

  EventLog& log_;
  const Program& program_;
};

class EventRecorder final : public Observer {
 public:
  void start(const RunView& view) override { program_ = view.program; }
  bool watches(sim::Pc) const override { return true; }
  void observe(ClusterState& cluster, ClusterEvents& events) override {
    events.add(clusters_.add(cluster, std::make_unique<ClusterRecorder>(log_of(cluster), *program_)));
  }
  void retire(ClusterState& cluster) override { clusters_.take(cluster); }
  const std::map<uint32_t, EventLog>& logs() const { return logs_; }  // by cluster

 private:
  EventLog& log_of(const ClusterState& cluster) {
    const std::lock_guard lock(mutex_);
    return logs_[cluster.index];
  }

  PerCluster<ClusterRecorder> clusters_;
  std::mutex mutex_;
  const Program* program_ = nullptr;
  std::map<uint32_t, EventLog> logs_;
};

}  // namespace palladion::sim::testing
