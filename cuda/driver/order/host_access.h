#pragma once
// Accesses of the host to pinned and managed memory. While an operation in flight touches such memory, the
// pages of it are closed to the program: what it reads or writes there comes to `judge_host` first.
#include "cuda/order/in_flight.h"

namespace palladion::cuda::driver {

// The pages of what was touched are closed.
void close_to_host(const order::Touched& touched);
// Only those stay closed that what is in flight touches.
void open_to_host(const order::InFlight& in_flight);

}  // namespace palladion::cuda::driver
