#include "sim/schedule/results.h"

#include "sim/launch/fault.h"
#include "sim/schedule/deadlock.h"

namespace palladion::sim {

bool take_findings(ClusterState& cluster, RunResult& result) {
  bool fatal = false;
  for (Finding& f : cluster.findings) {
    fatal |= f.fatal;
    result.findings.push_back(std::move(f));
  }
  cluster.findings.clear();
  return fatal;
}

bool take_results(ClusterState& cluster, RunResult& result) {
  result.instructions += cluster.instructions;
  result.printed += cluster.printed;
  constexpr size_t most_asserted = 1 << 20;  // the size of the device's buffer for printf
  if (result.asserted.size() < most_asserted) result.asserted += cluster.asserted;
  return take_findings(cluster, result);
}

void report_deadlock(const Program& program, const GlobalMemory& memory,
                     std::span<const ClusterState* const> resident, bool more_clusters, Observer* observer,
                     RunResult& result) {
  Finding f = describe_deadlock(program, memory, resident, more_clusters);
  if (observer != nullptr) observer->deadlocked(resident, more_clusters, f);
  result.findings.push_back(std::move(f));
  result.deadlocked = true;
}

Finding given_up(uint64_t instructions) {
  Finding f = fault(Code::gave_up, {}, {}, FindingSeverity::unknown);
  f.what = Endless{Endless::Why::all_warps, instructions};
  return f;
}

}  // namespace palladion::sim
