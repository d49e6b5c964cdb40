#pragma once
// Per-chip facts as data: what limits a launch and what a chip is made of. Every part that depends on a chip
// (recorder, verifier, decoders, machine, clock) is given an ArchSpec; none has numbers of its own.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace palladion::isa {

struct ArchSpec {
  std::string_view name;        // "h200"
  std::string_view chip;        // as the driver names it
  int sm;                       // compute capability x 10
  std::string_view ptx_target;  // "sm_90a"
  bool measured = false;        // the machine and its clock were compared with such a device

  // Size of the chip.
  int sm_count;
  std::span<const uint8_t> gpc_tpcs;  // TPCs of each GPC
  int sms_per_tpc;
  int sms_per_cpc;    // SMs that share a way to L2; the last CPC of a GPC may have fewer
  int l2_partitions;  // a power of two; GPC g is near partition g % l2_partitions
  int first_tpcs;     // of the first GPC: a grid of fewer CTAs than SMs fills these before it spreads
  int sub_cores;      // warp schedulers per SM
  int gpc_count() const { return static_cast<int>(gpc_tpcs.size()); }
  int64_t l2_bytes;
  int64_t memory_bytes;
  double memory_gb_per_s;  // published peak
  int sm_clock_mhz;        // maximum boost
  int memory_clock_mhz;

  // Limits of an SM.
  int max_threads_per_sm;
  int max_warps_per_sm;
  int max_ctas_per_sm;
  int registers_per_sm;  // 32-bit
  int shared_bytes_per_sm;
  int barriers_per_sm;  // named barriers, shared by the resident CTAs

  // Limits of a CTA, a thread, a cluster, a grid.
  int max_threads_per_cta;
  int max_registers_per_thread;  // that an instruction can name
  int max_shared_bytes_per_cta;
  int static_shared_bytes_per_cta;    // without asking for more
  int reserved_shared_bytes_per_cta;  // taken by the system from each resident CTA's share
  int named_barriers_per_cta;
  int max_cluster_portable;
  int max_cluster;  // with the non-portable attribute
  int64_t max_grid_x, max_grid_yz;
  int max_cta_x, max_cta_y, max_cta_z;
  int max_parameter_bytes;
  int min_setmaxnreg, max_setmaxnreg;  // registers per thread that setmaxnreg takes, in allocation units
  int max_access_bits;                 // of one load or store of a lane
  int max_mbarrier_count;              // arrivals that an mbarrier can expect
  int max_box;                         // elements of a tensor copy along one dimension
  int max_box_pixels;                  // the same of im2col's pixels

  // The tensor core's matrix product of a warpgroup.
  int mma_warps;         // that take part in one
  int mma_m;             // rows of the result
  int mma_max_n;         // columns
  int mma_n_step;        // columns are a multiple of it
  int mma_k_bytes;       // of a row of A in one instruction
  int max_accumulators;  // 32-bit registers of a thread for results: the rest addresses and counts
  bool has_wgmma;
  // Tensor memory of an SM, in columns of 32 bits; 0: none, and no tcgen05.
  int tensor_lanes, tensor_columns;
  int tensor_unit_columns;  // of allocation
  bool has_tcgen05() const { return tensor_columns != 0; }

  // Units of allocation.
  int register_unit_per_warp;  // registers
  int register_unit_per_thread;
  int shared_unit_bytes;
  int warp_size;
};

std::span<const ArchSpec> architectures();
// Null when there is none of that name; names are those of architectures().
const ArchSpec* find_arch(std::string_view name);
// The chip that kernels are for when no other is named: an H200.
const ArchSpec& default_arch();
// A chip that runs code for a `.target` ("sm_100a"): the default one if it does, else the first of
// architectures(); null: none does.
const ArchSpec* chip_for(std::string_view target);

// Whether setmaxnreg may name this count.
constexpr bool setmaxnreg_takes(const ArchSpec& arch, int64_t count) {
  return count >= arch.min_setmaxnreg && count <= arch.max_setmaxnreg &&
         count % arch.register_unit_per_thread == 0;
}

// One line of the table that people read: `palladion list`, reports.
struct ArchFact {
  std::string_view name;
  std::string value;
  std::string_view unit;
  std::string_view source;
};
std::vector<ArchFact> facts(const ArchSpec& arch);

// ---- occupancy -----------------------------------------------------------------------------------
struct CtaResources {
  int threads = 1;
  int registers_per_thread = 0;
  int64_t shared_bytes = 0;  // static and dynamic
  int barriers = 1;          // named barriers used, 0 to 16
};

enum class OccupancyLimit : uint8_t { ctas, warps, registers, shared, barriers };
std::string_view name(OccupancyLimit limit);

struct Occupancy {
  int ctas_per_sm = 0;               // 0: not even one fits
  OccupancyLimit limit{};            // the scarcest resource
  int64_t shared_bytes_per_cta = 0;  // allocated, the reserve included
  int registers_per_warp = 0;        // allocated
  std::string reason;                // why no CTA fits; empty otherwise
};
Occupancy occupancy(const ArchSpec& arch, const CtaResources& cta);

}  // namespace palladion::isa
