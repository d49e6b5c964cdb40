#pragma once
// Synchronisation that a right program does not need: what can be deleted, and the program stays right under
// all schedules.
#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "sim/mutate/mutate.h"
#include "verify/check.h"

namespace palladion::verify {

// One instruction, or a pair of them, that can be deleted by itself; not of necessity together with others.
struct Redundancy {
  sim::check::Mutant mutant;    // what is deleted
  sim::check::DataScope scope;  // for which data it can go
  int64_t cycles = 0;           // fewer of the SM clock, under the `hardware` schedule
};

struct RedundancyReport {
  std::vector<Redundancy> redundant;  // the most cycles first
  uint64_t examined = 0;              // deletions that were tried
  uint64_t cycles = 0;                // of the original
  bool interrupted = false;           // by Progress::stop
};

// After each deletion.
struct RedundancyStep {
  size_t done = 0, deletions = 0;
};

// Why nothing was deleted.
struct NoRedundancy {
  enum class Why : uint8_t { refused, not_right, not_decided, interrupted };
  Why why = Why::interrupted;
  isa::Diagnostics errors = {};  // of a launch that the machine refused
};

// The original must be right under all schedules. `request` is that of its check; a deletion is checked in
// the same way, its outputs are compared with the original's.
tl::expected<RedundancyReport, NoRedundancy> find_redundant(const Job& job, const isa::ArchSpec& arch,
                                                            const CheckRequest& request = {},
                                                            const Progress<RedundancyStep>& progress = {});

}  // namespace palladion::verify
