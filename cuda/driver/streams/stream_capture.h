#pragma once
// Stream capture: which calls its rules allow meanwhile. A call that breaks one makes the sequences that it
// concerns invalid.
#include "cuda/driver/streams/streams.h"

namespace palladion::cuda::driver {

// Whether an operation may be put into the stream, captured or not.
Status may_use(Stream* stream);
// Of an operation that is never captured.
Status may_use_uncaptured(Stream* stream);
// Whether the stream may be asked how far it is, or waited for; the event; all streams.
Status may_wait_for(Stream* stream);
Status may_wait_for(const Event* event);
Status may_wait_for_all();
// Whether a call may be made that capture does not see, as cuMemAlloc: the manual calls these potentially
// unsafe. The mode of the thread, and of the sequences, decides.
Status may_call_unsafe();
// A copy or a fill that is over when its call returns: it is put into the default stream.
Status may_call_synchronous();

bool has_own_default_stream();           // this thread's synchronous calls go there
void forget_in_capture(Stream* stream);  // it is destroyed
void forget_in_capture(const Graph* graph);

}  // namespace palladion::cuda::driver
