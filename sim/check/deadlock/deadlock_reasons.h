#pragma once
// Which known cause of deadlock applies to a waiter, or to a cycle of waiters.
#include <cstdint>
#include <string>
#include <vector>

#include "sim/check/deadlock/deadlock_graph.h"

namespace palladion::sim::check {

struct Reason {
  Code code = Code::none;  // none: no known cause
  // How much it explains: the reasons of several waiters compete.
  enum class Weight : uint8_t { nothing, spin, residency, cycle, orphan, certain } weight = Weight::nothing;
  bool waits_for_host = false;   // rather than for a thread of the kernel: no deadlock
  uint32_t root = 0;             // a waiter
  std::vector<uint32_t> cycle;   // when it is one
  std::vector<Origin> culprits;  // sites to show beside the waiters
  Statement message, missing;
  Statement help;  // empty: the code's
  std::vector<Statement> notes;
};

// The best reason why this cluster is deadlocked.
Reason find_reason(const WaitGraph& graph, bool more_clusters);

}  // namespace palladion::sim::check
