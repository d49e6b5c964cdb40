// wgmma: an asynchronous operation of four warps. mma.sync is in mma_sync.cpp.
#include <fmt/format.h>

#include "isa/formats/fragments.h"
#include "isa/formats/matrix_descriptor.h"
#include "sim/machine/async/accumulators.h"
#include "sim/machine/async/async_copies.h"
#include "sim/machine/exec/elements.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/sparse.h"
#include "sim/numerics/tensor_core.h"

namespace palladion::sim {
namespace {

namespace tc = numerics::tc;

SparseShape sparse_shape(const DecodedOperand* operands, const isa::Wgmma& e) {
  return {isa::bits(e.a), e.k, static_cast<int>(operands[e.selector].offset)};
}

// The layout of every wgmma's A in shared memory: 32 bytes of k (64 if dense beside a sparse A) for each row
// of m; where m is contiguous, one row of m for each k.
constexpr size_t k_bytes = 32;

// The parameters that an operation's instruction states.
struct Stated {
  Stated(const ClusterRun& run, const AsyncOp& op)
      : micro(run.program.code[op.pc]), wgmma(effect<isa::Wgmma>(micro)) {}
  const std::vector<DecodedOperand>& accumulators() const { return micro.operands[wgmma.acc].elements; }

  const MicroOp& micro;
  const isa::Wgmma& wgmma;
};

uint32_t warpgroup_of(const ClusterRun& run, const AsyncOp& op) { return op.warp / run.program.mma_warps(); }

WarpgroupRegisters registers(const ClusterRun& run, const AsyncOp& op) {
  WarpgroupRegisters r;
  const uint32_t first = warpgroup_of(run, op) * run.program.mma_warps();
  for (uint32_t w = 0; w < r.size(); ++w)
    r[w] = run.cluster.ctas[op.cta_rank].warps[first + w].registers.data();
  return r;
}

struct Source {
  uint64_t descriptor;
  int rows;
  size_t row_bytes;  // of k
  bool transpose;
  isa::Type type;
};
Source source_a(const WarpgroupProduct& p, const isa::Wgmma& e) {
  return {p.a_desc, e.m, k_bytes, p.transpose_a, e.a};
}
Source source_b(const WarpgroupProduct& p, const isa::Wgmma& e) {
  return {p.b_desc, e.n, e.sparse ? 2 * k_bytes : k_bytes, p.transpose_b, e.b};
}

// Calls visit(shared address) for each 16-byte chunk of a source, in the order of the raw tile's bytes.
template <class Visit>
void for_each_chunk(const Source& source, Visit&& visit) {
  const isa::MatrixDescriptor d = isa::decode_matrix_descriptor(source.descriptor);
  const int size = isa::bytes(source.type), rows = source.rows;
  if (!source.transpose) {
    const isa::MatrixLayout layout(d, isa::Major::k, size);
    const auto chunks = static_cast<uint32_t>(source.row_bytes / 16);
    for (int r = 0; r < rows; ++r)
      for (uint32_t c = 0; c < chunks; ++c) visit(layout.k_chunk_address(static_cast<uint32_t>(r), c));
    return;
  }
  const isa::MatrixLayout layout(d, isa::Major::mn, size);
  const int k = static_cast<int>(source.row_bytes) / size, chunks = rows * size / 16;
  for (int i = 0; i < k; ++i)
    for (int c = 0; c < chunks; ++c)
      visit(layout.mn_chunk_address(static_cast<uint32_t>(c), static_cast<uint32_t>(i)));
}

void read_shared(const CtaState& cta, const Source& source, RawTile& tile) {
  const auto size = static_cast<size_t>(isa::bytes(source.type)), rows = static_cast<size_t>(source.rows);
  tile.stride = source.transpose ? rows * size : source.row_bytes;
  tile.bytes.resize(rows * source.row_bytes);
  uint8_t* to = tile.bytes.data();
  for_each_chunk(source, [&](uint32_t address) {
    if (address + 16 <= cta.shared.size())
      std::memcpy(to, cta.shared.data() + address, 16);
    else
      std::memset(to, 0, 16);
    to += 16;
  });
}

// A cache of a pure function, for observers: a loop's wgmma read the same few tiles repeatedly.
class ChunkLists {
 public:
  struct Key {
    uint64_t a_desc, b_desc;
    uint32_t rank;
    int n, a_bytes, b_bytes;
    bool a_shared, sparse, transpose_a, transpose_b;
    friend bool operator==(const Key&, const Key&) = default;
  };
  // Empty while the operation has not been issued by all warps.
  std::vector<Piece>& of(const Key& key) {
    Entry& e = entries_[(key.a_desc ^ key.b_desc * 31 ^ key.rank * 7) % entries_.size()];
    if (!(e.key == key)) {
      e.key = key;
      e.pieces.clear();
    }
    return e.pieces;
  }

