#pragma once
// Runs without the tensors' contents (Values::none): control flow, addresses, barriers and the protocol of
// asynchronous operations are exact, tensor data are neither moved nor computed.
//
// A program is rewritten once, before it runs; schedules are unaffected. Pure instructions on tensor data
// do nothing. Loads, stores and asynchronous operations on them check their addresses and follow their
// protocol without touching the bytes (MicroOp::moves). Weak stores to GMEM are not performed either, unless
// control reads GMEM. What control reads from memory is checked when it is read: `unmaterialised` of CTAs and
// of GlobalMemory marks the missing bytes.
//
// Known in shared memory: what ordinary stores, atomics and st.async of known values wrote (a tile index that
// one warp broadcasts), the initial zeros, mbarriers. Not known: the results of copies, even from known
// sources; values that passed through shared memory twice.
#include <string>

#include "sim/program/program.h"

namespace palladion::sim {

// Rewrites the program; or returns why it cannot run without values (Code::values_needed, three at most).
isa::Diagnostics drop_values(Program& program);

// "the branch at line 12"
std::string describe_need(const Program& program, Pc pc, int operand, bool address);

}  // namespace palladion::sim
