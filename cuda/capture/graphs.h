#pragma once
// CUDA graphs: of each executable graph a clone of what it was made of is kept. When a kernel that is wanted
// lies in it, its nodes are launched one by one, in an order that its edges allow.
#include "cuda/capture/driver.h"

namespace palladion::cuda::capture {

// `exec` was made of `graph`, or updated to it.
void instantiated(Handle exec, Handle graph);
void destroyed(Handle exec);
void enabled(Handle exec, Handle node, bool is_enabled);

// The node of the clone that stands for a node of the graph. Null: there is none; then the clone is out of
// step, and `call` is named where the graph is not recorded for that reason.
Handle node_in_clone(Handle exec, Handle node, const char* call);
void out_of_step(Handle exec, const char* call);

// Launches the nodes one by one when a kernel among them is to be recorded. False: nothing was done.
bool launch_nodes(Handle exec, Handle stream, Status& result);

}  // namespace palladion::cuda::capture
