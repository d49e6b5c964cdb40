#pragma once
// The clock's numbers: what an instruction, a copy, a barrier costs on a chip. They are data, one file a
// chip in isa/arch/clock, compiled in; a file of the user's may stand in for it.
//
// A line of such a file:   key = value unit | spread | date | source
//   smem.bytes_per_cycle = 128 bytes/cycle | 0.5 | 2026-11-21 | ld_shared_v4 of bench/device
// Every key must be there, once, with its unit (`held` of an op may be left out); `#` begins a comment.
// Two other lines say how a chip differs from another one:
//   inherit h200     takes all lines of that file; lines below replace them
//   without wgmma    the chip has no such unit (clock_units); no program that needs it can be timed
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "isa/core/diagnostic.h"

namespace palladion::isa {

// Of the ops that share a latency key (isa::Timing), for one warp instruction.
struct OpCost {
  double slots = 1;     // SASS instructions that ptxas makes of it: issue slots of its sub-core
  double interval = 1;  // cycles that they occupy the unit, per sub-core (per SM: tma)
  double latency = 4;   // cycles from issue until an instruction that needs its result may issue
  double held = 0;      // cycles until its warp issues another one: sequences that do not overlap in a warp
};

struct ClockParameters {
  double sm_clock;           // MHz that the kernel runs at
  double sm_clock_measured;  // MHz at which the cycles of HBM below were measured

  // --- from the launch to the first instruction, and the end ---
  double launch_overhead;  // cycles that sm__cycles_elapsed.max counts around an empty CTA
  double launch_full;      // more when every GPC has a CTA
  double
      launch_clock_spread;  // cycles that the fastest GPC counts in one of the others', all tensor cores busy
  double launch_cold;       // more when code and constants are in HBM
  double launch_idle_clock;    // cycles that an idle GPC counts while one works whose tensor cores are busy
  double launch_cta_interval;  // between the starts of two CTAs, wherever they go
  double launch_cta_replace;   // from a CTA's last exit to its successor's first instruction
  double launch_warp;          // more for each of its warps
  double launch_cluster_sms;   // SMs that take clusters of more than two CTAs
  double launch_cluster;       // more, for a cluster of two CTAs or larger
  double register_increase;    // setmaxnreg.inc, once the registers are free
  double issue_first_instruction;  // cold instruction cache: cycles a SASS instruction costs when it is first
                                   // met

  // --- issue ---
  double branch_forward;   // of one that goes on, over as many instructions as are fetched ahead
  double branch_taken;     // cycles until the target's first instruction issues, beyond the branch's own
  double branch_unrolled;  // iterations of a short loop that ptxas merges into one
  double issue_queue;  // cycles of work in front of an arithmetic pipe; a warp with more to do there waits
  double issue_other_pipe;        // more latency when ALU and FMA pipes hand a value to each other
  double issue_branch_predicate;  // more latency from a comparison to a branch that it guards

  // --- shared memory and L1 ---
  double smem_bytes_per_cycle;
  double smem_lsu_interval;       // cycles between two memory instructions of an SM
  double smem_lsu_queue;          // cycles of memory instructions in front of the load-store unit
  double smem_pass_beside_wgmma;  // cycles of a pass beside an instruction that needs the whole port
  double smem_beside_wgmma;       // more latency of a load while the tensor core reads operands there
  double smem_cas_interval;       // between two compare-and-swaps of a word, in loops of different warps
  double l1_hit_latency;          // ld.global
  double l1_bytes_per_cycle;
  double l1_bytes;  // of the unified memory when no shared memory is used

