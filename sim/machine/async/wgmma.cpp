// wgmma: an asynchronous operation of four warps. mma.sync is in mma_sync.cpp.
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/wgmma_operands.h"
#include "sim/machine/exec/elements.h"
#include "sim/numerics/tensor_core.h"

namespace palladion::sim {
namespace {

namespace tc = numerics::tc;

bool same_accumulators(const StatedWgmma& a, const StatedWgmma& b) {
  const auto &mine = a.accumulators(), &theirs = b.accumulators();
  return a.wgmma.n == b.wgmma.n && a.wgmma.d == b.wgmma.d &&
         mine.front().slot.offset == theirs.front().slot.offset &&
         mine.back().slot.offset == theirs.back().slot.offset;
}

// The first and the last register of the accumulators.
std::pair<uint32_t, uint32_t> range_of(const StatedWgmma& s) {
  uint32_t first = ~0U, last = 0;
  for (const DecodedOperand& r : s.accumulators()) {
    first = std::min(first, r.slot.offset);
    last = std::max(last, r.slot.offset);
  }
  return {first, last};
}

bool overlap(const StatedWgmma& a, const StatedWgmma& b) {
  const auto [first_a, last_a] = range_of(a);
  const auto [first_b, last_b] = range_of(b);
  if (last_a < first_b || last_b < first_a) return false;
  for (const DecodedOperand& mine : a.accumulators())
    for (const DecodedOperand& other : b.accumulators())
      if (mine.slot.offset == other.slot.offset) return true;
  return false;
}

// Whether a later wgmma uses these accumulators: then they stay in the tile until it has executed.
bool next_continues(const ClusterRun& run, const AsyncOp& op) {
  const StatedWgmma mine(run, op);
  for (AsyncOp& later : run.cluster.pending) {
    if (!run_in_order(op, later, run.program.mma_warps())) continue;
    const StatedWgmma theirs(run, later);
    if (same_accumulators(mine, theirs)) return std::get<WarpgroupProduct>(later.payload).chained = true;
    if (overlap(mine, theirs)) return false;
  }
  return false;
}

void multiply(const WarpgroupProduct& p, const isa::Wgmma& w, void* tile) {
  // Decoded operands are large: one set a host thread, reused by every instruction.
  thread_local std::unique_ptr<tc::AOperand> a = std::make_unique<tc::AOperand>();
  thread_local std::unique_ptr<tc::BOperand> b = std::make_unique<tc::BOperand>();
  const auto stride = [](const RawTile& t) { return static_cast<std::ptrdiff_t>(t.stride); };
  const auto major = [](bool transpose) { return transpose ? tc::Major::mn : tc::Major::k; };
  tc::decode_a(*a, *element_of(w.a), 64, w.k, {.base = p.a.bytes.data(), .stride = stride(p.a)},
               major(p.transpose_a && !w.sparse), p.negate_a);
  if (w.sparse) tc::select_sparse(*a, p.selected.data());
  tc::decode_b(*b, *element_of(w.b), w.n, w.k, {.base = p.b.bytes.data(), .stride = stride(p.b)},
               major(p.transpose_b), p.negate_b);
  tc::MultiplyOptions options;
  options.zero_c = p.zero_c;
  options.saturate = w.satfinite;
  if (w.d == isa::Type::f16)
    tc::multiply(*a, *b, static_cast<uint16_t*>(tile), tile_stride, options);
  else if (w.d == isa::Type::s32)
    tc::multiply(*a, *b, static_cast<int32_t*>(tile), tile_stride, options);
  else
    tc::multiply(*a, *b, static_cast<float*>(tile), tile_stride, options);
}

uint32_t* tile_of(WarpgroupState& group, uint32_t first_register) {
  for (auto& t : group.tiles)
    if (t.first_register == first_register) return t.words.data();
  group.tiles.push_back({first_register, std::vector<uint32_t>(size_t{64} * tile_stride)});
  return group.tiles.back().words.data();
}

void accumulate(const WarpgroupProduct& p, const ClusterRun& run, const AsyncOp& op) {
  const StatedWgmma s(run, op);
  const std::vector<DecodedOperand>& regs = s.accumulators();
  uint32_t* words =
      tile_of(run.cluster.ctas[op.cta_rank].warpgroups[warpgroup_of(run, op)], regs.front().slot.offset);
  const bool halves = s.wgmma.d == isa::Type::f16;
  if (!p.chained && !p.zero_c) gather_accumulators(regs, registers_of(run, op), s.wgmma.n, halves, words);
  multiply(p, s.wgmma, words);
  if (!next_continues(run, op)) scatter_accumulators(regs, registers_of(run, op), s.wgmma.n, halves, words);
}

int immediate(const MicroOp& op, int index) {
  return index < 0 ? 0 : static_cast<int>(op.operands[index].offset);
}

WarpgroupProduct product_of(const Exec& x, const MicroOp& op, const isa::Wgmma& e) {
  WarpgroupProduct p;
  p.moves = op.moves;
  p.m = static_cast<uint32_t>(e.m);
  p.n = static_cast<uint32_t>(e.n);
  p.a_in_registers = e.a_desc < 0;
  if (e.a_desc >= 0) p.a_desc = x.uniform_value(op.operands[e.a_desc]);
  p.b_desc = x.uniform_value(op.operands[e.b_desc]);
  p.zero_c = e.scale_d >= 0 &&
             (op.operands[e.scale_d].width == 1 ? (x.predicate_value(op.operands[e.scale_d]) & x.active) == 0
                                                : x.uniform_value(op.operands[e.scale_d]) == 0);
  p.negate_a = immediate(op, e.scale_a) < 0;
  p.negate_b = immediate(op, e.scale_b) < 0;
  p.transpose_a = immediate(op, e.trans_a) != 0;
  p.transpose_b = immediate(op, e.trans_b) != 0;
  return p;
}

// The operands of this warp at issue; the operation reads them again when it executes.
bool metadata_defined(const Exec& x, const MicroOp& op, const isa::Wgmma& e) {
  uint32_t words[32];
  for (int lane = 0; lane < 32; ++lane)
    words[lane] = static_cast<uint32_t>(x.lane_value(op.operands[e.metadata], lane));
  SparseRows rows;
  return read_sparse_metadata(words, sparse_shape(op.operands, e), rows);
}

// The product that other warps of the warpgroup have issued already, or nullptr.
AsyncOp* issued_by_others(Exec& x, uint64_t sequence) {
  for (AsyncOp& op : x.cluster.pending) {
    const auto* p = std::get_if<WarpgroupProduct>(&op.payload);
    if (p != nullptr && p->sequence == sequence && op.cta_rank == x.cta->rank &&
        warpgroup_of(x, op) == x.warp->id / x.program.mma_warps())
      return &op;
  }
  return nullptr;
}

}  // namespace

bool WarpgroupProduct::ready(const ClusterRun& run, const AsyncOp&) const {
  return issued == (1U << run.program.mma_warps()) - 1;
}

void WarpgroupProduct::read(const ClusterRun& run, const AsyncOp& op) {
  if (moves) read_operands(*this, run, op);
}

void WarpgroupProduct::land(const ClusterRun& run, const AsyncOp& op) {
  if (moves) accumulate(*this, run, op);
}

void WarpgroupProduct::describe(const AsyncOp&, Traffic& t) const {
  t.source = a_in_registers ? isa::Space::reg : isa::Space::shared_cta;
  t.rows = m;
  t.columns = n;
}

Step exec(Exec& x, const MicroOp& op, const isa::Wgmma& e) {
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  const uint32_t mma_warps = x.program.mma_warps();
  const uint32_t warpgroup = x.warp->id / mma_warps, in_group = x.warp->id % mma_warps;
  if (x.active != ~0U || (warpgroup + 1) * mma_warps > x.cta->warps.size())
    return x.fault(Code::partial_warpgroup);
  if (e.sparse && op.moves && !metadata_defined(x, op, e))
    return x.fault(Code::sparse_metadata, say<Phrase::undefined_metadata>());
  auto& groups = x.cta->warpgroups;
  if (groups.empty())
    groups.assign(x.cta->warps.size() / mma_warps, {.issued = std::vector<uint64_t>(mma_warps), .tiles = {}});
  const uint64_t sequence = groups[warpgroup].issued[in_group]++;
  AsyncOp* issued = issued_by_others(x, sequence);
  if (issued == nullptr) {
    WarpgroupProduct product = product_of(x, op, e);
    product.sequence = sequence;
    issued = &x.issue(std::move(product), x.active, isa::AsyncGroup::wgmma);
  } else {
    journal_issue(x.warp->wgmma, issued->id, x.active);
  }
  auto& product = std::get<WarpgroupProduct>(issued->payload);
  product.issued |= 1U << in_group;
  if (op.takes_fragment_at_issue && op.moves)
    read_fragment(op.operands[e.a_regs].elements, x.registers, in_group, product.a);
  if (x.events != nullptr) announce(x, *issued, product);
  return Step::next;
}

// Orders register accesses before the wgmma that follow: nothing to do, operations see the registers
// as they are when they run.
Step exec(Exec& x, const MicroOp&, const isa::WgmmaFence&) {
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  if (x.wants<Fenced>()) x.emit(Fenced{x.origin()});
  return Step::next;
}

Step exec(Exec& x, const MicroOp&, const isa::WgmmaCommit&) {
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  journal_commit(x.warp->wgmma, x.active);
  if (x.wants<GroupCommitted>()) x.emit(GroupCommitted{x.origin(), isa::AsyncGroup::wgmma});
  return Step::next;
}

Step exec(Exec& x, const MicroOp&, const isa::WgmmaWait& e) {
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  x.take_resumed();
  const auto n = static_cast<uint64_t>(e.n);
  if (!journal_satisfied(x.warp->wgmma, x.active, n, false)) return x.wait(Wait::Kind::wgmma_group, 0, n);
  if (x.wants<GroupWaited>()) x.emit(GroupWaited{x.origin(), isa::AsyncGroup::wgmma, n, false});
  return Step::next;
}

}  // namespace palladion::sim
