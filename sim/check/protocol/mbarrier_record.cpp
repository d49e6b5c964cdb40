#include "sim/check/protocol/mbarrier_record.h"

#include <set>

namespace palladion::sim::check {
namespace {

// One call site whose copies come from several warps: each delivers what was expected once.
bool issued_by_many(const MbarrierPhase& p) {
  std::set<uint32_t> warps, pcs;
  for (const Signal& s : p.signals) {
    if (s.delivered == 0) continue;
    warps.insert(uint32_t{s.origin.cta_rank} << 16 | s.origin.warp);
    pcs.insert(s.origin.pc);
  }
  return warps.size() > 1 && pcs.size() == 1 && p.delivered() % p.expected() == 0;
}

}  // namespace

Code bytes_code(const MbarrierPhase& phase) {
  const int64_t expected = phase.expected(), delivered = phase.delivered();
  if (expected == 0) return Code::missing_expect_tx;
  if (issued_by_many(phase)) return Code::duplicate_copy;
  int64_t inside = 0;
  for (const Signal& s : phase.signals) inside += s.inside;
  return inside == expected && inside < delivered ? Code::expected_valid_part_only
                                                  : Code::wrong_expected_bytes;
}

// Keeps the memory of an older phase.
void MbarrierPhase::begin(int64_t phase) {
  number = phase;
  signals.clear();
  observers.clear();
  announcements.clear();
  operations.clear();
  arrived.assign(arrived.size(), 0);
  forced = true;
}

int64_t MbarrierPhase::expected() const {
  int64_t sum = 0;
  for (const Signal& s : signals) sum += s.expected;
  return sum;
}

int64_t MbarrierPhase::delivered() const {
  int64_t sum = 0;
  for (const Signal& s : signals) sum += s.delivered;
  return sum;
}

uint32_t MbarrierPhase::arrivals() const {
  uint32_t sum = 0;
  for (const Signal& s : signals) sum += s.arrivals;
  return sum;
}

}  // namespace palladion::sim::check
