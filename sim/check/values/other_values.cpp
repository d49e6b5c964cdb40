#include "sim/check/values/other_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim::check {
namespace {

uint64_t warp_key(ClusterOfGrid cluster, uint32_t warp) { return uint64_t{cluster} << 32 | warp; }

// Never zero: the bits that are always set, and those that depend on the place.
uint8_t other_byte(uint32_t which, uint64_t place) {
  struct Bits {
    uint8_t always, varying;
  };
  static constexpr std::array<Bits, OtherValues::series> bits{{{0x81, 0x7E}, {0x40, 0x2F}, {0x01, 0x02}}};
  const Bits b = bits[which];
  return static_cast<uint8_t>(b.always | (scramble(place + which) & b.varying));
}

bool is_at(const Program& program, Pc pc, const Site& site) {
  const Site here = site_at(program, pc, site.cta, site.warp, site.lanes);
  return here.instruction == site.instruction && place_of(here) == place_of(site);
}

}  // namespace

OtherValues::OtherValues(const Arbitrary& what, uint32_t which)
    : shared_memory_(what.shared_memory), tensor_memory_(what.tensor_memory), series_(which) {
  for (const Site& site : what.unwritten_reads) unwritten_reads_.push_back({.site = site});
  for (const RacingRead& r : what.reads) lanes_[r.pc][warp_key(r.cluster, r.warp)] |= r.lanes;
}

bool OtherValues::changed_every_read() const {
  for (const auto& [pc, warps] : lanes_)
    for (const auto& [warp, lanes] : warps)
      if (lanes == 0 || (lanes & ~at(changed_, Pc(pc), warp)) != 0) return false;
  return std::ranges::all_of(unwritten_reads_, [](const UnwrittenRead& r) { return r.executed; });
}

void OtherValues::start(const RunView& run) {
  run_ = run;
  for (UnwrittenRead& r : unwritten_reads_)
    for (Pc pc{0}; pc < run.program->code.size(); ++pc)
      if (is_at(*run.program, pc, r.site)) r.pcs.insert(pc);
}

bool OtherValues::watches(Pc pc) const {
  return lanes_.contains(pc) ||
         std::ranges::any_of(unwritten_reads_, [&](const UnwrittenRead& r) { return r.pcs.contains(pc); });
}

void OtherValues::observe(ClusterState& cluster, ClusterEvents& events) {
  events.add(clusters_.add(cluster, std::make_unique<InCluster>(*this, cluster)));
}

void OtherValues::retire(ClusterState& cluster) {
  const auto done = clusters_.take(cluster);
  for (const auto& [pc, warps] : done->changed)
    for (const auto& [warp, lanes] : warps) changed_[pc][warp] |= lanes;
  for (UnwrittenRead& r : unwritten_reads_)
    r.executed |= std::ranges::any_of(r.pcs, [&](Pc pc) { return done->executed.contains(pc); });
}

uint32_t OtherValues::at(const LanesAt& all, Pc pc, uint64_t warp) {
  const auto warps = all.find(pc);
  if (warps == all.end()) return 0;
  const auto lanes = warps->second.find(warp);
  return lanes == warps->second.end() ? 0 : lanes->second;
}

// A value of `type` in the bytes of a register: another one, extended as the load extends.
void OtherValues::InCluster::change(uint8_t* lane, size_t width, isa::Type type) {
  const auto size = std::min(static_cast<size_t>(isa::bytes(type)), width);
  for (size_t i = 0; i < size; ++i) lane[i] ^= other_byte(all.series_, ++replaced);
  if (isa::is_signed(type)) std::memset(lane + size, lane[size - 1] >= 0x80 ? 0xFF : 0, width - size);
}

bool OtherValues::InCluster::replace(uint8_t* bytes, size_t size) {
  bool differs = false;
  for (size_t i = 0; i < size; ++i) {
    const uint8_t other = other_byte(all.series_, ++replaced);
    differs |= bytes[i] != other;
    bytes[i] = other;
  }
  return differs;
}

