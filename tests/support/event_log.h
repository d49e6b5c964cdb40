#pragma once
// Everything that observers are told of a run but values: who executed what, where memory was touched, each
// step of barriers and of asynchronous operations, in order.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sim/launch/event.h"
#include "sim/program/program.h"
#include "sim/machine/state/cluster.h"

namespace palladion::sim::testing {

using Event = std::vector<uint64_t>;

struct EventLog {
  std::vector<Event> events;           // of a cluster
  std::map<uint32_t, uint64_t> count;  // by pc: how often a warp came to the instruction
  friend bool operator==(const EventLog&, const EventLog&) = default;
};

class ClusterRecorder final : public ClusterObserver {
 public:
  ClusterRecorder(EventLog& log, const Program& program) : log_(log), program_(program) {}

  void reached(const Origin& o) override { ++log_.count[o.pc]; }
  void executes(const Origin& o) override {
    if (program_.code[o.pc].guard < 0) ++log_.count[o.pc];
  }
  void accessed(const Origin& o, const Access& a) override {
    Event e = begin(0, o);
    e.insert(e.end(), {uint64_t(a.kind), uint64_t(a.space), a.size, a.lanes});
    for (uint32_t i = 0; i < 32; ++i)
      if ((a.lanes >> i & 1) != 0) e.push_back(a.addresses[i]);
    log_.events.push_back(e);
  }
  void fenced(const Origin& o) override { log_.events.push_back(begin(1, o)); }
  void warp_synced(const Origin& o) override { log_.events.push_back(begin(2, o)); }
  void mbarrier(const Origin& o, const MbarrierEvent& m) override {
    add(begin(3, o), {uint64_t(m.action), m.address, m.lanes, m.count, uint64_t(m.tx), m.before, m.after,
                      m.completed, m.parity, m.succeeded, m.async_id});
  }
  void cta_barrier(const Origin& o, const CtaBarrierEvent& b) override {
    add(begin(4, o), {uint64_t(b.step), b.id, b.threads, b.generation, b.completed});
  }
  void cluster_barrier(const Origin& o, const ClusterBarrierEvent& b) override {
    add(begin(5, o), {uint64_t(b.step), b.generation, b.completed});
  }
  void issued(const Origin& o, const AsyncIssue& a) override {
    Event e = begin(6, o);
    e.insert(e.end(), {a.id, uint64_t(a.group), a.reduces, a.layout, a.tensor_map});
    for (const auto* pieces : {&a.reads, &a.writes, &a.fills})
      for (const Piece& p : *pieces) e.insert(e.end(), {p.shared, p.address, p.bytes});
    e.insert(e.end(), a.mbarriers.begin(), a.mbarriers.end());
    e.insert(e.end(), a.mbarrier_bytes.begin(), a.mbarrier_bytes.end());
    log_.events.push_back(e);
  }
  void joined(const Origin& o, uint64_t id) override { add(begin(7, o), {id}); }
  void async_read(uint64_t id) override { log_.events.push_back({8, id}); }
  void async_landed(uint64_t id) override { log_.events.push_back({9, id}); }
  void committed(const Origin& o, GroupKind k) override { add(begin(10, o), {uint64_t(k)}); }
  void waited(const Origin& o, GroupKind k, uint64_t allowed, bool read) override {
    add(begin(11, o), {uint64_t(k), allowed, read});
  }
  void arrival_deferred(const Origin& o, uint64_t id, std::span<const uint64_t> awaited) override {
    add(begin(12, o), {id, awaited.size()});
  }
  void registers_set(const Origin& o, uint32_t before, uint32_t after) override {
    add(begin(13, o), {before, after});
  }
  void exited(const Origin& o) override { log_.events.push_back(begin(14, o)); }

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
  bool watches(uint32_t) const override { return true; }
  std::unique_ptr<ClusterObserver> observe(ClusterState& cluster) override {
    const std::lock_guard lock(mutex_);
    return std::make_unique<ClusterRecorder>(logs_[cluster.index], *program_);
  }
  const std::map<uint32_t, EventLog>& logs() const { return logs_; }  // by cluster

 private:
  std::mutex mutex_;
  const Program* program_ = nullptr;
  std::map<uint32_t, EventLog> logs_;
};

}  // namespace palladion::sim::testing