  // --- L2 and HBM ---
  double l2_latency;                     // ld.global that hits: the mean over slices, cycles
  double l2_spread;                      // half of the difference between far and near slices
  double l2_slice_spread;                // +-: from slice to slice of a half
  double l2_bytes_per_cycle;             // whole chip, distinct lines
  double l2_gpc_bytes_per_cycle;         // into a GPC
  double l2_gpc_shared_bytes_per_cycle;  // there, to each further SM that an answer is for
  double l2_sm_bytes_per_cycle;          // into one SM
  double l2_sm_write_bytes_per_cycle;
  double l2_sm_write_queue;  // cycles of stores on their way before they hold up the instructions behind
  double l2_short_request;   // bytes for which a shorter one occupies slices and ways
  double l2_write_bytes_per_cycle;  // whole chip
  double l2_atomic_interval;        // cycles between two atomic sectors of one slice
  double l2_atomic_full_interval;   // the same of a line that a warp adds to all words of
  double l2_atomic_queue;           // lanes of one SM's reductions that wait in front of an atomic unit
  double l2_atomic_latency;         // atom.global, round trip
  double l2_slices;
  double l2_bytes;        // that data of one kernel can occupy
  double l2_dirty_bytes;  // that wait there for HBM; written lines beyond them go at once
  double l2_written_far;  // more for the first load of a line that an SM of the other half has written
  double l2_mixed_bytes_per_cycle;  // whole chip, half reads, half writes
  double l2_tma_requests;           // that the counters show for one of the TMA unit
  double l2_merge_window;           // how long a request takes others of its GPC for the same sectors
  double l2_merged;                 // requests of a GPC that are one for L2 at most
  double hbm_latency;               // more than a hit's
  double hbm_spread;                // half of the width of that, over pages of 1 KiB
  double hbm_loaded_latency;        // more than that, when very many lines are under way
  double hbm_loaded_lines;          // lines under way that make half of it
  double hbm_scattered;             // more for boxes whose rows lie over more than 128 KiB
  double hbm_page_open;    // bytes that the bus could move while a page of 1 KiB is opened for a read
  double hbm_read;         // GB/s, of whole pages
  double hbm_write;        // GB/s
  double hbm_mixed;        // GB/s, half reads, half writes
  double hbm_write_queue;  // cycles that the bus may be behind before a writer waits

  // --- TMA ---
  double tma_issue_interval;  // cycles between two copies of one SM
  double tma_latency;  // 1 KiB from L2: from issue until a waiter on its mbarrier goes on, less l2_latency
  double tma_bytes_per_cycle;   // one SM, from L2
  double tma_queue;             // copies that wait in front of the unit before their threads do
  double tma_next;              // copies that it has taken and that wait to send requests
  double tma_overtaken;         // how much later a copy lands that has another one behind it
  double tma_row_interval;      // cycles between its requests: a line, or a row of a box, each
  double tma_descriptor_miss;   // the first use of a tensor map on an SM
  double tma_multicast;         // cycles more for a multicast copy
  double tma_store_latency;     // of a store, beyond its bytes: until its sources are read
  double tma_store_done;        // from then until its writes are done
  double bulk_bytes_per_cycle;  // the same rate
  double bulk_latency;          // of cp.async.bulk without a tensor map, less l2_latency

  // --- tensor core ---
  double wgmma_macs_per_cycle;  // 16-bit elements: of an SM
  double wgmma_overhead;        // cycles of each instruction beyond max(macs, operand reads)
  double wgmma_least_rs;        // cycles that an instruction with A in registers takes at least
  double wgmma_tail_ss;         // from its end until wait_group 0 returns
  double wgmma_tail_rs;
  double wgmma_start;  // from issue to the first cycle of an idle tensor core
  double wgmma_queue;  // instructions of all warpgroups that an SM has taken on; at most 16
  // From the end that a warpgroup's instructions would have if they were alone until its warps' long
  // sequences of arithmetic issue, while another one's are under way.
  double wgmma_co_issue_delay;
  // Of tcgen05; the data path has all lanes of tensor memory, so its time is that of the columns of D.
  double tcgen05_columns_per_cycle;  // of D, K of one instruction
  double tcgen05_tail;  // from the end of a product's columns until a waiter on its commit goes on, A in TMEM
  double tcgen05_pair;  // more for a pair of CTAs
  double tcgen05_queue;                 // instructions that an SM has taken on; at most 16
  double tcgen05_copy_bytes_per_cycle;  // of tcgen05.cp

