#pragma once
// The synchronisation skeleton of a cluster: what its threads did to synchronisation objects, in program
// order, as one run showed it. Control flow and values are frozen: the skeleton has no branches that another
// schedule would take.
//
// A thread of the skeleton is a set of lanes that synchronise together, or an agent: the landing of one
// asynchronous signal. An operation may have prerequisites: positions that other threads must have reached.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/launch/finding.h"

namespace palladion::sim::check {

inline constexpr uint32_t no_thread = ~0U;

enum class SyncKind : uint8_t {
  nothing,        // only its prerequisites matter: lanes that meet, an issue, a group wait
  init,           // mbarrier: `count` arrivals a phase
  inval,          //
  arrive,         // mbarrier: `count` arrivals, `tx` bytes announced (or, negative, delivered)
  defer,          // mbarrier: `count` arrivals more are awaited in this phase (cp.async.mbarrier.arrive)
  wait,           // mbarrier: until the phase of `parity` has completed
  bar_arrive,     // CTA or cluster barrier: `count` threads of the `needed` that complete a generation
  bar_pass,       // until the generation that this thread last arrived in has completed
  registers_dec,  // `count` registers back to the CTA's pool
  registers_inc,  // `count` registers out of it, when it has them
};

// `thread` has executed at least `position` operations.
struct Prerequisite {
  uint32_t thread = 0;
  uint32_t position = 0;
  friend bool operator==(const Prerequisite&, const Prerequisite&) = default;
};

struct SyncOp {
  SyncKind kind = SyncKind::nothing;
  bool parity = false;
  bool drop = false;      // arrive_drop: `count` arrivals less in later phases
  bool deferred = false;  // an arrival that a `defer` announced: it is not one of the expected ones
  uint32_t object = 0;    // index in Skeleton::objects
  uint32_t count = 0;
  uint32_t needed = 0;
  int64_t tx = 0;      // bytes
  uint32_t place = 0;  // index in Skeleton::places
  std::vector<Prerequisite> after;
};

struct SyncObject {
  enum class Kind : uint8_t { mbarrier, cta_barrier, cluster_barrier, registers };
  Kind kind = Kind::mbarrier;
  CtaRank cta_rank;
  uint32_t address = 0;  // mbarrier: offset in the CTA's shared memory; cta_barrier: its number
  uint32_t initial = 0;  // registers: free at the start; mbarrier: count when it exists from the start
  Object object;         // for findings; not part of the structure
  friend bool operator==(const SyncObject& a, const SyncObject& b) {
    return a.kind == b.kind && a.cta_rank == b.cta_rank && a.address == b.address && a.initial == b.initial;
  }
};

struct SyncThread {
  CtaRank cta_rank;
  WarpOfCta warp;
  bool agent = false;  // one operation, whose first prerequisite is its issue
  // Of an arrival by tcgen05.commit: which thread's it is (1 + its index in the cluster), and its number
  // among those, from
  // 1. They land in this order. 0: another agent.
  uint32_t committer = 0, commit = 0;
  std::vector<SyncOp> ops;
};

struct Skeleton {
  std::vector<SyncObject> objects;
  std::vector<SyncThread> threads;  // agents last
  std::vector<Site> places;         // one an instruction and warp, without occurrence
  // Decisions of the recorded run that another schedule may take otherwise: "a test_wait that returned
  // false". Empty: nothing that was seen depends on time.
  std::vector<std::string> frozen;
  size_t answers = 0;      // of these, the last: answers to requests to cancel launches
  std::string incomplete;  // why the recorded run did not reach its end; empty: it did
  // Where threads of a warp have returned from a wait that they executed together: their positions, a group
  // after the other, and the ends of the groups. Not part of the structure.
  std::vector<Prerequisite> together;
  std::vector<uint32_t> together_ends;

  // The same if the lanes of a warp that return from one wait go on together, as a chip's do: PTX does not
  // promise it.
  Skeleton with_warps_together() const;
  // Adds the prerequisites that arrivals by a thread's tcgen05.commit have: those of its commit before.
  void order_commits();
  uint64_t operations() const;
  // Equal for clusters that synchronise alike, wherever they are in the grid.
  uint64_t structural_hash() const;
  bool same_structure(const Skeleton& other) const;
};

// Writes skeletons by hand, for tests and benches.
class SkeletonBuilder {
 public:
  explicit SkeletonBuilder(uint32_t threads) : commits_(threads) { skeleton_.threads.resize(threads); }
  // An object that exists from the start; `count` 0: an mbarrier that `init` must make.
  uint32_t mbarrier(uint32_t count);
  uint32_t barrier();
  uint32_t pool(uint32_t free);
  SyncOp& add(uint32_t thread, SyncOp op);
  void arrive(uint32_t thread, uint32_t object, uint32_t count = 1, int64_t tx = 0);
  void wait(uint32_t thread, uint32_t object, bool parity);
  void bar_sync(uint32_t thread, uint32_t object, uint32_t count, uint32_t needed);
  void bar_arrive(uint32_t thread, uint32_t object, uint32_t count, uint32_t needed);
  // An asynchronous operation that delivers `bytes` at an mbarrier, some time after this.
  void copy(uint32_t thread, uint32_t object, int64_t bytes);
  // cp.async.mbarrier.arrive: arrivals some time after this; without .noinc the phase awaits them besides.
  void deferred_arrive(uint32_t thread, uint32_t object, uint32_t count, bool noinc);
  // An arrival by tcgen05.commit some time after this, and after those of the thread's earlier ones.
  void commit(uint32_t thread, uint32_t object);
  // All threads have reached this point before one of them continues.
  void meet(const std::vector<uint32_t>& threads);
  Skeleton build() const;

 private:
  SyncThread& agent(uint32_t thread, SyncOp op);

  Skeleton skeleton_;
  std::vector<SyncThread> agents_;
  std::vector<uint32_t> commits_;  // by thread
};

}  // namespace palladion::sim::check
