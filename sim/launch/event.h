#pragma once
// What happens in a cluster while it runs: one struct an event. Checkers, traces and reports subscribe to
// the events that they want (observer.h). An event is added here, in ClusterEventTypes below, and where the
// machine emits it.
//
// The events of one cluster are emitted in the order of its execution, on the host thread that runs the
// cluster. Spans and pointers in an event are valid while it is emitted.
#include <cstdint>
#include <span>
#include <vector>

#include "isa/core/footprint.h"
#include "isa/core/instruction.h"
#include "sim/launch/clock.h"
#include "sim/launch/index.h"

namespace palladion::sim {

// The warp, lanes and instruction of an execution.
struct Origin {
  CtaRank cta_rank;                               // of the CTA that executes
  WarpOfCta warp;                                 // that executes
  uint32_t lanes = 0;                             // that execute the instruction
  Pc pc;                                          // of the instruction
  const isa::Instruction* instruction = nullptr;  // as it was written
  const isa::Effect* effect = nullptr;            // what it does: isa/core/effects.h
};

// Lanes touch memory through the generic proxy: loads, stores, atomics, ldmatrix and stmatrix.
struct Access {
  enum class Kind : uint8_t { read, write, atomic };  // atomic: reads and writes at once
  Origin origin;                                      // who executes it
  Kind kind = Kind::read;                             // what it does to memory
  isa::Space space = isa::Space::generic;  // as the instruction states; a generic address determines its own
  uint32_t size = 0;                       // bytes a lane, contiguous
  const uint64_t* addresses = nullptr;     // 32, valid where `lanes` says so
  uint32_t lanes = 0;                      // mask of those that access memory
  isa::Order order = isa::Order::weak;     // .weak, .relaxed, .acquire, ...: PTX, "Memory consistency model"
  isa::Scope scope = isa::Scope::cta;      // of a strong access
  uint32_t unchanged = 0;  // lanes that store the values which the memory has already; of st and stmatrix
};

// Contiguous bytes that an asynchronous operation reads or writes. Addresses of shared and tensor memory
// carry the CTA's rank (tensor_byte).
struct Piece {
  isa::Space space = isa::Space::global;  // global, shared or tensor memory
  uint64_t address = 0;                   // of the first byte
  uint32_t bytes = 0;                     // their number
  // Whether it lies in shared memory, of this CTA or of another one.
  bool shared() const { return space == isa::Space::shared_cta || space == isa::Space::shared_cluster; }
};

// Adds a piece; one that follows the last becomes part of it.
inline void append(std::vector<Piece>& pieces, const Piece& piece) {
  if (!pieces.empty() && pieces.back().address + pieces.back().bytes == piece.address)
    pieces.back().bytes += piece.bytes;
  else
    pieces.push_back(piece);
}

// A warp loads or stores a rectangle of its CTA's tensor memory: tcgen05.ld, tcgen05.st.
struct TensorAccess {
  Origin origin;                                          // who executes it
  bool writes = false;                                    // tcgen05.st
  uint32_t lane = 0, lanes = 0, column = 0, columns = 0;  // first and number; 32-bit columns
};

// Columns of the CTA's tensor memory were allocated or freed, or the right to allocate was given up (columns:
// 0).
struct TensorAllocated {
  Origin origin;                     // who executes it
  bool freed = false;                // tcgen05.dealloc, relinquish_alloc_permit
  uint32_t column = 0, columns = 0;  // the first, and how many
  int ctas = 1;                      // .cta_group
};

// An asynchronous operation was issued by the lanes of its origin (one lane for bulk and tensor copies). One
// that several warps issue together is announced once, when the last of them has issued it; AsyncJoined comes
// for each of them.
struct AsyncIssue {
  Origin origin;                                              // the lanes that issue it
  uint64_t id = 0;                                            // ascending in the cluster
  isa::AsyncFamily family = isa::AsyncFamily::none;           // cp.async, bulk copy, wgmma, tcgen05, ...
  isa::Participants participants = isa::Participants::lanes;  // who issues it together
  isa::AsyncGroup group = isa::AsyncGroup::none;              // in which its issuers wait for it
  bool reduces = false;                  // its writes are individually relaxed atomics at gpu scope
  std::span<const Piece> reads, writes;  // empty for registers
  // Of cp.async, st.async, red.async each lane writes a piece of its own, the lowest lane the first one;
  // these lanes read one.
  uint32_t read_lanes = 0;
  std::span<const Piece> fills;  // of the writes: the fill value for elements outside the tensor
  // Completes bytes at these mbarriers (shared addresses with rank), one per destination CTA.
  std::span<const SharedAddress> mbarriers;
  std::span<const uint32_t> mbarrier_bytes;
  uint8_t layout = 0;       // of the shared bytes: LayoutTag
  uint64_t tensor_map = 0;  // generic address of the tensor map that it uses; 0: none
  const char* name = "";    // "cp.async.bulk.tensor"
};

// The layout of bytes in shared memory, as a tensor map or a matrix descriptor states it.
enum LayoutTag : uint8_t { layout_unknown, layout_plain, layout_32b, layout_64b, layout_128b };

struct MbarrierEvent {  // an operation on an mbarrier took effect: PTX, "mbarrier"
  Origin origin;        // who executes it, or issued the operation that signals
  isa::MbarrierAction action = isa::MbarrierAction::init;  // init, arrive, expect_tx, test_wait, ...
  SharedAddress address;                                   // of the mbarrier
  uint32_t lanes = 0;              // one lane for arrivals, all lanes that name this object for waits
  uint32_t count = 0;              // init: expected count; arrive: arrivals
  int64_t tx = 0;                  // bytes announced (positive) or completed (negative)
  uint64_t before = 0, after = 0;  // MbarrierState words; `after` includes the completion of a phase
  // The phase that an arrival or bytes belong to, that a wait returned true for or still waits for: 0 is the
  // first since the init, -1 the one before it, which counts as complete.
  int64_t phase = 0;
  bool completed = false;  // this operation completed the phase
  // test_wait, try_wait
  bool parity_known = true;  // false: waits with a state token
  bool parity = false;
  bool succeeded = false;  // the wait returned true
  // An arrival or complete_tx performed by an asynchronous operation; 0: by the lanes themselves.
  uint64_t async_id = 0;
};

struct CtaBarrierEvent {  // lanes arrived at a barrier of their CTA, or passed it: PTX, "barrier"
  enum class Step : uint8_t { arrive, pass };  // sync: both, with time between
  Origin origin;                               // these lanes
  Step step = Step::arrive;                    // what they did
  uint32_t id = 0;                             // number of the barrier, 0 to 15
  uint32_t threads = 0;                        // as the instruction says; 0: all of the CTA
  uint64_t generation = 0;                     // that these lanes arrive in, or have passed
  bool completed = false;                      // this arrival completed the generation
};

struct ClusterBarrierEvent {  // lanes arrived at the cluster's barrier, or passed it: PTX, "barrier.cluster"
  enum class Step : uint8_t { arrive, pass };  // barrier.cluster.arrive; .wait returned
  Origin origin;                               // these lanes
  Step step = Step::arrive;                    // what they did
  uint64_t generation = 0;                     // that they arrive in, or have passed
  bool completed = false;                      // this arrival completed the generation
};

// The CTAs exist, no instruction has run.
struct ClusterBegan {};
// All threads have exited and nothing is pending.
struct ClusterEnded {};

// Of an instruction that an observer watches: these lanes have reached it, its guard is not applied yet. Only
// of instructions that have a guard.
struct Reached {
  Origin origin;  // `lanes`: before the guard
};
// The same instruction is about to be executed, `lanes` with the guard applied; again when it is tried again
// after a wait.
struct Executing {
  Origin origin;  // `lanes`: those whose guard is true
};
// It was executed; not of an instruction that branched.
struct Executed {
  Origin origin;  // as of Executing
};

// Fence effects, wgmma.fence, tensormap.cp_fenceproxy with its copy done.
struct Fenced {
  Origin origin;  // `effect` says which fence
};
// Warp-collective instructions that order memory among `lanes`, such as bar.warp.sync.
struct WarpSynced {
  Origin origin;  // `lanes`: those that are ordered
};

// One of the warps that issue an operation together has issued it.
struct AsyncJoined {
  Origin origin;    // this warp
  uint64_t id = 0;  // AsyncIssue::id
};
// The operation's sources are in its staging buffer.
struct AsyncRead {
  uint64_t id = 0;  // AsyncIssue::id
};
// The operation's results are visible, its mbarriers signalled.
struct AsyncLanded {
  uint64_t id = 0;  // AsyncIssue::id
};
struct GroupCommitted {  // a commit_group closed the group of these lanes' earlier operations
  Origin origin;         // these lanes, each for itself
  isa::AsyncGroup group = isa::AsyncGroup::none;  // cp.async, bulk or wgmma groups
};
// A wait_group returned: of these lanes at most `allowed` newest groups may be incomplete.
struct GroupWaited {
  Origin origin;                                  // these lanes
  isa::AsyncGroup group = isa::AsyncGroup::none;  // cp.async, bulk or wgmma groups
  uint64_t allowed = 0;                           // N of wait_group N
  bool read_only = false;                         // .read: sources have been read, results may be missing
};
// cp.async.mbarrier.arrive, tcgen05.commit: `id` will arrive once the issuing lanes' earlier cp.async, or
// tcgen05 operations, have landed.
struct ArrivalDeferred {
  Origin origin;                             // the lanes that issue it
  uint64_t id = 0;                           // of the arrival, among the ids of AsyncIssue
  std::span<const uint64_t> awaited;         // ids of the operations
  std::span<const SharedAddress> mbarriers;  // of tcgen05.commit: shared addresses with rank
};

// setmaxnreg: registers of a thread.
struct RegistersSet {
  Origin origin;                   // the warp
  uint32_t before = 0, after = 0;  // registers of a thread
};
struct Exited {   // these lanes ended: exit, or ret of the entry
  Origin origin;  // these lanes
};

// A part of a stall, with one reason.
struct StallPart {
  Stall reason{};  // as `palladion explain` lists them
  Cycle to;        // in which it is over
};
// Under the `hardware` schedule: the instruction issues at ClusterState::now, after its warp was stalled.
struct Stalled {
  Origin origin;                     // the instruction that was held up
  Cycle from;                        // in which the stall began
  std::span<const StallPart> parts;  // in the order of time, none is empty; the last one ends now
};
// Under the `hardware` schedule: a unit of the SM worked on an asynchronous operation during [from, to).
struct UnitWorked {
  uint64_t id = 0;  // AsyncIssue::id
  Resource unit{};  // TMA, tensor core, ...
  Cycle from, to;   // first one, the one behind the last
};

template <class... E>
struct EventList {                               // a list of event types, to iterate over while compiling
  static constexpr size_t count = sizeof...(E);  // number of types
};
using ClusterEventTypes =
    EventList<ClusterBegan, ClusterEnded, Reached, Executing, Executed, Access, TensorAccess, TensorAllocated,
              Fenced, WarpSynced, MbarrierEvent, CtaBarrierEvent, ClusterBarrierEvent, AsyncIssue,
              AsyncJoined, AsyncRead, AsyncLanded, GroupCommitted, GroupWaited, ArrivalDeferred, RegistersSet,
              Exited, Stalled, UnitWorked>;  // every event of a cluster; its place is its number

}  // namespace palladion::sim
