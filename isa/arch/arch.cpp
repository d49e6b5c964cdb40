#include "isa/arch/arch.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isa/arch/target.h"

namespace palladion::isa {
namespace {

// Limits common to compute capability 9.0: CUDA programming guide, "Technical Specifications per
// Compute Capability"; allocation units: CUDA's cuda_occupancy.h (13.0).
// 66 of 72 TPCs, over the GPCs as evenly as can be: which GPCs lack one differs from chip to chip.
constexpr std::array<uint8_t, 8> tpcs_of_132_sms = {9, 9, 8, 8, 8, 8, 8, 8};

constexpr ArchSpec compute_90(std::string_view name, std::string_view chip) {
  ArchSpec a{};
  a.name = name;
  a.chip = chip;
  a.sm = 90;
  a.ptx_target = "sm_90a";
  a.sms_per_tpc = 2;
  a.sms_per_cpc = 6;
  a.l2_partitions = 2;
  a.first_tpcs = 4;
  a.sub_cores = 4;
  a.max_threads_per_sm = 2048;
  a.max_warps_per_sm = 64;
  a.max_ctas_per_sm = 32;
  a.registers_per_sm = 64 * 1024;
  a.shared_bytes_per_sm = 228 * 1024;
  a.barriers_per_sm = 64;  // cuda_occupancy.h: twice the CTA limit
  a.max_threads_per_cta = 1024;
  a.max_registers_per_thread = 255;
  a.max_shared_bytes_per_cta = 227 * 1024;
  a.static_shared_bytes_per_cta = 48 * 1024;
  a.reserved_shared_bytes_per_cta = 1024;
  a.named_barriers_per_cta = 16;
  a.max_cluster_portable = 8;
  a.max_cluster = 16;
  a.max_grid_x = (int64_t{1} << 31) - 1;
  a.max_grid_yz = 65535;
  a.max_cta_x = 1024;
  a.max_cta_y = 1024;
  a.max_cta_z = 64;
  a.max_parameter_bytes = 32764;  // PTX 8.1 and CUDA 12.1 on; 4352 before
  a.min_setmaxnreg = 24;
  a.max_setmaxnreg = 256;
  a.max_access_bits = 128;
  a.max_mbarrier_count = (1 << 20) - 1;
  a.max_box = 256;
  a.max_box_pixels = 1024;
  a.mma_warps = 4;
  a.mma_m = 64;
  a.mma_max_n = 256;
  a.mma_n_step = 8;
  a.mma_k_bytes = 32;
  a.max_accumulators = 240;
  a.has_wgmma = true;
  a.register_unit_per_warp = 256;
  a.register_unit_per_thread = 8;
  a.shared_unit_bytes = 128;
  a.warp_size = 32;
  return a;
}

constexpr ArchSpec h100() {
  ArchSpec a = compute_90("h100", "NVIDIA H100 80GB HBM3");  // SXM5
  a.sm_count = 132;
  a.gpc_tpcs = tpcs_of_132_sms;
  a.l2_bytes = 50 * 1024 * 1024;
  a.memory_bytes = int64_t{80} << 30;
  a.memory_gb_per_s = 3350;
  a.sm_clock_mhz = 1980;
  a.memory_clock_mhz = 2619;
  return a;
}

constexpr ArchSpec h200() {
  ArchSpec a = compute_90("h200", "NVIDIA H200");
  a.measured = true;
  a.sm_count = 132;
  a.gpc_tpcs = tpcs_of_132_sms;
  a.l2_bytes = 60 * 1024 * 1024;
  a.memory_bytes = int64_t{143771} << 20;  // as the driver reports; sold as 141 GB
  a.memory_gb_per_s = 4800;
  a.sm_clock_mhz = 1980;
  a.memory_clock_mhz = 3201;
  return a;
}

// 74 of 80 TPCs of two dies with four GPCs each, as evenly as can be: which GPCs lack some differs from chip
// to chip.
constexpr std::array<uint8_t, 8> tpcs_of_148_sms = {10, 10, 9, 9, 9, 9, 9, 9};

// Compute capability 10.0 and 10.3: the limits of 9.0 (CUDA programming guide, "Technical Specifications per
// Compute Capability") but for accesses of 256 bits and tensor memory instead of wgmma (PTX, "ld", "Tensor
// Memory").
constexpr ArchSpec compute_100(std::string_view name, std::string_view chip) {
  ArchSpec a = compute_90(name, chip);
  a.sm = 100;
  a.ptx_target = "sm_100a";
  a.max_access_bits = 256;
  a.has_wgmma = false;
  a.tensor_lanes = 128;
  a.tensor_columns = 512;
  a.tensor_unit_columns = 32;
  a.sm_count = 148;
  a.gpc_tpcs = tpcs_of_148_sms;
  a.l2_bytes = 126 * 1024 * 1024;
  return a;
}

constexpr ArchSpec b200() {
  ArchSpec a = compute_100("b200", "NVIDIA B200");
  a.memory_bytes = int64_t{180} << 30;
  a.memory_gb_per_s = 8000;
  a.sm_clock_mhz = 1965;
  a.memory_clock_mhz = 3996;
  return a;
}

constexpr ArchSpec b300() {
  ArchSpec a = compute_100("b300", "NVIDIA B300");
  a.sm = 103;
  a.ptx_target = "sm_103a";
  a.memory_bytes = int64_t{268} << 30;
  a.memory_gb_per_s = 8000;
  a.sm_clock_mhz = 2032;
  a.memory_clock_mhz = 3996;
  return a;
}

constexpr std::array<ArchSpec, 4> chips = {h100(), h200(), b200(), b300()};

constexpr int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

std::span<const ArchSpec> architectures() { return chips; }

const ArchSpec* find_arch(std::string_view name) {
  const auto found = std::ranges::find(chips, name, &ArchSpec::name);
  return found == chips.end() ? nullptr : &*found;
}

const ArchSpec& default_arch() { return *find_arch("h200"); }

const ArchSpec* chip_for(std::string_view target) {
  const auto runs = [&](const ArchSpec& arch) { return provides(arch.ptx_target, target); };
  if (runs(default_arch())) return &default_arch();
  const auto found = std::ranges::find_if(chips, runs);
  return found == chips.end() ? nullptr : &*found;
}

std::vector<ArchFact> facts(const ArchSpec& a) {
  const std::string_view guide = a.sm == 90    ? "CUDA programming guide, compute capability 9.0"
                                 : a.sm == 100 ? "CUDA programming guide, compute capability 10.0"
                                               : "CUDA programming guide, compute capability 10.3";
  constexpr std::string_view sheet = "NVIDIA data sheet";
  constexpr std::string_view occupancy_header = "cuda_occupancy.h of CUDA 13.0";
  const std::string_view device = a.measured ? "device attribute, read on an H200, driver 580" : sheet;
  const auto text = [](auto value) { return fmt::format("{}", value); };
  return {
      {"chip", std::string(a.chip), "", device},
      {"PTX target", std::string(a.ptx_target), "", guide},
      {"SMs", text(a.sm_count), "", device},
      {"GPCs", text(a.gpc_count()), "", "published microbenchmarks"},
      {"TPCs of the GPCs", fmt::format("{}", fmt::join(a.gpc_tpcs, " ")), "", "assumed: as even as can be"},
      {"SMs per TPC", text(a.sms_per_tpc), "", "H100 architecture white paper"},
      {"SMs per CPC", text(a.sms_per_cpc), "", "published microbenchmarks"},
      {"L2 partitions", text(a.l2_partitions), "", "H100 architecture white paper"},
      {"TPCs filled first", text(a.first_tpcs), "", "%smid of small grids"},
      {"sub-cores per SM", text(a.sub_cores), "", "H100 architecture white paper"},
      {"L2", text(a.l2_bytes), "bytes", device},
      {"memory", text(a.memory_bytes), "bytes", device},
      {"memory bandwidth, peak", text(a.memory_gb_per_s), "GB/s", sheet},
      {"SM clock, maximum", text(a.sm_clock_mhz), "MHz", device},
      {"memory clock", text(a.memory_clock_mhz), "MHz", device},
      {"threads per SM", text(a.max_threads_per_sm), "", guide},
      {"warps per SM", text(a.max_warps_per_sm), "", guide},
      {"CTAs per SM", text(a.max_ctas_per_sm), "", guide},
      {"registers per SM", text(a.registers_per_sm), "32-bit registers", guide},
      {"shared memory per SM", text(a.shared_bytes_per_sm), "bytes", guide},
      {"barriers per SM", text(a.barriers_per_sm), "", occupancy_header},
      {"threads per CTA", text(a.max_threads_per_cta), "", guide},
      {"registers per thread", text(a.max_registers_per_thread), "32-bit registers", guide},
      {"shared memory per CTA", text(a.max_shared_bytes_per_cta), "bytes", guide},
      {"shared memory reserved per CTA", text(a.reserved_shared_bytes_per_cta), "bytes", guide},
      {"named barriers per CTA", text(a.named_barriers_per_cta), "", "PTX ISA, barrier"},
      {"CTAs per cluster, portable", text(a.max_cluster_portable), "", guide},
      {"CTAs per cluster, non-portable", text(a.max_cluster), "", guide},
      {"kernel parameters", text(a.max_parameter_bytes), "bytes", "PTX ISA, .param space"},
      {"setmaxnreg", fmt::format("{} to {}", a.min_setmaxnreg, a.max_setmaxnreg), "registers per thread",
       "PTX ISA, setmaxnreg"},
      {"widest access of a lane", text(a.max_access_bits), "bits", "PTX ISA, ld"},
      {"arrivals at an mbarrier", text(a.max_mbarrier_count), "", "PTX ISA, mbarrier.init"},
      {"box of a tensor copy", text(a.max_box), "elements a dimension",
       "CUDA driver API, cuTensorMapEncodeTiled"},
      {"pixels of an im2col copy", text(a.max_box_pixels), "", "CUDA driver API, cuTensorMapEncodeIm2col"},
      {"tensor memory", fmt::format("{} x {}", a.tensor_lanes, a.tensor_columns),
       "lanes x columns of 32 bits", "PTX ISA, tensor memory"},
      {"wgmma", fmt::format("m{}n{}k{}", a.mma_m, a.mma_max_n, a.mma_k_bytes / 2), "16-bit elements, largest",
       "PTX ISA, wgmma"},
      {"warps of a wgmma", text(a.mma_warps), "", "PTX ISA, wgmma"},
      {"registers for accumulators", text(a.max_accumulators), "32-bit registers",
       "what ptxas leaves of 255"},
      {"register allocation unit", text(a.register_unit_per_warp), "registers per warp", occupancy_header},
      {"shared memory allocation unit", text(a.shared_unit_bytes), "bytes", occupancy_header},
  };
}

std::string_view name(OccupancyLimit limit) {
  constexpr std::string_view names[] = {"CTAs per SM", "warps per SM", "registers", "shared memory",
                                        "barriers"};
  return names[static_cast<int>(limit)];
}

namespace {

// Empty when the CTA respects the limits of a single CTA.
std::string cta_too_large(const ArchSpec& a, const CtaResources& cta, int64_t registers) {
  if (cta.threads < 1 || cta.threads > a.max_threads_per_cta)
    return fmt::format("{} threads in a CTA, {} allows 1 to {}", cta.threads, a.name, a.max_threads_per_cta);
  if (cta.registers_per_thread > a.max_registers_per_thread)
    return fmt::format("{} registers per thread, {} allows {}", cta.registers_per_thread, a.name,
                       a.max_registers_per_thread);
  if (registers > a.registers_per_sm)
    return fmt::format("{} threads with {} registers each need {} registers, an SM of {} has {}", cta.threads,
                       cta.registers_per_thread, registers, a.name, a.registers_per_sm);
  if (cta.shared_bytes > a.max_shared_bytes_per_cta)
    return fmt::format("{} bytes of shared memory in a CTA, {} allows {}", cta.shared_bytes, a.name,
                       a.max_shared_bytes_per_cta);
  if (cta.barriers > a.named_barriers_per_cta)
    return fmt::format("{} named barriers in a CTA, {} has {}", cta.barriers, a.name,
                       a.named_barriers_per_cta);
  return {};
}

}  // namespace

// The hardware checks a single CTA as if its warps were spread evenly over the sub-cores; the count of
// resident CTAs then follows from whole warps per sub-core (cuda_occupancy.h).
Occupancy occupancy(const ArchSpec& a, const CtaResources& cta) {
  const int64_t warps = (cta.threads + a.warp_size - 1) / a.warp_size;
  const int64_t per_warp =
      round_up(int64_t{cta.registers_per_thread} * a.warp_size, a.register_unit_per_warp);
  Occupancy result;
  result.registers_per_warp = static_cast<int>(per_warp);
  result.shared_bytes_per_cta =
      round_up(cta.shared_bytes + a.reserved_shared_bytes_per_cta, a.shared_unit_bytes);
  result.reason = cta_too_large(a, cta, per_warp * round_up(warps, a.sub_cores));
  if (!result.reason.empty()) return result;

  std::array<int64_t, 5> most;
  most.fill(a.max_ctas_per_sm);
  const auto limit = [&](OccupancyLimit which) -> int64_t& { return most[static_cast<int>(which)]; };
  limit(OccupancyLimit::warps) = a.max_warps_per_sm / warps;
  if (per_warp > 0)
    limit(OccupancyLimit::registers) = a.registers_per_sm / a.sub_cores / per_warp * a.sub_cores / warps;
  limit(OccupancyLimit::shared) = a.shared_bytes_per_sm / result.shared_bytes_per_cta;
  if (cta.barriers > 0) limit(OccupancyLimit::barriers) = a.barriers_per_sm / cta.barriers;
  const auto scarcest = std::ranges::min_element(most);
  result.ctas_per_sm = static_cast<int>(*scarcest);
  result.limit = static_cast<OccupancyLimit>(scarcest - most.begin());
  return result;
}

}  // namespace palladion::isa
