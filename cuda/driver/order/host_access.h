#pragma once
// Accesses of the host to memory of the machine. While an operation in flight touches pinned or managed
// memory, the pages of it are closed to the program: what it reads or writes there comes to `judge_host`
// first. At addresses of the device's own memory the program has no pages: `tell_host_fault`.
#include "cuda/order/in_flight.h"

namespace palladion::cuda::driver {

// From here on faults of the host are looked at.
void watch_host();
// The pages of what was touched are closed.
void close_to_host(const order::Touched& touched);
// Only those stay closed that what is in flight touches.
void open_to_host(const order::InFlight& in_flight);

}  // namespace palladion::cuda::driver
