#pragma once
// The passive state of a running cluster: CTAs, warps, lane groups, barriers, async operations.
// Plain data: copying it is a snapshot. The program, GMEM and observers are in ClusterRun.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa/core/module.h"
#include "sim/launch/finding.h"
#include "sim/machine/state/async_op.h"
#include "sim/machine/state/bytes.h"
#include "sim/machine/state/store_buffer.h"
#include "sim/machine/state/tensor_memory.h"
#include "sim/machine/state/unmaterialised.h"

namespace palladion::sim {

// Shared addresses carry the CTA's rank in the cluster above bit 24, as the hardware's do.
inline constexpr uint32_t cta_rank_shift = 24;
inline constexpr uint32_t shared_offset_mask = (1u << cta_rank_shift) - 1;
// Generic addresses of the shared and local windows.
inline constexpr uint64_t shared_window = 0x0100'0000'0000;
inline constexpr uint64_t local_window = 0x0200'0000'0000;
inline constexpr uint64_t window_size = 0x0100'0000'0000;
inline constexpr uint64_t shared_window_size = 0x1'0000'0000;  // shared addresses have 32 bits

constexpr bool is_shared(isa::Space s) {
  return s == isa::Space::shared_cta || s == isa::Space::shared_cluster;
}
// Where a generic address points.
constexpr isa::Space space_of(uint64_t generic_address) {
  if (generic_address - shared_window < shared_window_size) return isa::Space::shared_cluster;
  if (generic_address - local_window < window_size) return isa::Space::local;
  return isa::Space::global;
}
// Where an address points that an instruction of the space `stated` names.
constexpr isa::Space space_of(isa::Space stated, uint64_t address) {
  return stated == isa::Space::generic ? space_of(address) : stated;
}

// Why a lane group waits.
struct Wait {
  enum class Kind : uint8_t {
    none,
    convergence,      // an instruction that needs lanes which are elsewhere (object = missing lanes)
    mbarrier,         // object = shared address, value = parity that must have completed
    cta_barrier,      // object = barrier id, value = generation to pass
    cluster_barrier,  // value = generation to pass
    bulk_group,       // value = groups that may stay pending; read = only the reads
    cp_async_group,
    wgmma_group,
    registers,         // setmaxnreg.inc: value = registers a thread wanted
    tensor_memory,     // tcgen05.alloc: value = columns wanted
    quantum_boundary,  // a strong access of GMEM: performed in order at the quantum boundary
    poll,              // test_wait that failed, nanosleep: runnable, but after all other groups
  };
  Kind kind = Kind::none;
  bool read_only = false;
  uint64_t object = 0;
  uint64_t value = 0;
};

// Lanes of a warp that execute together.
struct LaneGroup {
  Pc pc;
  uint32_t mask = 0;
  Wait wait;
  bool resumed = false;             // the wait at `pc` was satisfied; the instruction finishes now
  uint64_t cluster_generation = 0;  // of the cluster barrier, when the group last arrived
  uint64_t last_run = 0;            // cluster's instruction count when it last ran
  uint64_t timed_out_at = ~0ULL;    // cluster's progress when its mbarrier wait last timed out
  uint64_t barrier_generation = 0;  // of the named barrier that the group last arrived at
  std::vector<Pc> calls;            // return addresses
};

// Asynchronous operations in a warp's program order, for commit_group and wait_group. An entry is
// an operation or a commit, of the lanes in `lanes`.
struct JournalEntry {
  uint64_t id = 0;
  uint32_t lanes = 0;
  bool commit = false;
  bool read_done = false, done = false;
};
using Journal = std::deque<JournalEntry>;

struct WarpState {
  WarpOfCta id;        // in the CTA
  uint32_t alive = 0;  // lanes not exited
  std::vector<LaneGroup> groups;
  AlignedBytes registers;
  std::vector<uint8_t> local;  // local memory, lane after lane
  // Behind it, the stack of each lane: frames of recursive functions, alloca. Addresses go on from those of
  // `local`; it grows when a frame is made.
  struct LaneStack {
    std::vector<uint8_t> bytes;
    uint64_t used = 0;    // the next frame begins here
    uint64_t frame = 0;   // the offset of the running function's frame
    uint64_t charge = 0;  // what it takes on a chip: less than is used here, where all registers are saved
  };
  std::array<LaneStack, 32> stacks;
  Journal bulk, cp_async, wgmma;
  uint64_t instructions = 0;        // executed instructions: time under schedules without a clock
  uint32_t register_limit = 0;      // registers a thread, as setmaxnreg left them
  uint32_t cluster_arrived = 0;     // lanes that have arrived at the cluster barrier's generation
  uint64_t cluster_arrived_in = 0;  // that generation
  bool assertion_failed = false;    // the grid ends at the next boundary
  bool finished() const { return alive == 0; }
};

struct NamedBarrier {
  Pc first_pc;  // of the first arrival in this generation
  WarpOfCta first_warp;
  uint32_t arrived = 0;   // threads
  uint32_t expected = 0;  // 0 = not in use
  uint64_t generation = 0;
  uint32_t popc = 0;
  bool all = true, any = false;
  uint32_t last_arrived = 0;  // threads of the generation before
  uint32_t last_popc = 0;
  bool last_all = true, last_any = false;
};

// Warps that issue wgmma together.
struct WarpgroupState {
  std::vector<uint64_t> issued;  // wgmma instructions issued by each warp
  // Accumulators between two wgmma of a chain: dense rows, known by the first register's offset.
  struct Tile {
    uint32_t first_register = 0;
    std::vector<uint32_t> words;
  };
  std::vector<Tile> tiles;
};

struct CtaState {
  CtaRank rank;  // in the cluster
  isa::Dim3 id{0, 0, 0};
  uint32_t sm = 0;
  Zeros<uint8_t> shared;
  std::vector<uint8_t> unmaterialised;  // bytes of `shared` that are not materialised, see unmaterialised.h;
                                        // empty: not tracked
  std::vector<WarpState> warps;
  std::vector<NamedBarrier> barriers;  // as many as the chip has
  std::vector<WarpgroupState> warpgroups;
  uint32_t threads = 0, alive_threads = 0;
  uint32_t free_registers = 0;  // of the CTA's allocation, given back by setmaxnreg.dec
  TensorMemory tensor;
};

struct ClusterBarrierState {
  uint32_t arrived = 0;  // threads that have not exited
  uint64_t generation = 0;
};

// Host threads run neighbours: each has cache lines of its own.
struct alignas(64) ClusterState {
  ClusterOfGrid index;        // linear id in the grid
  std::vector<uint32_t> sms;  // of its CTAs, by rank; empty: SMs are assigned round robin
  isa::Dim3 id{0, 0, 0};
  std::vector<CtaState> ctas;
  ClusterBarrierState barrier;
  std::deque<AsyncOp> pending;  // in order of issue
  uint64_t next_async = 1;
  uint64_t progress = 0;       // counts changes that others could wait for
  uint64_t inner_changes = 0;  // of these, those that no other cluster can observe: SMEM, barriers
  uint64_t instructions = 0;
  StoreBuffer stores;  // of GMEM, since the last boundary
  Cycle now;           // under the `hardware` schedule: the SM clock's cycle of what happens, for observers
  std::vector<Finding> findings;
  std::string printed;
  std::string asserted;  // lines of failed assertions
  bool faulted = false;
  uint64_t random = 0;       // state of the schedule's generator
  bool saw_refusal = false;  // clusterlaunchcontrol: a query has shown that no cluster was left
  uint64_t acting = 0;       // the asynchronous operation that lands now; 0: none
  // The current phase of each mbarrier, by shared address with rank. Counted while somebody subscribes to
  // MbarrierEvent, which states it.
  std::unordered_map<SharedAddress, int64_t> mbarrier_phases;
  bool finished() const;
};

// The operation with this id, or nullptr when it has landed.
AsyncOp* find_pending(ClusterState& cluster, uint64_t id);
bool is_pending(const ClusterState& cluster, uint64_t id);

}  // namespace palladion::sim
