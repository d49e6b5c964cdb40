#pragma once
// Who asks for findings lives in the program's own process: the Python package. It hears each finding as a
// value, clears faults, and reaches device memory for what it computes on the host.
#include "cuda/driver/state.h"

namespace palladion::cuda::driver {

// A finding of a launch, or, without one, of the order of operations. Kept until it is asked for.
void note_finding(const verify::SeenFinding& seen, const LaunchRecord* launch, size_t schedules = 1);
// Whether findings are printed as well.
bool prints_findings();
// A fault is not the end: who listens clears it. What the program frees meanwhile is freed, for a program
// that frees in its destructors (PyTorch) would be ended by the error.
bool clears_faults();

}  // namespace palladion::cuda::driver

// The interface of the Python package (python/palladion/_active.py). Texts are JSON, to be freed by `free`.
extern "C" {
// From now on findings are kept; quiet: they are not printed.
PLD_CUDA palladion_exec_listen(int quiet);
// [{"kernel", "grid", "block": of the launch, "finding": as --json has it, "text"}] since the last call.
__attribute__((visibility("default"))) char* palladion_exec_findings();
// [{"kernel", "grid", "block", "launches", "instructions", "cycles", "microseconds", "incomplete": reasons}]
__attribute__((visibility("default"))) char* palladion_exec_launches();
// The device works again after a kernel failed; gives the error that it had.
PLD_CUDA palladion_exec_clear_fault();
// Launches that wait end, as deadlocks, and one that another thread runs ends where it is: a test has reached
// its limit.
PLD_CUDA palladion_exec_end_launches();
// Launches from now on run under this schedule; invalid_value: there is none of this name.
PLD_CUDA palladion_exec_schedule(const char* name);
// Where the host finds the bytes of device memory, which it reads and, with `writes`, is about to write;
// null: they are no memory of the device. The caller has waited for what uses them (memory/host_view.cpp).
__attribute__((visibility("default"))) void* palladion_exec_host_view(palladion::cuda::driver::Pointer p,
                                                                      size_t bytes, int writes);
}
