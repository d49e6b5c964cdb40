// Conversions of addresses between spaces, and questions about them.
#include <fmt/format.h>

#include "sim/machine/exec/handlers.h"
#include "sim/machine/state/local_address.h"

namespace palladion::sim {

namespace {
uint64_t window_of(const Exec& x, isa::Space space, bool kernel_params) {
  switch (space) {
    case isa::Space::shared_cta:
    case isa::Space::shared_cluster:
      return shared_window;
    case isa::Space::param:
      return kernel_params ? x.launch.param_base : local_window;
    default:
      return 0;
  }
}

void write_integer(const Exec& x, const DecodedOperand& d, int lane, uint64_t v) {
  if (d.width == 64)
    x.lanes<uint64_t>(d)[lane] = v;
  else
    x.lanes<uint32_t>(d)[lane] = static_cast<uint32_t>(v);
}

// Each thread has a part of the window.
Step convert_local(const Exec& x, const DecodedOperand& d, const DecodedOperand& s, bool to_generic) {
  const uint64_t cta = uint64_t{x.cluster.index} * x.cluster.ctas.size() + x.cta->rank;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t a = x.lane_value(s, i);
    const bool local = space_of(a) == isa::Space::local;
    const uint64_t base = local_base(cta, x.warp->id * 32 + static_cast<uint32_t>(i));
    write_integer(x, d, i, to_generic ? a + base : local ? local_offset(a) : a - local_window);
  }
  return Step::next;
}
}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::ConvertAddress& e) {
  const DecodedOperand &d = op.operands[e.dst], &s = op.operands[e.src];
  if (e.space == isa::Space::local) return convert_local(x, d, s, e.to_generic);
  const uint64_t window = window_of(x, e.space, x.program.module->functions[op.function].entry);
  if (d.width == 64 && s.width == 64 && x.active == ~0U) {
    const auto* from = x.lanes<uint64_t>(s);
    auto* to = x.lanes<uint64_t>(d);
    const uint64_t add = e.to_generic ? window : 0 - window;
    for (int i = 0; i < 32; ++i) to[i] = from[i] + add;
    return Step::next;
  }
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t a = x.lane_value(s, i);
    write_integer(x, d, i, e.to_generic ? a + window : a - window);
  }
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::IsSpace& e) {
  uint32_t yes = 0;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t a = x.lane_value(op.operands[e.address], i);
    const isa::Space s = space_of(a);
    bool is = s == e.space;
    if (e.space == isa::Space::shared_cta)
      is = s == isa::Space::shared_cluster && static_cast<uint32_t>(a) >> cta_rank_shift == x.cta->rank;
    if (e.space == isa::Space::const_) is = false;
    if (e.space == isa::Space::param)
      is = s == isa::Space::global && a - x.launch.param_base < x.launch.params.size();
    yes |= static_cast<uint32_t>(is) << i;
  }
  uint32_t& d = x.predicate(op.operands[e.dst]);
  d = (d & ~x.active) | yes;
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::MapShared& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t a = x.lane_value(op.operands[e.address], i), rank = x.lane_value(op.operands[e.rank], i);
    if (rank >= x.cluster.ctas.size())
      return x.fault(Code::cta_rank,
                     fmt::format("mapa to CTA rank {} in a cluster of {}", rank, x.cluster.ctas.size()));
    const uint64_t mapped = (a & shared_offset_mask) | rank << cta_rank_shift;
    write_integer(x, op.operands[e.dst], i, e.generic ? shared_window + mapped : mapped);
  }
  return Step::next;
}

Step exec(Exec& x, const MicroOp& op, const isa::GetCtaRank& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const auto a = static_cast<uint32_t>(x.lane_value(op.operands[e.address], i));
    write_integer(x, op.operands[e.dst], i, a >> cta_rank_shift);
  }
  return Step::next;
}

}  // namespace palladion::sim