  // --- barriers ---
  double mbarrier_wake;             // from an arrival that completes a phase until a waiter issues
  double mbarrier_wake_tx;          // from the last bytes of a copy
  double mbarrier_remote;           // more for an arrival from another CTA of the cluster
  double mbarrier_remote_interval;  // cycles that such an arrival occupies the load-store unit
  double mbarrier_remote_again;     // between two of a warp at the same mbarrier
  double mbarrier_timeout;          // of a try_wait whose phase does not complete
  double fence_queue;               // fences of a wide scope that an SM takes at once
  double barrier_latency;           // bar.sync: from the last arrival until a warp goes on
  double barrier_per_warp;          // more for each warp that takes part
  double cluster_barrier_latency;   // barrier.cluster of two CTAs, from the last arrival until a warp goes on
  double cluster_barrier_per_warp;  // more for each warp of a CTA
  double cluster_barrier_per_doubling;  // more for twice as many CTAs, up to eight
  double async_group_wake;              // wait_group: from the last copy's end

  // --- the cluster's network ---
  double dsm_latency;             // ld.shared::cluster, round trip, without what its bytes take
  double dsm_bytes_per_cycle;     // out of one SM, in packets of 32 bytes
  double dsm_in_bytes_per_cycle;  // into one SM
  double dsm_acknowledged;        // packets that go back for one that was written
  double dsm_contended_load;      // times as long for a packet when all SMs of a CPC work: loads
  double dsm_contended_store;     // the same for what is written
  double dsm_atomic;              // more for an atomic
  double dsm_queue;               // stores of 4 bytes a lane that wait for the network
  double dsm_store_latency;       // st.async: from its last packet until a waiter on its mbarrier goes on
  double dsm_store_done;          // st: from its last packet until a fence begins
  double dsm_arrive_done;         // mbarrier.arrive: the same
  double dsm_contended_fence;     // more until a fence knows of asynchronous stores, while neighbours send
  double dsm_fence_tail;          // before a fence ends: until then arrivals of other warps prolong it
  double dsm_copy_interval;       // cycles between two bulk copies of one SM
  double dsm_copy_queue;          // bulk copies that an SM takes on before the warp that issues waits
  double dsm_copy_latency;        // from issue until a waiter goes on, without what its bytes take

  std::vector<OpCost> ops;     // by op_key
  uint32_t absent = 0;         // units that the chip does not have: bit i is clock_units()[i]
  bool bank_conflicts = true;  // not in files; false: to learn what they cost (sim/schedule/relax)

  // Of a latency key (isa::Timing::latency), which must be one of op_keys().
  const OpCost& cost(std::string_view key) const;
  // The absent unit that ops of this latency key need; empty: there is none.
  std::string_view absent_unit_of(std::string_view key) const;

  // HBM does not follow the SM clock: the same parameters with its cycles for `sm_clock`. L2 does, as far as
  // SMs observe (L2.latency and L2.read of bench/device, beside tensor cores that lower the SM clock).
  ClockParameters at_sm_clock() const;

  // PLD code PLD5801 and the line for what cannot be read; PLD5802 for an unknown key or unit, PLD5803 for a
  // missing key, PLD5804 for a value that cannot be (negative, another unit than the key's), PLD5805 for a
  // file that cannot be inherited. `parents` gives the text of a file by its name, empty when there is none.
  using Parents = std::string_view (*)(std::string_view name);
  static tl::expected<ClockParameters, Diagnostics> parse(std::string_view text, std::string_view file,
                                                          Parents parents);
  // With the compiled-in files as parents.
  static tl::expected<ClockParameters, Diagnostics> parse(std::string_view text, std::string_view file);
};

// What a chip may lack: the parameters that begin with the unit's name and a dot, and ops' latency keys.
struct ClockUnit {
  std::string_view name;
  std::vector<std::string_view> ops;
};
std::span<const ClockUnit> clock_units();

// Index of a latency key in ClockParameters::ops; -1 when there is none of that name.
int op_key(std::string_view key);
std::span<const std::string_view> op_keys();

// The parameters that are compiled in for an architecture; null when there are none.
const ClockParameters* find_clock(std::string_view arch);
// The file that they were read from, as people should see it.
std::string_view clock_file(std::string_view arch);

// The members' names in files: "smem.bytes_per_cycle" and its unit.
struct ClockField {
  std::string_view key, unit;
  double ClockParameters::* member;
};
std::span<const ClockField> clock_fields();

}  // namespace palladion::isa
