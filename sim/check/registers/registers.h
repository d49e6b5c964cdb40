#pragma once
// Registers that are read before they were written (UN-03, WG-11) and the register pool of setmaxnreg
// (RS-02).
#include <vector>

#include "sim/check/core/context.h"
#include "sim/check/registers/registers_analysis.h"

namespace palladion::sim::check {

class UnwrittenRegisters {
 public:
  UnwrittenRegisters(const ClusterContext& context, const UnwrittenAnalysis& analysis);

  // A watched instruction is next for these lanes; its guard has not been evaluated.
  void on(const Reached& event);
  void on(const Executing& event);

 private:
  using Watched = UnwrittenAnalysis::Watched;
  using Lanes = std::vector<uint32_t>;  // by tracked register: the lanes that have not written it

  Lanes& lanes_of(const Origin& origin);
  uint32_t passed_on(const Origin& origin, const Watched& w, const Lanes& unwritten) const;
  uint32_t predicate(const Origin& origin, int operand) const;
  bool accumulates(const Origin& origin) const;
  void judge(const Origin& origin, const Watched& w, const Lanes& unwritten);
  void report(const Origin& origin, const UnwrittenAnalysis::Use& use, uint32_t lanes);

  const ClusterContext& context_;
  const UnwrittenAnalysis& analysis_;
  uint32_t warps_ = 0;  // of a CTA
  std::vector<Lanes> unwritten_;
};

class RegisterPool {
 public:
  explicit RegisterPool(const ClusterContext& context) : context_(context) {}

  void on(const RegistersSet& event);

 private:
  const ClusterContext& context_;
};

}  // namespace palladion::sim::check
