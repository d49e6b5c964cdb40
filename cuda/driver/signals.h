#pragma once
// Signals that come while launches wait. A program whose host waits where this library does not see it, for a
// lock or a socket, is ended by its user: then the waiting launches end first, as deadlocks, so that the
// report says what they wait for.
#include <string>

namespace palladion::cuda::driver {

// From the first launch that waits to the end of the last one. SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM and
// SIGXCPU are caught meanwhile. One that the program leaves to the system ends the launches, and then the
// program; one that the program handles is handed to it, and ends the launches when it comes again, unless it
// is a clock's.
// So does an `_exit` of the program under `palladion exec`. The lock of the state is held.
void heed_signals();
void leave_signals();

}  // namespace palladion::cuda::driver
