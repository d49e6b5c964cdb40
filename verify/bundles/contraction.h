// Whether ptxas may have contracted other sums than the machine, which explains other bits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/program/program.h"
#include "verify/launch/job.h"

namespace palladion::verify {

// Of the sums of floats in a program, by their lines of PTX: what ptxas made of them, beside the machine.
struct SumsOfPtxas {
  uint32_t alike = 0;
  std::vector<uint32_t> contracted;  // by ptxas, not by the machine
  std::vector<uint32_t> rounded;     // not by ptxas, but by the machine
  std::vector<uint32_t> mixed;       // some copies that ptxas made: it unrolled a loop
};
// `machine_code`: nvdisasm's text with the lines of the PTX. Sums that ptxas removed are left out.
SumsOfPtxas sums_of_ptxas(const sim::Program& program, std::string_view entry, std::string_view machine_code);

// Lines, each behind a line break: sums that the rule does not decide; then ptxas' own answer, where this
// host has ptxas and nvdisasm. Empty for a program without sums of floats.
std::string contraction_note(const Job& job, const isa::ArchSpec& arch);

}  // namespace palladion::verify
