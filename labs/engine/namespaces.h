// Namespaces of Linux for a process that handles a submission, as far as this kernel gives them.
#pragma once

#include "labs/engine/sandbox.h"

namespace palladion::labs {

// For the process that is forked next: a namespace of processes of its own, which all end with its first one.
// For code that is not ours also: no network, no message queues of others, and a file system that can be
// written below `limits.writable` alone. The names of those that were given.
Confined own_namespaces(const Limits& limits);

}  // namespace palladion::labs
