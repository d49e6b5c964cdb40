#pragma once
// Errors of a launch about arbitrary values, of loads that race and of shared memory that nothing has
// written: where no output depends on them they are strict, as `palladion check` has them.
#include <vector>

#include "cuda/driver/order/undefined.h"

namespace palladion::cuda::driver {

// Runs a launch again with other values; the memory is left as it is. A kernel of which an output has
// depended on them is not tried again: its errors stay.
void examine_values(const Launched& launch, std::vector<sim::Finding>& findings);

}  // namespace palladion::cuda::driver
