#pragma once
// A grid under the clock: which SM gets which cluster when, quanta, the boundaries between them, the report.
#include <memory>
#include <vector>

#include "sim/sass/lowered.h"
#include "sim/schedule/grid.h"

namespace palladion::sim::hardware {

struct GridShape {
  uint64_t clusters = 0;
  uint32_t ctas_per_cluster = 1;
  uint32_t ctas_per_sm = 1;      // that fit
  uint32_t shared_bytes = 0;     // a CTA
  std::vector<Address> written;  // arrays, see Launch
};

// Advances a grid by the clock; the result gets the clock's report. `lowered`, of the program, outlives it.
std::unique_ptr<Advance> clocked_groups(const RunContext& context, const RunOptions& options,
                                        const isa::ArchSpec& arch, const isa::ClockParameters& parameters,
                                        const sass::Lowered& lowered, const GridShape& shape);

}  // namespace palladion::sim::hardware
