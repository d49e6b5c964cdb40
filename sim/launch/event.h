#pragma once
// The seam between the machine and those who watch it: checkers, traces, reports. An observer may not
// change the machine; with none attached nothing of this is built.
//
// Every cluster has an observer of its own, called by the host thread that runs the cluster; calls for
// one cluster come in the order of its execution. What clusters share (GMEM) is judged between quanta,
// in `edge`, on one thread and in a fixed order, so that findings do not depend on the thread count.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isa/core/effects.h"
#include "isa/core/instruction.h"
#include "sim/launch/clock.h"

namespace palladion::sim {

struct ClusterState;
struct Finding;
struct LaunchState;
struct Program;
class GlobalMemory;

// Who executes what. `pc` indexes Program::code.
struct Origin {
  uint16_t cta_rank = 0;  // in the cluster
  uint16_t warp = 0;      // in the CTA
  uint32_t lanes = 0;     // that execute the instruction
  uint32_t pc = 0;
  const isa::Instruction* instruction = nullptr;
  const isa::Effect* effect = nullptr;
};

// Lanes touch memory through the generic proxy: loads, stores, atomics, ldmatrix and stmatrix.
struct Access {
  enum class Kind : uint8_t { read, write, atomic };  // atomic: reads and writes at once
  Kind kind = Kind::read;
  isa::Space space =
      isa::Space::generic;              // as the instruction says; generic addresses tell theirs themselves
  uint32_t size = 0;                    // bytes a lane, contiguous
  const uint64_t* addresses = nullptr;  // 32, valid where `lanes` says so
  uint32_t lanes = 0;
  isa::Order order = isa::Order::weak;
  isa::Scope scope = isa::Scope::cta;
};

// Contiguous bytes that an asynchronous operation reads or writes. Shared addresses carry the CTA's rank.
struct Piece {
  bool shared = false;
  uint64_t address = 0;
  uint32_t bytes = 0;
};

// Adds a piece; one that follows the last becomes part of it.
inline void append(std::vector<Piece>& pieces, const Piece& piece) {
  if (!pieces.empty() && pieces.back().address + pieces.back().bytes == piece.address)
    pieces.back().bytes += piece.bytes;
  else
    pieces.push_back(piece);
}

// Which group mechanism an asynchronous operation belongs to.
enum class GroupKind : uint8_t { none, bulk, cp_async, wgmma };

// An asynchronous operation was issued by the lanes of its origin (one lane for bulk and tensor
// copies). A wgmma is announced once, when the last of the warpgroup's four warps has issued it;
// `joined` tells of each of the four.
struct AsyncIssue {
  uint64_t id = 0;  // ascending in the cluster
  GroupKind group = GroupKind::none;
  bool reduces = false;                  // its writes are individually relaxed atomics at gpu scope
  std::span<const Piece> reads, writes;  // empty for registers
  std::span<const Piece> fills;          // of the writes: what stands for elements outside the tensor
  // Completes bytes at these mbarriers (shared addresses with rank), one per destination CTA.
  std::span<const uint32_t> mbarriers;
  std::span<const uint32_t> mbarrier_bytes;
  uint8_t layout = 0;       // of the shared bytes: LayoutTag
  uint64_t tensor_map = 0;  // generic address of the tensor map that it uses; 0: none
  const char* name = "";    // "cp.async.bulk.tensor"
};

// How bytes are arranged in shared memory: what a tensor map or a matrix descriptor says.
enum LayoutTag : uint8_t { layout_unknown, layout_plain, layout_32b, layout_64b, layout_128b };

struct MbarrierEvent {
  isa::MbarrierAction action = isa::MbarrierAction::init;
  uint32_t address = 0;            // shared, with rank
  uint32_t lanes = 0;              // one lane for arrivals, all lanes that name this object for waits
  uint32_t count = 0;              // init: expected count; arrive: arrivals
  int64_t tx = 0;                  // bytes announced (positive) or completed (negative)
  uint64_t before = 0, after = 0;  // MbarrierState words; `after` includes the completion of a phase
  bool completed = false;          // this operation completed the phase
  // test_wait, try_wait
  bool parity_known = true;  // false: waits with a state token
  bool parity = false;
  bool succeeded = false;  // the wait returned true
  // An arrival or complete_tx performed by an asynchronous operation; 0: by the lanes themselves.
  uint64_t async_id = 0;
};

struct CtaBarrierEvent {
  enum class Step : uint8_t { arrive, pass };  // sync: both, with time between
  Step step = Step::arrive;
  uint32_t id = 0;
  uint32_t threads = 0;     // as the instruction says; 0: all of the CTA
  uint64_t generation = 0;  // that these lanes arrive in, or have passed
  bool completed = false;   // this arrival completed the generation
};

struct ClusterBarrierEvent {
  enum class Step : uint8_t { arrive, pass };
  Step step = Step::arrive;
  uint64_t generation = 0;
  bool completed = false;
};

class ClusterObserver {
 public:
  virtual ~ClusterObserver() = default;
  // The CTAs exist, no instruction has run.
  virtual void began() {}
  // Of an instruction that Observer::watches named: that these lanes have come to it, before its guard is
  // looked at (only if it has one); before it is executed, `origin.lanes` with the guard applied, and again
  // when it was tried after a wait; after it, unless it branched.
  virtual void reached(const Origin&) {}
  virtual void executes(const Origin&) {}
  virtual void executed(const Origin&) {}
  virtual void accessed(const Origin&, const Access&) {}
  virtual void fenced(const Origin&) {}  // Fence effects, tensormap.cp_fenceproxy with its copy done
  // Warp-collective instructions that order memory among `lanes`: bar.warp.sync and its kin.
  virtual void warp_synced(const Origin&) {}
  virtual void mbarrier(const Origin&, const MbarrierEvent&) {}
  virtual void cta_barrier(const Origin&, const CtaBarrierEvent&) {}
  virtual void cluster_barrier(const Origin&, const ClusterBarrierEvent&) {}
  virtual void issued(const Origin&, const AsyncIssue&) {}
  virtual void joined(const Origin&, uint64_t /*wgmma id*/) {}
  virtual void async_read(uint64_t /*id*/) {}    // its sources are in its staging buffer
  virtual void async_landed(uint64_t /*id*/) {}  // its results are visible, its mbarriers signalled
  virtual void committed(const Origin&, GroupKind) {}
  // A wait_group returned: of these lanes at most `allowed` newest groups may be incomplete.
  virtual void waited(const Origin&, GroupKind, uint64_t /*allowed*/, bool /*read_only*/) {}
  // cp.async.mbarrier.arrive: `id` will arrive once the issuing lanes' earlier cp.async have landed.
  virtual void arrival_deferred(const Origin&, uint64_t /*id*/, std::span<const uint64_t> /*awaited*/) {}
  virtual void registers_set(const Origin&, uint32_t /*before*/, uint32_t /*after*/) {}
  virtual void exited(const Origin&) {}
  // Under the `hardware` schedule: the instruction issued at ClusterState::now, after its warp had stood
  // still for this reason since `from`; then a unit of the SM worked on it during [from, to).
  virtual void stalled(const Origin&, Stall /*why*/, uint64_t /*from*/) {}
  virtual void worked(uint64_t /*async id*/, Resource, uint64_t /*from*/, uint64_t /*to*/) {}
  virtual void ended() {}  // all threads have left and nothing is pending
};

// What a run shows its observers at its start.
struct RunView {
  const Program* program = nullptr;
  const LaunchState* launch = nullptr;
  const GlobalMemory* memory = nullptr;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void start(const RunView&) {}
  // The observer of a cluster that begins; lives until `retire`. Called on any host thread.
  virtual std::unique_ptr<ClusterObserver> observe(ClusterState& cluster) = 0;
  // True for instructions that `executes` should tell of, by pc.
  virtual bool watches(uint32_t /*pc*/) const { return false; }
  // Between quanta, before the strong GMEM accesses: clusters in ascending order, on one thread.
  virtual void edge(std::span<ClusterState* const> /*resident*/) {}
  // The cluster is done (or the grid was stopped): what its observer knows is to be kept.
  virtual void retire(ClusterState&) {}
  // Nothing can move any more. True when the observer has explained it in `finding`.
  virtual bool deadlocked(std::span<const ClusterState* const> /*resident*/, bool /*more_clusters*/,
                          Finding& /*finding*/) {
    return false;
  }
  // The run is over; findings may be added.
  virtual void finish(std::vector<Finding>& /*findings*/) {}
};

}  // namespace palladion::sim
