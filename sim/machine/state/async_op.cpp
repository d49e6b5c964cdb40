#include "sim/machine/state/async_op.h"

namespace palladion::sim {

isa::AsyncFamily AsyncOp::family() const {
  return std::visit([]<class P>(const P&) { return P::family; }, payload);
}

bool AsyncOp::lands_at_boundary() const {
  return std::visit([](const auto& p) { return p.lands_at_boundary(); }, payload);
}

bool AsyncOp::ready(const ClusterRun& run) const {
  return std::visit([&](const auto& p) { return p.ready(run, *this); }, payload);
}

Traffic AsyncOp::traffic() const {
  Traffic t;
  t.family = family();
  std::visit([&](const auto& p) { p.describe(*this, t); }, payload);
  return t;
}

}  // namespace palladion::sim
