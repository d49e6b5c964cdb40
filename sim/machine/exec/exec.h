#pragma once
// What a handler sees while one lane group executes one instruction.
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include "sim/launch/codes.h"
#include "sim/launch/launch.h"
#include "sim/machine/state/cluster.h"
#include "sim/machine/state/global_memory.h"
#include "sim/machine/state/textures.h"
#include "sim/program/program.h"

namespace palladion::sim {

// A launch, and what the machine adds to it. It stays as it is while the launch runs.
struct LaunchState : Launch {
  RunOptions options;
  const isa::ArchSpec* arch = nullptr;  // the chip that runs it
  const TextureTable* textures = nullptr;
  Address param_base;  // where cvta.param finds the parameters in GMEM
  Address heap;        // of device malloc, of `heap_bytes`; 0: not used
  bool explicit_cluster = false;
  double clock_mhz = 0;  // frequency of the SM clock that ClusterState::now counts; 0: no clock

  uint32_t warps_per_cta() const { return static_cast<uint32_t>((block.count() + 31) / 32); }
  // Linear ids and coordinates of the grid.
  isa::Dim3 cluster_id(uint32_t index) const {
    const isa::Dim3 n{grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
    return {index % n.x, index / n.x % n.y, index / n.x / n.y};
  }
  isa::Dim3 cta_id(uint32_t cluster_index, uint32_t rank) const {
    const isa::Dim3 c = cluster_id(cluster_index);
    return {c.x * cluster.x + rank % cluster.x, c.y * cluster.y + rank / cluster.x % cluster.y,
            c.z * cluster.z + rank / cluster.x / cluster.y};
  }
};

// splitmix64's output function: 64 random bits for each value.
inline constexpr uint64_t scramble_step = 0x9E3779B97F4A7C15ULL;
inline uint64_t scramble(uint64_t z) {
  z += scramble_step;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

// The clusters of the grid that have not started.
class UnstartedClusters {
 public:
  // Takes the next one away from the grid; its linear id. Between quanta only.
  virtual std::optional<uint32_t> take() = 0;

 protected:
  ~UnstartedClusters() = default;
};

// A cluster's state, and what it refers to while it executes.
struct ClusterRun {
  const Program& program;
  const LaunchState& launch;
  GlobalMemory& memory;
  ClusterState& cluster;
  const ClusterEvents* events = nullptr;  // null: nothing has subscribed
  bool at_boundary = false;               // accesses that are ordered over clusters are performed now
  UnstartedClusters* unstarted = nullptr;

  // True when something has subscribed to this event; otherwise it is not built.
  template <class E>
  bool wants() const {
    return events != nullptr && events->wanted<E>();
  }
  template <class E>
  void emit(const E& event) const {
    if (events != nullptr) events->emit(event);
  }

  // Whether plain stores to GMEM wait for the boundary.
  bool delays_stores() const { return cluster.stores.delays && !at_boundary; }
  void count_stores(uint64_t bytes) const {
    if (delays_stores()) cluster.stores.count(bytes);
  }
  // Stores to GMEM; `to` is where the address is found there.
  void store(Address address, uint8_t* to, const uint8_t* bytes, uint64_t size) const {
    if (delays_stores())
      cluster.stores.write(memory, address, to, bytes, size);
    else
      std::memcpy(to, bytes, size);
  }
  // GMEM as the cluster sees it, in `copy` where its own stores are among the bytes; null: out of bounds.
  const uint8_t* seen(Address address, uint64_t size, uint8_t* copy) const {
    return sim::seen(memory, cluster.stores, address, size, copy);
  }
};

struct Exec : ClusterRun {
  explicit Exec(const ClusterRun& run) : ClusterRun(run) {}

  CtaState* cta = nullptr;
  WarpState* warp = nullptr;
  uint32_t group = 0;   // index in warp->groups
  uint32_t active = 0;  // lanes executing this instruction, the guard applied
  Pc pc;
  uint8_t* registers = nullptr;
  bool land_at_issue = false;      // schedule `earliest`
  const uint8_t* watch = nullptr;  // by pc: instructions that the observer watches; null: none

  LaneGroup& self() const { return warp->groups[group]; }
  const MicroOp& op_at(uint32_t at) const { return program.code[at]; }

  template <class T>
  T* lanes(const Slot& s) const {
    return reinterpret_cast<T*>((s.constant ? const_cast<uint8_t*>(program.constants.data()) : registers) +
                                s.offset);
  }
  template <class T>
  T* lanes(const DecodedOperand& o) const {
    return lanes<T>(o.slot);
  }
  uint32_t& predicate(const DecodedOperand& o) const { return *lanes<uint32_t>(o.slot); }
  // A predicate source with its negation applied.
  uint32_t predicate_value(const DecodedOperand& o) const { return o.negated ? ~predicate(o) : predicate(o); }
  // Lane i of an integer operand of any width, zero-extended.
  uint64_t lane_value(const DecodedOperand& o, int i) const;
  // The same for the first active lane: for operands that must be uniform.
  uint64_t uniform_value(const DecodedOperand& o) const { return lane_value(o, std::countr_zero(active)); }
  // False after a fault: the active lanes give the operand different values. `what`: "the address of
  // tcgen05.ld".
  bool same_in_lanes(const DecodedOperand& o, const char* what);
  // [base + offset] for every active lane.
  void addresses(const DecodedOperand& o, uint64_t out[32]) const;
  uint64_t address_of_lane(const DecodedOperand& o, int i) const;

  // --- memory: each returns nullptr after it has recorded a fault ---
  // A byte range of shared memory of any CTA of the cluster; the rank is in the address.
  // `no_cta`: the fault of a CTA rank beyond the cluster.
  uint8_t* shared(uint64_t address, uint64_t size, const char* what, Code no_cta = Code::no_such_cta);
  uint8_t* global(Address address, uint64_t size, const char* what);
  // Any space; the window of a generic address gives its space. `lane` chooses the local memory.
  // An access of .shared::cta to an address of another CTA is a fault; true: there is none.
  bool own(isa::Space stated, uint64_t address, const char* what);
  uint8_t* resolve(isa::Space space, uint64_t address, uint64_t size, int lane, const char* what);
  // The same to read, as the cluster sees the bytes: in `copy` where its own stores to GMEM are among them.
  const uint8_t* read(isa::Space space, uint64_t address, uint64_t size, int lane, const char* what,
                      uint8_t* copy);
  // Writes to any space; false after a fault.
  bool write(isa::Space space, uint64_t address, const uint8_t* bytes, uint64_t size, int lane,
             const char* what);
  // The 32-bit shared address behind a generic or shared address.
  static SharedAddress shared_address(uint64_t a) { return SharedAddress(a); }

  // --- waiting ---
  Step wait(Wait::Kind kind, uint64_t object = 0, uint64_t value = 0, bool read_only = false);
  // True once when the group resumes after a wait at this instruction.
  bool take_resumed() {
    const bool was = self().resumed;
    self().resumed = false;
    return was;
  }
  // Lanes in `members` that are alive but not executing here; 0 = all there.
  uint32_t missing(uint32_t members) const { return members & warp->alive & ~active; }
  // For .aligned and .sync instructions: waits until all of `members` execute this instruction.
  bool converged(uint32_t members) const { return missing(members) == 0; }

  // --- findings ---
  // The warp and lanes that execute this instruction, for observers.
  Origin origin() const { return origin(active); }
  Origin origin(uint32_t lanes) const;
  Site site() const;
  // No message: the code's title; no help: the code's fix.
  Step fault(Code code, Statement message = {}, Statement help = {});
  Step unsupported(Statement what);
  void report(Finding finding);
  void changed() { ++cluster.progress; }
  // The same, where no other cluster can observe it.
  void changed_inside() {
    ++cluster.progress;
    ++cluster.inner_changes;
  }

  // --- asynchronous operations ---
  // Queues an operation that `lanes` issue; its warp's journal of the group gets an entry.
  AsyncOp& issue(AsyncPayloads payload, uint32_t lanes, isa::AsyncGroup group = isa::AsyncGroup::none);
};

// Journals (commit_group / wait_group).
Journal& journal_of(WarpState& warp, isa::AsyncGroup group);
void journal_issue(Journal& journal, uint64_t id, uint32_t lanes);
void journal_commit(Journal& journal, uint32_t lanes);
void journal_mark(Journal& journal, uint64_t id, bool done);  // done = false: reads are done
// True when for every lane of `lanes` at most `allowed` of its committed groups are incomplete;
// every_product: when all its operations are done, committed or not.
inline constexpr uint64_t every_product = ~0ULL;
bool journal_satisfied(const Journal& journal, uint32_t lanes, uint64_t allowed, bool read_only);
void journal_prune(Journal& journal);

// Async operations: performs the next stage of cluster.pending[index], or of the operation with an id; false
// when it is not ready.
bool advance(const ClusterRun& run, size_t index);
bool advance_operation(const ClusterRun& run, uint64_t id);

// True when the group's wait is over.
bool can_proceed(const ClusterState& cluster, const CtaState& cta, const WarpState& warp,
                 const LaneGroup& group);

// Runs one group of a warp for at most `budget` instructions; returns how many it executed.
struct WarpRun {
  uint32_t executed = 0;
  bool useful = false;  // executed anything but polling
};
WarpRun run_warp(Exec& x, uint32_t budget);

// Splits the group: lanes in `taken` go to `target`, the others to the next instruction.
Step diverge(Exec& x, uint32_t taken, uint32_t target);
// All threads of the cluster that have not exited have arrived at its barrier: the next generation.
bool complete_cluster_barrier(ClusterState& cluster);
// The active lanes return from a function with frames: its results are copied, the frame goes.
void leave_frames(Exec& x, uint32_t function, Pc call_pc);
// Lanes leave the kernel.
void exit_lanes(Exec& x, uint32_t lanes);
// Barriers of all threads of the CTA wait only for threads that have not exited.
void release_after_exit(CtaState& cta);

// mbarrier operations on the 8 bytes at a shared address, for handlers and async operations. False
// (with `why`) when the object is not initialised or a count leaves its range.
bool mbarrier_arrive(const ClusterRun& run, const Origin& origin, SharedAddress address, uint32_t count,
                     int32_t expect_tx, Statement* why);
bool mbarrier_complete_tx(const ClusterRun& run, const Origin& origin, SharedAddress address, uint32_t bytes,
                          Statement* why);

}  // namespace palladion::sim
