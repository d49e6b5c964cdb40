#pragma once
// The interface between the machine and its observers. An Observer receives a run, and for each cluster it
// subscribes objects to the events of event.h. It may not change the machine; without an observer no event is
// built.
//
// Accesses of memory that clusters share (GMEM) are checked at quantum boundaries, in `at_quantum_boundary`,
// on one thread and in a fixed order, so that findings do not depend on the thread count. An observer bounds
// what it keeps until then by `wants_pause`.
#include <array>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "sim/launch/event.h"

namespace palladion::sim {

struct ClusterState;
struct Finding;
struct LaunchState;
struct Program;
class GlobalMemory;

template <class S, class E>
concept SubscriberTo = requires(S& subscriber, const E& event) { subscriber.on(event); };

// The subscribers to one cluster's events. A subscriber is an object with a public `void on(const E&)` for
// each event E that it wants. An event goes to its subscribers in the order in which they were added, by one
// indirect call each.
class ClusterEvents {
 public:
  // `subscriber` must stay where it is for as long as the cluster runs.
  template <class S>
  void add(S& subscriber) {
    add_to_all(subscriber, static_cast<ClusterEventTypes*>(nullptr));
  }
  template <class E>
  bool wanted() const {  // whether somebody subscribes to E: without a subscriber no event is built
    return !calls_[number<E>].empty();
  }
  template <class E>
  void emit(const E& event) const {  // hands the event to its subscribers
    for (const Call& call : calls_[number<E>]) call.on(call.subscriber, &event);
  }
  bool empty() const {  // nobody subscribes to anything
    for (const std::vector<Call>& calls : calls_)
      if (!calls.empty()) return false;
    return true;
  }

 private:
  struct Call {
    void* subscriber;
    void (*on)(void* subscriber, const void* event);
  };

  // An event's place among ClusterEventTypes.
  template <class E, class... All>
  static constexpr size_t place(const EventList<All...>*) {
    size_t n = 0;
    const bool found = ((std::is_same_v<E, All> || (++n, false)) || ...);
    return found ? n : throw "not one of ClusterEventTypes";
  }
  template <class E>
  static constexpr size_t number = place<E>(static_cast<ClusterEventTypes*>(nullptr));

  template <class S, class... All>
  void add_to_all(S& subscriber, const EventList<All...>*) {
    static_assert((SubscriberTo<S, All> || ...), "no events");
    (add_to<All>(subscriber), ...);
  }
  template <class E, class S>
  void add_to(S& subscriber) {
    if constexpr (SubscriberTo<S, E>)
      calls_[number<E>].push_back({&subscriber, [](void* s, const void* event) {
                                     static_cast<S*>(s)->on(*static_cast<const E*>(event));
                                   }});
  }

  std::array<std::vector<Call>, ClusterEventTypes::count> calls_;
};

// What observers receive at the start of a run.
struct RunView {
  const Program* program = nullptr;      // decoded
  const LaunchState* launch = nullptr;   // with what the machine derived from it
  const GlobalMemory* memory = nullptr;  // as it is at the moment
};

class Observer {  // what a checker, a trace or a report derives from
 public:
  virtual ~Observer() = default;
  // Before the first event.
  virtual void start(const RunView&) {}
  // A cluster begins: adds its subscribers, which live until `retire`. Called on any host thread.
  virtual void observe(ClusterState& cluster, ClusterEvents& events) = 0;
  // True for instructions that should emit Reached, Executing and Executed, by pc. Subscribers also receive
  // the events of instructions that other observers watch.
  virtual bool watches(Pc /*pc*/) const { return false; }
  // Between quanta, before the strong GMEM accesses, and at pauses: clusters in ascending order, on one
  // thread.
  virtual void at_quantum_boundary(std::span<ClusterState* const> /*resident*/) {}
  // Asked between rounds of the cluster's warps, on any host thread, in schedules without a clock. If true,
  // the cluster pauses until `at_quantum_boundary` was called once more, and goes on as if it had not paused:
  // no strong GMEM access is performed meanwhile. The answer may depend on this cluster's events alone.
  virtual bool wants_pause(const ClusterState& /*cluster*/) const { return false; }
  // The cluster is done (or the grid was stopped): the observer keeps the results of its subscribers. Only
  // for clusters that have subscribers, on one thread.
  virtual void retire(ClusterState&) {}
  // What is left of clusters that were retired: any host thread destroys it.
  virtual std::vector<std::shared_ptr<void>> take_retired() { return {}; }
  // Nothing can proceed. True when the observer has explained it in `finding`.
  virtual bool deadlocked(std::span<const ClusterState* const> /*resident*/, bool /*more_clusters*/,
                          Finding& /*finding*/) {
    return false;
  }
  // The run is over; findings may be added.
  virtual void finish(std::vector<Finding>& /*findings*/) {}
};

}  // namespace palladion::sim
