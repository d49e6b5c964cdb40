#pragma once
// Findings about arbitrary values: of loads that race, of shared memory that nothing has written. The launch
// runs again with other values in their place; where no output changes, the finding is strict.
#include "verify/check.h"

namespace palladion::verify {

void examine_values(const TrialSetup& setup, const sim::check::Conditions& conditions, CheckReport& report);

}  // namespace palladion::verify
