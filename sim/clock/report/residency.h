#pragma once
// How many CTAs of a launch the chip holds at once, and what is in the way of one more.
#include <cstdint>
#include <string_view>
#include <vector>

#include "isa/arch/arch.h"
#include "isa/arch/clock.h"
#include "isa/core/module.h"

namespace palladion::sim {

// What an SM may have too little of for one CTA more.
enum class SmResource : uint8_t { shared, registers, warps, barriers, tensor_memory };
std::string_view name(SmResource resource);  // "shared memory"
std::string_view unit(SmResource resource);  // "bytes a CTA"

struct ScarceResource {
  SmResource resource{};
  uint64_t taken = 0;  // of its unit
  uint64_t most = 0;   // with which one CTA more fits; 0: with none
};

struct Residency {
  uint64_t clusters = 0;  // of the launch
  uint64_t at_once = 0;   // clusters that the chip has room for
  uint32_t ctas_per_cluster = 1, ctas_per_sm = 0;
  uint64_t sms = 0;                    // of the chip
  std::vector<ScarceResource> scarce;  // each that is in the way of one more CTA an SM

  uint64_t waves() const { return at_once == 0 ? 0 : (clusters + at_once - 1) / at_once; }
  uint64_t last_wave() const { return waves() == 0 ? 0 : clusters - (waves() - 1) * at_once; }
  // The share of the room of all waves that the last one leaves empty.
  double empty_share() const;
};

struct ResidencyQuestion {
  const isa::Module* module = nullptr;
  std::string_view entry;  // empty: the module's only one
  isa::Dim3 grid, block, cluster;
  uint32_t dynamic_shared = 0;  // bytes a CTA
  uint32_t registers = 0;       // a thread
};
// `clock` says how many SMs take clusters of more than two CTAs.
Residency residency_of(const ResidencyQuestion& question, const isa::ArchSpec& arch,
                       const isa::ClockParameters& clock);

// The chip with room for one CTA more on each SM, if its warps and its tensor memory allow; nothing else
// differs.
isa::ArchSpec with_room_for_one_more(const isa::ArchSpec& arch, const Residency& residency);

}  // namespace palladion::sim
