#include "sim/check/numerics/numerics_wgmma.h"

#include <algorithm>

#include "sim/check/numerics/numerics.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/accumulators.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

const isa::Wgmma& wgmma_of(const Origin& origin) { return std::get<isa::Wgmma>(*origin.effect); }

bool floats(const isa::Wgmma& w) { return w.d == isa::Type::f16 || w.d == isa::Type::f32; }

// Numbers of D as they are stored in registers.
isa::Type in_registers(const isa::Wgmma& w) { return w.d == isa::Type::f16 ? isa::Type::f16x2 : w.d; }

}  // namespace

bool WgmmaNumerics::special_accumulators(const Origin& origin) const {
  const isa::Wgmma& w = wgmma_of(origin);
  const uint8_t* registers = context_.cluster.ctas[origin.cta_rank].warps[origin.warp].registers.data();
  for (const DecodedOperand& r : context_.run.program->code[origin.pc].operands[w.acc].elements)
    if (suspicious(in_registers(w), registers + r.slot.offset, 128)) return true;
  return false;
}

WgmmaNumerics::Pending& WgmmaNumerics::pending(uint64_t id) {
  const auto at = pending_.find(id);
  if (at != pending_.end() || spare_.empty()) return at != pending_.end() ? at->second : pending_[id];
  spare_.back().key() = id;
  Pending& p = pending_.insert(std::move(spare_.back())).position->second;
  spare_.pop_back();
  p.special_before = false;
  return p;
}

void WgmmaNumerics::on(const AsyncJoined& event) {
  const Origin& origin = event.origin;
  const isa::Wgmma& w = wgmma_of(origin);
  if (!floats(w)) return;
  const Tile tile = tile_of(origin);
  // The accumulators of a chain are still in flight: they are checked when the earlier wgmma lands.
  const bool chained = std::ranges::any_of(
      pending_, [&](const auto& p) { return p.first != event.id && p.second.tile == tile; });
  Pending& p = pending(event.id);
  p.tile = tile;
  const MicroOp& op = context_.run.program->code[origin.pc];
  if (!chained && !p.special_before && may_accumulate(op, w)) p.special_before = special_accumulators(origin);
}

WgmmaNumerics::Tile WgmmaNumerics::tile_of(const Origin& origin) const {
  const auto& registers = context_.run.program->code[origin.pc].operands[wgmma_of(origin).acc].elements;
  return {origin.cta_rank, origin.warp / 4U, registers.front().slot.offset};
}

void WgmmaNumerics::on(const AsyncIssue& e) {
  if (e.family != isa::AsyncFamily::wgmma || !floats(wgmma_of(e.origin))) return;
  Pending& p = pending(e.id);
  p.origin = e.origin;
  p.reads.assign(e.reads.begin(), e.reads.end());
}

void WgmmaNumerics::on(const AsyncLanded& event) {
  const auto at = pending_.find(event.id);
  if (at == pending_.end()) return;
  const Pending& p = at->second;
  const WarpgroupState& group =
      context_.cluster.ctas[p.origin.cta_rank].warpgroups[p.origin.warp / context_.run.program->mma_warps()];
  for (const auto& tile : group.tiles)
    if (tile.first_register == p.tile.first_register)
      judge(p, reinterpret_cast<const uint8_t*>(tile.words.data()));
  spare_.push_back(pending_.extract(at));
}

// The first element that is no number, if the accumulators had none before.
void WgmmaNumerics::judge(const Pending& p, const uint8_t* words) {
  const isa::Wgmma& w = wgmma_of(p.origin);
  const size_t size = number_bytes(w.d), row_bytes = size * static_cast<size_t>(w.n);
  bool found = false;
  for (int row = 0; row < 64 && !found; ++row) {
    const uint8_t* at = words + size * tile_stride * static_cast<size_t>(row);
    if (!suspicious(w.d, at, row_bytes)) continue;
    found = true;
    if (p.special_before || special_.contains(p.tile)) break;
    int column = 0;
    while (!suspicious(w.d, at + size * static_cast<size_t>(column), size)) ++column;
    const Special made = special(w.d, at + size * static_cast<size_t>(column));
    const Code code = made.nan ? Code::first_nan : Code::narrow_overflow;
    if (!special_operands(p, !made.nan)) report(p, code, row, column);
  }
  if (found)
    special_.insert(p.tile);
  else
    special_.erase(p.tile);
}

// A wgmma's sources may not change before it has landed, so they are still there.
bool WgmmaNumerics::special_operands(const Pending& p, bool infinities) const {
  const isa::Wgmma& w = wgmma_of(p.origin);
  const CtaState& cta = context_.cluster.ctas[p.origin.cta_rank];
  const auto any = [&](const uint8_t* bytes, size_t count) {
    Special s = special_in(w.a, bytes, count);
    s |= special_in(w.b, bytes, count);
    return s.nan || (infinities && s.infinite);
  };
  for (const Piece& piece : p.reads) {
    const uint64_t at = piece.address & shared_offset_mask;
    if (at + piece.bytes <= cta.shared.size() && any(cta.shared.data() + at, piece.bytes)) return true;
  }
  if (w.a_regs < 0) return false;
  const Program& program = *context_.run.program;
  const uint32_t mma_warps = program.mma_warps(), first = p.origin.warp / mma_warps * mma_warps;
  for (const DecodedOperand& r : program.code[p.origin.pc].operands[w.a_regs].elements)
    for (uint32_t warp = first; warp < first + mma_warps; ++warp)
      if (any(cta.warps[warp].registers.data() + r.slot.offset, 128)) return true;
  return false;
}

void WgmmaNumerics::report(const Pending& p, Code code, int row, int column) {
  const FindingKey key{code, p.origin.pc, ~0U, 0};
  if (context_.reporter.seen(key, p.origin)) return;
  const bool overflow = code == Code::narrow_overflow;
  Finding f;
  f.message = overflow ? say<Phrase::accumulator_overflow>() : say<Phrase::accumulator_nan>();
  f.sites.push_back(context_.reporter.site(p.origin, overflow ? Does::overflows : Does::makes_nan));
  const auto at = [](int i) { return Range{static_cast<uint64_t>(i), static_cast<uint64_t>(i) + 1}; };
  f.object = {.kind = Object::Kind::accumulators,
              .ranges = {at(row), at(column)},
              .number = static_cast<uint64_t>(wgmma_of(p.origin).n)};
  f.missing = overflow ? say<Phrase::end_of_f16>() : say<Phrase::no_value_of_infinities>();
  f.rule = "wgmma.mma_async";
  f.help = overflow ? say<Phrase::accumulate_in_f32>() : say<Phrase::no_infinite_operands>();
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