 private:
  struct Entry {
    Key key{};
    std::vector<Piece> pieces;
  };
  std::array<Entry, 61> entries_;
};

void list_chunks(const WarpgroupProduct& p, const isa::Wgmma& e, uint32_t rank, std::vector<Piece>& pieces) {
  const uint32_t window = rank << cta_rank_shift;
  const auto add = [&](uint32_t address) { append(pieces, shared_piece(address | window, 16)); };
  if (e.a_desc >= 0) for_each_chunk(source_a(p, e), add);
  for_each_chunk(source_b(p, e), add);
}

// Records that this warp has issued it; when all four have, announces what it reads.
void announce(const Exec& x, const AsyncOp& op, const WarpgroupProduct& p) {
  x.emit(AsyncJoined{x.origin(), op.id});
  if (!p.ready(x, op) || !x.wants<AsyncIssue>()) return;
  static thread_local ChunkLists lists;
  const isa::Wgmma& e = Stated(x, op).wgmma;
  std::vector<Piece>& pieces = lists.of({.a_desc = p.a_desc,
                                         .b_desc = p.b_desc,
                                         .rank = op.cta_rank,
                                         .n = e.n,
                                         .a_bytes = isa::bytes(e.a),
                                         .b_bytes = isa::bytes(e.b),
                                         .a_shared = e.a_desc >= 0,
                                         .sparse = e.sparse,
                                         .transpose_a = p.transpose_a,
                                         .transpose_b = p.transpose_b});
  if (pieces.empty()) list_chunks(p, e, op.cta_rank, pieces);
  const auto tag = [](uint64_t d) {
    constexpr LayoutTag tags[4] = {layout_plain, layout_128b, layout_64b, layout_32b};
    return tags[d >> 62];
  };
  const bool one_layout = e.a_desc < 0 || tag(p.a_desc) == tag(p.b_desc);
  AsyncIssue issue = issue_of(x, op);
  issue.origin = x.origin();
  issue.reads = pieces;
  issue.layout = one_layout ? tag(p.b_desc) : layout_unknown;
  x.emit(issue);
}

// Where register v of lane l belongs in the tile of rows of 32 bytes.
constexpr auto a_places = [] {
  std::array<std::array<uint16_t, 128>, 4> places{};
  constexpr isa::FragmentLayout bytes = isa::wgmma_a(8);
  for (int v = 0; v < bytes.registers; ++v) {
    for (int l = 0; l < bytes.lanes; ++l) {
      const isa::MatrixIndex at = bytes.element(l, v, 0);
      places[static_cast<size_t>(v)][static_cast<size_t>(l)] =
          static_cast<uint16_t>(at.row * static_cast<int>(k_bytes) + at.col);
    }
  }
  return places;
}();

void read_registers(const std::vector<DecodedOperand>& regs, const uint8_t* registers, size_t warp,
                    RawTile& tile) {
  tile.stride = k_bytes;
  tile.bytes.resize(64 * k_bytes);
  for (size_t v = 0; v < 4; ++v) {
    const uint8_t* lanes = registers + regs[v].slot.offset;
    for (size_t l = 0; l < 32; ++l)
      std::memcpy(tile.bytes.data() + a_places[v][32 * warp + l], lanes + 4 * l, 4);
  }
}

// Turns rows of m into rows of k; halves only, as the instruction has it.
void turn(RawTile& tile) {
  const size_t m = tile.stride / 2, k = tile.bytes.size() / tile.stride;
  std::vector<uint8_t> turned(tile.bytes.size());
  for (size_t i = 0; i < k; ++i)
    for (size_t r = 0; r < m; ++r)
      std::memcpy(turned.data() + 2 * (r * k + i), tile.bytes.data() + i * tile.stride + 2 * r, 2);
  tile.bytes = std::move(turned);
  tile.stride = 2 * k;
}

// A as the arithmetic requires it: 64 bytes of k a row, zeros where nothing was selected.
void expand_a(WarpgroupProduct& p, const ClusterRun& run, const AsyncOp& op) {
  if (p.transpose_a) turn(p.a);
  const Stated s(run, op);
  const WarpgroupRegisters warps = registers(run, op);
  const SparseShape shape = sparse_shape(s.micro.operands, s.wgmma);
  std::vector<uint8_t> dense(64 * 2 * k_bytes);
  p.selected.resize(64);
  for (size_t w = 0; w < warps.size(); ++w) {
    uint32_t words[32];
    const Slot& slot = s.micro.operands[s.wgmma.metadata].slot;
    std::memcpy(words, (slot.constant ? run.program.constants.data() : warps[w]) + slot.offset, sizeof words);
    SparseRows rows;
    read_sparse_metadata(words, shape, rows);
    expand_sparse_rows(p.a.bytes.data() + 16 * w * k_bytes, k_bytes, shape, rows,
                       dense.data() + 16 * w * 2 * k_bytes, 2 * k_bytes);
    std::memcpy(p.selected.data() + 16 * w, rows.selected, sizeof rows.selected);
  }
  p.a.bytes = std::move(dense);
  p.a.stride = 2 * k_bytes;
}

bool same_accumulators(const Stated& a, const Stated& b) {
  const auto &mine = a.accumulators(), &theirs = b.accumulators();
  return a.wgmma.n == b.wgmma.n && a.wgmma.d == b.wgmma.d &&
         mine.front().slot.offset == theirs.front().slot.offset &&
         mine.back().slot.offset == theirs.back().slot.offset;
}

// The first and the last register of the accumulators.
std::pair<uint32_t, uint32_t> range_of(const Stated& s) {
  uint32_t first = ~0U, last = 0;
  for (const DecodedOperand& r : s.accumulators()) {
    first = std::min(first, r.slot.offset);
    last = std::max(last, r.slot.offset);
  }
  return {first, last};
}

bool overlap(const Stated& a, const Stated& b) {
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
  const Stated mine(run, op);
  for (AsyncOp& later : run.cluster.pending) {
    if (!run_in_order(op, later, run.program.mma_warps())) continue;
    const Stated theirs(run, later);
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
  const Stated s(run, op);
  const std::vector<DecodedOperand>& regs = s.accumulators();
  uint32_t* words =
      tile_of(run.cluster.ctas[op.cta_rank].warpgroups[warpgroup_of(run, op)], regs.front().slot.offset);
  const bool halves = s.wgmma.d == isa::Type::f16;
  if (!p.chained && !p.zero_c) gather_accumulators(regs, registers(run, op), s.wgmma.n, halves, words);
  multiply(p, s.wgmma, words);
  if (!next_continues(run, op)) scatter_accumulators(regs, registers(run, op), s.wgmma.n, halves, words);
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

Step refuse_partial_warp(Exec& x) {
  return x.fault("PLD3060", "wgmma is executed by part of a warp, or by a warp outside a full warpgroup",
                 "all 128 threads of a warpgroup execute the same wgmma");
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
  if (!moves) return;
  const Stated s(run, op);
  const CtaState& cta = run.cluster.ctas[op.cta_rank];
  if (a_in_registers && !s.micro.takes_fragment_at_issue) {
    const WarpgroupRegisters warps = registers(run, op);
    for (size_t w = 0; w < warps.size(); ++w)
      read_registers(s.micro.operands[s.wgmma.a_regs].elements, warps[w], w, a);
  } else if (!a_in_registers)
    read_shared(cta, source_a(*this, s.wgmma), a);
  read_shared(cta, source_b(*this, s.wgmma), b);
  if (s.wgmma.sparse) expand_a(*this, run, op);
}

void WarpgroupProduct::land(const ClusterRun& run, const AsyncOp& op) {
  if (moves) accumulate(*this, run, op);
}

void WarpgroupProduct::describe(const AsyncOp&, Traffic& t) const {
  t.source = a_in_registers ? isa::Space::reg : isa::Space::shared_cta;
  t.rows = m;
  t.columns = n;
}

Step exec_wgmma(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::Wgmma>(op);
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  const uint32_t mma_warps = x.program.mma_warps();
  const uint32_t warpgroup = x.warp->id / mma_warps, in_group = x.warp->id % mma_warps;
  if (x.active != ~0U || (warpgroup + 1) * mma_warps > x.cta->warps.size()) return refuse_partial_warp(x);
  if (e.sparse && op.moves && !metadata_defined(x, op, e))
    return x.fault("PLD3066", undefined_sparse_metadata);
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
    read_registers(op.operands[e.a_regs].elements, x.registers, in_group, product.a);
  if (x.events != nullptr) announce(x, *issued, product);
  return Step::next;
}

// Orders register accesses before the wgmma that follow: nothing to do, operations see the registers
// as they are when they run.
Step exec_wgmma_fence(Exec& x, const MicroOp&) {
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  if (x.wants<Fenced>()) x.emit(Fenced{x.origin()});
  return Step::next;
}

Step exec_wgmma_commit(Exec& x, const MicroOp&) {
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  journal_commit(x.warp->wgmma, x.active);
  if (x.wants<GroupCommitted>()) x.emit(GroupCommitted{x.origin(), isa::AsyncGroup::wgmma});
  return Step::next;
}

Step exec_wgmma_wait(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::WgmmaWait>(op);
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  x.take_resumed();
  const auto n = static_cast<uint64_t>(e.n);
  if (!journal_satisfied(x.warp->wgmma, x.active, n, false)) return x.wait(Wait::Kind::wgmma_group, 0, n);
  if (x.wants<GroupWaited>()) x.emit(GroupWaited{x.origin(), isa::AsyncGroup::wgmma, n, false});
  return Step::next;
}

}  // namespace palladion::sim
