#pragma once
// Round numbers for units of the clock: what a test asks is computed by hand.
#include "isa/arch/clock.h"

namespace palladion::sim::hardware {

inline void round_numbers_of_memory(isa::ClockParameters& p) {
  p.smem_bytes_per_cycle = 128;
  p.smem_lsu_interval = 1;
  p.smem_lsu_queue = 16;
  p.smem_pass_beside_wgmma = 20;
  p.smem_cas_interval = 90;
  p.l1_hit_latency = 34;
  p.l1_bytes_per_cycle = 128;
  p.l2_latency = 280;
  p.l2_spread = 16;
  p.l2_slice_spread = 0;
  p.l2_slices = 4;
  p.l2_bytes_per_cycle = 128;
  p.l2_write_bytes_per_cycle = 64;
  p.l2_mixed_bytes_per_cycle = 128;
  p.l2_short_request = 64;
  p.l2_gpc_bytes_per_cycle = 64;
  p.l2_gpc_shared_bytes_per_cycle = 128;
  p.l2_sm_bytes_per_cycle = 32;
  p.l2_dirty_bytes = 256;
  p.l2_atomic_interval = 2;
  p.l2_atomic_full_interval = 4;
  p.l2_atomic_queue = 16;
  p.hbm_latency = 400;
  p.hbm_spread = 0;
  p.hbm_loaded_latency = 0;
  p.hbm_page_open = 0;
  p.l2_sm_write_bytes_per_cycle = 32;
  p.l2_sm_write_queue = 64;
}

inline void round_numbers_of_async_units(isa::ClockParameters& p) {
  p.tma_queue = 2;
  p.tma_next = 2;
  p.tma_issue_interval = 10;
  p.tma_descriptor_miss = 150;
  p.tma_row_interval = 1;
  p.tma_latency = 12;
  p.tma_multicast = 4;
  p.tma_overtaken = 48;
  p.tma_store_latency = 0;
  p.tma_store_done = 33;
  p.wgmma_macs_per_cycle = 2048;
  p.wgmma_overhead = 0;
  p.wgmma_start = 5;
  p.wgmma_tail_ss = 25;
  p.wgmma_tail_rs = 15;
  p.wgmma_least_rs = 13;
  p.wgmma_queue = 2;
  p.wgmma_co_issue_delay = 25;
  p.tcgen05_columns_per_cycle = 2;
  p.tcgen05_copy_bytes_per_cycle = 128;
  p.tcgen05_tail = 10;
  p.tcgen05_pair = 5;
}

inline isa::ClockParameters round_numbers() {
  isa::ClockParameters p = *isa::find_clock("h200");
  round_numbers_of_memory(p);
  round_numbers_of_async_units(p);
  p.issue_queue = 16;
  p.issue_first_instruction = 0.5;
  p.branch_taken = 10;
  p.branch_forward = 20;
  p.branch_unrolled = 4;
  p.fence_queue = 2;
  p.barrier_latency = 12;
  p.barrier_per_warp = 2;
  p.cluster_barrier_latency = 70;
  p.cluster_barrier_per_warp = 2;
  p.cluster_barrier_per_doubling = 4;
  p.mbarrier_wake = 35;
  p.mbarrier_wake_tx = 3;
  p.async_group_wake = 7;
  p.mbarrier_remote = 91;
  p.mbarrier_remote_interval = 2;
  p.mbarrier_remote_again = 6;
  p.dsm_bytes_per_cycle = 16;
  p.dsm_in_bytes_per_cycle = 32;
  p.dsm_acknowledged = 0.5;
  p.dsm_contended_load = 1.5;
  p.dsm_contended_store = 2;
  p.dsm_queue = 2;
  p.dsm_copy_interval = 40;
  p.dsm_copy_queue = 2;
  p.dsm_copy_latency = 145;
  p.dsm_latency = 185;
  p.dsm_store_latency = 145;
  p.dsm_fence_tail = 47;
  p.dsm_contended_fence = 500;
  return p;
}

}  // namespace palladion::sim::hardware
