#pragma once
// A chip that does not exist: what depends on a chip must follow its numbers, not an H200's.
#include <array>

#include "isa/arch/arch.h"

namespace palladion::test {

inline const isa::ArchSpec& small_chip() {
  static constexpr std::array<uint8_t, 2> tpcs = {2, 2};
  static const isa::ArchSpec chip = [] {
    isa::ArchSpec a = isa::default_arch();
    a.name = "small";
    a.chip = "made up";
    a.sm = 95;
    a.ptx_target = "sm_95a";
    a.sm_count = 8;
    a.gpc_tpcs = tpcs;
    a.sms_per_cpc = 4;
    a.l2_partitions = 1;
    a.first_tpcs = 1;
    a.registers_per_sm = 16 * 1024;
    a.shared_bytes_per_sm = 96 * 1024;
    a.max_threads_per_cta = 256;
    a.max_registers_per_thread = 127;
    a.max_shared_bytes_per_cta = 64 * 1024;
    a.static_shared_bytes_per_cta = 32 * 1024;
    a.reserved_shared_bytes_per_cta = 2048;
    a.named_barriers_per_cta = 8;
    a.max_cluster = 4;
    a.max_setmaxnreg = 128;
    a.max_mbarrier_count = 1000;
    a.max_box = 64;
    a.mma_max_n = 64;
    a.max_accumulators = 96;
    return a;
  }();
  return chip;
}

// Its clock: an H200's with less of everything, and no DSMEM.
inline constexpr std::string_view small_clock = R"(# what the small chip has, as far as it differs
inherit h200
without dsm
l2.slices = 8 slices | - | - | made up
l2.bytes_per_cycle = 400 bytes/cycle | - | - | made up
launch.cluster_sms = 8 SMs | - | - | made up
)";

}  // namespace palladion::test
