#include "sim/check/values/other_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>

#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

uint64_t warp_key(uint32_t cluster, uint32_t warp) { return uint64_t{cluster} << 32 | warp; }

// A value of `type` in the bytes of a register: other ones, extended as the load extends.
void change(uint8_t* lane, size_t width, isa::Type type, uint8_t pattern) {
  const auto size = std::min(static_cast<size_t>(isa::bytes(type)), width);
  for (size_t i = 0; i < size; ++i) lane[i] ^= pattern;
  if (isa::is_signed(type)) std::memset(lane + size, lane[size - 1] >= 0x80 ? 0xFF : 0, width - size);
}

}  // namespace

OtherValues::OtherValues(std::span<const RacingRead> reads, bool fill_shared, uint8_t pattern)
    : fill_shared_(fill_shared), pattern_(pattern) {
  for (const RacingRead& r : reads) lanes_[r.pc][warp_key(r.cluster, r.warp)] |= r.lanes;
}

void OtherValues::observe(ClusterState& cluster, ClusterEvents& events) {
  events.add(clusters_.add(cluster, std::make_unique<InCluster>(*this, cluster)));
}

void OtherValues::retire(ClusterState& cluster) { clusters_.take(cluster); }

uint32_t OtherValues::racing(uint32_t pc, uint32_t cluster, uint32_t warp) const {
  const auto at = lanes_.find(pc);
  if (at == lanes_.end()) return 0;
  const auto lanes = at->second.find(warp_key(cluster, warp));
  return lanes == at->second.end() ? 0 : lanes->second;
}

void OtherValues::InCluster::on(const ClusterBegan&) {
  if (!all.fill_shared_) return;
  for (CtaState& cta : cluster.ctas) {
    const size_t first = std::min<size_t>(all.run_.program->reserved_shared, cta.shared.size());
    std::fill(cta.shared.data() + first, cta.shared.data() + cta.shared.size(), all.pattern_);
  }
}

void OtherValues::InCluster::on(const Executed& event) {
  const Origin& origin = event.origin;
  CtaState& cta = cluster.ctas[origin.cta_rank];
  const auto warp = static_cast<uint32_t>(origin.cta_rank * cta.warps.size() + origin.warp);
  const uint32_t lanes = all.racing(origin.pc, cluster.index, warp) & origin.lanes;
  if (lanes == 0) return;
  const MicroOp& op = all.run_.program->code[origin.pc];
  if (!std::holds_alternative<isa::Load>(*op.effect)) return;
  const auto& load = std::get<isa::Load>(*op.effect);
  uint8_t* const registers = cta.warps[origin.warp].registers.data();
  for (int k = 0; k < load.elements; ++k) {
    const DecodedOperand& to = op.operands[load.dst].element(k);
    const size_t width = to.width / 8;
    for (uint32_t m = lanes; m != 0; m &= m - 1)
      change(registers + to.slot.offset + width * static_cast<size_t>(std::countr_zero(m)), width, load.type,
             all.pattern_);
  }
}

void OtherValues::InCluster::on(const AsyncIssue& event) {
  if (event.family != isa::AsyncFamily::wgmma) return;
  const Origin& origin = event.origin;
  const uint32_t group = all.run_.program->mma_warps();
  const MicroOp& op = all.run_.program->code[origin.pc];
  const DecodedOperand& d = op.operands[std::get<isa::Wgmma>(*op.effect).acc];
  Product product{.d = {origin.cta_rank, origin.warp / group * group, d.element(0).slot.offset},
                  .pc = origin.pc};
  const auto first = static_cast<uint32_t>(origin.cta_rank * cluster.ctas[origin.cta_rank].warps.size());
  const uint32_t warps = all.racing(origin.pc, cluster.index, first + product.d.warp);
  if (warps != 0) dependent[product.d] |= warps;
  products.emplace(event.id, product);
}

// The results are in their registers, or stay in the tensor core for the next product of a chain.
void OtherValues::InCluster::on(const AsyncLanded& event) {
  const auto at = products.find(event.id);
  if (at == products.end()) return;
  const Product product = at->second;
  products.erase(at);
  const auto arbitrary = dependent.find(product.d);
  if (arbitrary == dependent.end()) return;
  const MicroOp& op = all.run_.program->code[product.pc];
  const std::vector<DecodedOperand>& d = op.operands[std::get<isa::Wgmma>(*op.effect).acc].elements;
  for (uint32_t w = 0; w < all.run_.program->mma_warps(); ++w) {
    if ((arbitrary->second >> w & 1) == 0) continue;
    uint8_t* const registers = cluster.ctas[product.d.cta_rank].warps[product.d.warp + w].registers.data();
    for (const DecodedOperand& e : d)
      std::memset(registers + e.slot.offset, all.pattern_, size_t{32} * e.width / 8);
  }
}

}  // namespace palladion::sim::check
