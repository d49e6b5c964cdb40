#pragma once
// Findings about arbitrary values: of loads that race, of shared memory that nothing has written. Where the
// launch runs again with other values in their place, and nothing changes that the host can see, they are
// strict.
#include <functional>
#include <span>

#include "sim/check/values/other_values.h"
#include "verify/verdict/findings.h"

namespace palladion::verify {

bool can_be_examined(const SeenFinding& s);

enum class Rerun : uint8_t { as_usual, another_output, no_end };
// Runs the launch once more, which `other` observes, and compares what it leaves.
using RunWithOthers = std::function<Rerun(sim::check::OtherValues& other)>;

// Three runs for each finding, one after the other: values of several findings may cancel out. Then all that
// nothing depends on at once: an output may depend on any of several.
void examine(std::span<SeenFinding* const> findings, const RunWithOthers& run);

}  // namespace palladion::verify