void OtherValues::InCluster::on(const ClusterBegan&) {
  if (!all.shared_memory_) return;
  for (CtaState& cta : cluster.ctas) {
    const size_t first = std::min<size_t>(all.run_.program->reserved_shared, cta.shared.size());
    replace(cta.shared.data() + first, cta.shared.size() - first);
  }
}

void OtherValues::InCluster::on(const TensorAllocated& event) {
  if (!all.tensor_memory_ || event.freed) return;
  TensorMemory& memory = cluster.ctas[event.origin.cta_rank].tensor;
  for (uint32_t lane = 0; lane < TensorMemory::lanes; ++lane)
    replace(reinterpret_cast<uint8_t*>(memory.row(lane) + event.column), event.columns * sizeof(uint32_t));
}

void OtherValues::InCluster::on(const Executed& event) {
  const Origin& origin = event.origin;
  executed.insert(origin.pc);
  CtaState& cta = cluster.ctas[origin.cta_rank];
  const auto warp = static_cast<uint32_t>(origin.cta_rank * cta.warps.size() + origin.warp);
  const uint32_t lanes = at(all.lanes_, origin.pc, warp_key(cluster.index, warp)) & origin.lanes;
  if (lanes == 0) return;
  const MicroOp& op = all.run_.program->code[origin.pc];
  if (!std::holds_alternative<isa::Load>(*op.effect)) return;
  const auto& load = std::get<isa::Load>(*op.effect);
  uint8_t* const registers = cta.warps[origin.warp].registers.data();
  for (int k = 0; k < load.elements; ++k) {
    const DecodedOperand& to = op.operands[load.dst].element(k);
    const size_t width = to.width / 8;
    for (uint32_t m = lanes; m != 0; m &= m - 1)
      change(registers + to.slot.offset + width * static_cast<size_t>(std::countr_zero(m)), width, load.type);
  }
  changed[origin.pc][warp_key(cluster.index, warp)] |= lanes;
}

void OtherValues::InCluster::on(const AsyncIssue& event) {
  if (event.family != isa::AsyncFamily::wgmma) return;
  const Origin& origin = event.origin;
  const uint32_t group = all.run_.program->mma_warps();
  const MicroOp& op = all.run_.program->code[origin.pc];
  const DecodedOperand& d = op.operands[std::get<isa::Wgmma>(*op.effect).acc];
  Product product{.d = {origin.cta_rank, WarpOfCta(origin.warp / group * group), d.element(0).slot.offset},
                  .pc = origin.pc};
  const auto first = static_cast<uint32_t>(origin.cta_rank * cluster.ctas[origin.cta_rank].warps.size());
  const uint32_t warps = at(all.lanes_, origin.pc, warp_key(cluster.index, first + product.d.warp));
  if (warps != 0) dependent[product.d] |= warps;
  products.emplace(event.id, product);
}

// The results are in their registers, or stay in the tensor core for the next product of a chain.
void OtherValues::InCluster::on(const AsyncLanded& event) {
  const auto landed = products.find(event.id);
  if (landed == products.end()) return;
  const Product product = landed->second;
  products.erase(landed);
  const auto arbitrary = dependent.find(product.d);
  if (arbitrary == dependent.end()) return;
  CtaState& cta = cluster.ctas[product.d.cta_rank];
  const auto first = static_cast<uint32_t>(product.d.cta_rank * cta.warps.size());
  const MicroOp& op = all.run_.program->code[product.pc];
  const std::vector<DecodedOperand>& d = op.operands[std::get<isa::Wgmma>(*op.effect).acc].elements;
  uint32_t warps = 0;
  for (uint32_t w = 0; w < all.run_.program->mma_warps(); ++w) {
    if ((arbitrary->second >> w & 1) == 0) continue;
    uint8_t* const registers = cta.warps[product.d.warp + w].registers.data();
    for (const DecodedOperand& e : d)
      if (replace(registers + e.slot.offset, size_t{32} * e.width / 8)) warps |= 1U << w;
  }
  changed[product.pc][warp_key(cluster.index, first + product.d.warp)] |= warps;
}

}  // namespace palladion::sim::check
