#pragma once
// Findings about arbitrary values: of loads that race, of shared memory that nothing has written. The launch
// runs again, under the schedule that showed the finding, with other values in their place, three times for
// each finding; where the reads are executed and nothing changes that the host can see, it is strict.
#include "verify/check.h"

namespace palladion::verify {

// Of different values that threads store at one place: where all are sums of the same terms, it is strict.
void examine_values(const TrialSetup& setup, CheckReport& report);

// Of equal values that threads store at one place: where they need not be equal with other data,
// `report.data` says so.
void examine_copies(const TrialSetup& setup, CheckReport& report);

}  // namespace palladion::verify
