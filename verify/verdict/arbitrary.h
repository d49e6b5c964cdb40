#pragma once
// Findings about values, which the launch decides when it runs again. Of loads that race, and of shared
// memory that nothing has written, they are arbitrary: where nothing changes that the host can see with
// others in their place, the finding is strict. Of stores at one place they may be copies of one sum, added
// in different orders: where all are sums of the same terms, the finding is strict.
#include <functional>
#include <set>
#include <span>

#include "sim/check/values/other_values.h"
#include "verify/verdict/findings.h"

namespace palladion::verify {

// An error about different values that threads store at one place; about values that are read.
bool is_about_stores(const SeenFinding& s);
bool is_about_reads(const SeenFinding& s);
inline bool can_be_examined(const SeenFinding& s) { return is_about_stores(s) || is_about_reads(s); }

enum class Rerun : uint8_t { as_usual, another_output, no_end };
// Runs the launch once more, which `other` observes, and compares what it leaves.
using RunWithOthers = std::function<Rerun(sim::Observer& other)>;

// Where the stores of such a finding stand.
std::set<sim::SourcePlace> places_of_stores(const sim::Finding& f);

// One run for all stores. Three runs for each finding about arbitrary values, one after the other: values of
// several findings may cancel out. Then all that nothing depends on at once: an output may depend on any of
// several.
void examine(std::span<SeenFinding* const> findings, const RunWithOthers& run);

}  // namespace palladion::verify
