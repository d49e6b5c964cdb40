#pragma once
// A grid under the clock: which SM gets which cluster when, quanta, the edges between them, the report.
#include <span>

#include "sim/launch/launch.h"
#include "sim/schedule/cluster_runner.h"

namespace palladion::sim::hardware {

struct GridShape {
  uint64_t clusters = 0;
  uint32_t ctas_per_cluster = 1;
  uint32_t ctas_per_sm = 1;          // that fit
  uint32_t shared_bytes = 0;         // a CTA
  std::span<const Address> written;  // arrays, see Launch
};

// Runs all clusters and fills in `result`, its clock included.
void run_grid(const RunContext& context, const RunOptions& options, const isa::ArchSpec& arch,
              const isa::ClockParameters& parameters, const GridShape& shape, RunResult& result);

}  // namespace palladion::sim::hardware
