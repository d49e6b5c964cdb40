#pragma once
// try_waits that ask early: the result says only whether a later wait can be skipped. Software pipelines ask
// for the next stage, do other work, and wait if the answer was no.
#include <cstdint>
#include <map>
#include <vector>

#include "sim/program/program.h"

namespace palladion::sim {

class EarlyWaits {
 public:
  EarlyWaits() = default;
  explicit EarlyWaits(const Program& program);

  // By pc of a try_wait that asks early: the waits that its answer may skip, by pc. Each acquires as it does.
  const std::map<Pc, std::vector<Pc>>& skipped() const { return skipped_; }
  bool asks(Pc pc) const { return skipped_.contains(pc); }

 private:
  std::map<Pc, std::vector<Pc>> skipped_;
};

}  // namespace palladion::sim
