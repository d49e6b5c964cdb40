#pragma once
// Findings of the host's side: their common parts, and how they are printed.
#include <string>

#include "cuda/driver/state.h"
#include "cuda/order/in_flight.h"
#include "sim/launch/finding.h"

namespace palladion::cuda::driver {

std::string text_of(const order::Operation& o);    // "fill of 4 bytes in stream 1"
sim::Statement called(const order::Operation& o);  // where the program asked for it; false: not known
// Printed at once; one that was printed before is counted.
void tell(sim::Finding finding);
void tell_incomplete();                            // PLD7006, once
void tell_aliases(Pointer first, Pointer second);  // PLD7010, once: of one memory, both accessible

}  // namespace palladion::cuda::driver
