// wgmma: an asynchronous operation of four warps. mma.sync is in mma_sync.cpp.
#include <fmt/format.h>

#include "isa/formats/fragments.h"
#include "isa/formats/matrix_descriptor.h"
#include "sim/machine/async/accumulators.h"
#include "sim/machine/exec/elements.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/sparse.h"
#include "sim/numerics/tensor_core.h"

namespace palladion::sim {
namespace {

namespace tc = numerics::tc;

struct Operands {
  const isa::Wgmma* wgmma = nullptr;
  const DecodedOperand* operands = nullptr;
  const uint8_t* constants = nullptr;
  uint64_t a_desc = 0, b_desc = 0;
  bool zero_c = false;
  bool moves = true;  // see MicroOp
  bool negate_a = false, negate_b = false, transpose_a = false, transpose_b = false;
};

SparseShape sparse_shape(const DecodedOperand* operands, const isa::Wgmma& e) {
  return {isa::bits(e.a), e.k, static_cast<int>(operands[e.selector].offset)};
}

// Rows of raw elements as decode_a and decode_b want them: 32 bytes of k (64 if dense beside a sparse A) for
// each row of mn, or for Major::mn one row of mn for each k.
struct RawTile {
  std::vector<uint8_t> bytes;
  size_t stride = 0;
};

constexpr size_t k_bytes = 32;  // of every wgmma's A as it is stored

// A warpgroup's wgmma run one after the other; no other operations have such keys.
int order_key(uint32_t rank, uint32_t warpgroup) { return static_cast<int>(rank * 64 + warpgroup); }

class WgmmaBody final : public AsyncOp::Body {
 public:
  WgmmaBody(const Operands& o, uint32_t cta_rank, uint32_t warpgroup, uint64_t sequence)
      : o_(o), rank_(cta_rank), warpgroup_(warpgroup), sequence_(sequence) {
    for (const DecodedOperand& r : accumulators()) {
      first_register_ = std::min(first_register_, r.slot.offset);
      last_register_ = std::max(last_register_, r.slot.offset);
    }
  }

  const char* name() const override { return "wgmma"; }
  void describe(Traffic& t) const override {
    t.kind = Traffic::Kind::wgmma;
    t.rows = static_cast<uint32_t>(o_.wgmma->m);
    t.columns = static_cast<uint32_t>(o_.wgmma->n);
    t.a_in_registers = o_.wgmma->a_desc < 0;
  }
  bool ready(ClusterState&) const override { return issued_ == 0xF; }
  void issued_by(uint32_t warp_in_group, uint64_t id) {
    issued_ |= 1U << warp_in_group;
    id_ = id;
  }
  bool is(uint64_t sequence) const { return sequence_ == sequence; }

  void read(ClusterState& cluster) override;
  void land(ClusterState& cluster) override;
  // Tells the observer that this warp has issued it; when all four have, what it will read.
  void announce(const Exec& x) const;
  void list_chunks(std::vector<Piece>& pieces) const;

 private:
  WarpgroupRegisters registers(ClusterState& cluster) const;
  struct Source {
    uint64_t descriptor;
    int rows;
    size_t row_bytes;  // of k
    bool transpose;
    isa::Type type;
  };
  Source source_a() const;
  Source source_b() const;
  template <class Visit>
  static void for_each_chunk(const Source& source, Visit&& visit);
  void read_shared(const CtaState& cta, const Source& source, RawTile& tile) const;
  void read_a_registers(ClusterState& cluster);
  void expand_a(ClusterState& cluster);
  const std::vector<DecodedOperand>& accumulators() const { return o_.operands[o_.wgmma->acc].elements; }
  uint32_t* tile(WarpgroupState& group) const;
  bool same_accumulators(const WgmmaBody& other) const;
  bool overlaps(const WgmmaBody& other) const;
  bool next_continues(const ClusterState& cluster) const;
  void multiply(void* tile) const;
  void accumulate(ClusterState& cluster);

  Operands o_;
  uint32_t rank_, warpgroup_;
  uint64_t sequence_;
  uint64_t id_ = 0;
  uint32_t issued_ = 0;
  RawTile a_, b_;
  uint32_t first_register_ = ~0U, last_register_ = 0;
  uint64_t selected_[64] = {};  // of a sparse A, by rows
  bool chained_ = false;        // the accumulators are in the warpgroup's tile already
};

WarpgroupRegisters WgmmaBody::registers(ClusterState& cluster) const {
  WarpgroupRegisters r;
  for (uint32_t w = 0; w < 4; ++w) r[w] = cluster.ctas[rank_].warps[warpgroup_ * 4 + w].registers.data();
  return r;
}

// Calls visit(shared address) for each 16-byte chunk of a source, in the order of the raw tile's bytes.
template <class Visit>
void WgmmaBody::for_each_chunk(const Source& source, Visit&& visit) {
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

void WgmmaBody::read_shared(const CtaState& cta, const Source& source, RawTile& tile) const {
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

WgmmaBody::Source WgmmaBody::source_a() const {
  return {o_.a_desc, 64, k_bytes, o_.transpose_a, o_.wgmma->a};
}
WgmmaBody::Source WgmmaBody::source_b() const {
  return {o_.b_desc, o_.wgmma->n, o_.wgmma->sparse ? 2 * k_bytes : k_bytes, o_.transpose_b, o_.wgmma->b};
}

// A memory of a pure function, for observers: a loop's wgmma read the same few tiles again and again.
class ChunkLists {
 public:
  struct Key {
    uint64_t a_desc, b_desc;
    uint32_t rank;
    int n, a_bytes, b_bytes;
    bool a_shared, sparse, transpose_a, transpose_b;
    friend bool operator==(const Key&, const Key&) = default;
  };
  // An empty list when it is not known yet.
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

void WgmmaBody::list_chunks(std::vector<Piece>& pieces) const {
  const uint32_t rank = rank_ << cta_rank_shift;
  const auto add = [&](uint32_t address) { append(pieces, {true, address | rank, 16}); };
  if (o_.wgmma->a_desc >= 0) for_each_chunk(source_a(), add);
  for_each_chunk(source_b(), add);
}

void WgmmaBody::announce(const Exec& x) const {
  x.emit(WgmmaJoined{x.origin(), id_});
  if (issued_ != 0xF || !x.wants<AsyncIssue>()) return;
  static thread_local ChunkLists lists;
  const isa::Wgmma& w = *o_.wgmma;
  std::vector<Piece>& pieces = lists.of({.a_desc = o_.a_desc,
                                         .b_desc = o_.b_desc,
                                         .rank = rank_,
                                         .n = w.n,
                                         .a_bytes = isa::bytes(w.a),
                                         .b_bytes = isa::bytes(w.b),
                                         .a_shared = w.a_desc >= 0,
                                         .sparse = w.sparse,
                                         .transpose_a = o_.transpose_a,
                                         .transpose_b = o_.transpose_b});
  if (pieces.empty()) list_chunks(pieces);
  const auto tag = [](uint64_t d) {
    constexpr LayoutTag tags[4] = {layout_plain, layout_128b, layout_64b, layout_32b};
    return tags[d >> 62];
  };
  const bool one_layout = o_.wgmma->a_desc < 0 || tag(o_.a_desc) == tag(o_.b_desc);
  x.emit(AsyncIssue{.origin = x.origin(),
                    .id = id_,
                    .group = GroupKind::wgmma,
                    .reads = pieces,
                    .writes = {},
                    .mbarriers = {},
                    .mbarrier_bytes = {},
                    .layout = one_layout ? tag(o_.b_desc) : layout_unknown,
                    .name = "wgmma"});
}

// Register v of lane l: row l/4 (+8 for odd v), four bytes at 4 (l%4) (+16 for v >= 2) of the 32.
void WgmmaBody::read_a_registers(ClusterState& cluster) {
  const auto& regs = o_.operands[o_.wgmma->a_regs].elements;
  const WarpgroupRegisters warps = registers(cluster);
  a_.stride = k_bytes;
  a_.bytes.resize(64 * k_bytes);
  for (size_t w = 0; w < 4; ++w) {
    for (size_t v = 0; v < 4; ++v) {
      const uint8_t* lanes = warps[w] + regs[v].slot.offset;
      for (size_t l = 0; l < 32; ++l) {
        const size_t row = 16 * w + l / 4 + 8 * (v % 2), at = 4 * (l % 4) + 16 * (v / 2);
        std::memcpy(a_.bytes.data() + row * k_bytes + at, lanes + 4 * l, 4);
      }
    }
  }
}

void WgmmaBody::read(ClusterState& cluster) {
  if (!o_.moves) return;
  const CtaState& cta = cluster.ctas[rank_];
  if (o_.wgmma->a_regs >= 0)
    read_a_registers(cluster);
  else
    read_shared(cta, source_a(), a_);
  read_shared(cta, source_b(), b_);
  if (o_.wgmma->sparse) expand_a(cluster);
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

// A as the arithmetic wants it: 64 bytes of k a row, zeros where nothing was selected.
void WgmmaBody::expand_a(ClusterState& cluster) {
  if (o_.transpose_a) turn(a_);
  const WarpgroupRegisters warps = registers(cluster);
  const SparseShape shape = sparse_shape(o_.operands, *o_.wgmma);
  std::vector<uint8_t> dense(64 * 2 * k_bytes);
  for (size_t w = 0; w < 4; ++w) {
    uint32_t words[32];
    const Slot& slot = o_.operands[o_.wgmma->metadata].slot;
    std::memcpy(words, (slot.constant ? o_.constants : warps[w]) + slot.offset, sizeof words);
    SparseRows rows;
    read_sparse_metadata(words, shape, rows);
    expand_sparse_rows(a_.bytes.data() + 16 * w * k_bytes, k_bytes, shape, rows,
                       dense.data() + 16 * w * 2 * k_bytes, 2 * k_bytes);
    std::memcpy(selected_ + 16 * w, rows.selected, sizeof rows.selected);
  }
  a_.bytes = std::move(dense);
  a_.stride = 2 * k_bytes;
}

bool WgmmaBody::same_accumulators(const WgmmaBody& other) const {
  const auto &mine = accumulators(), &theirs = other.accumulators();
  return o_.wgmma->n == other.o_.wgmma->n && o_.wgmma->d == other.o_.wgmma->d &&
         mine.front().slot.offset == theirs.front().slot.offset &&
         mine.back().slot.offset == theirs.back().slot.offset;
}

bool WgmmaBody::overlaps(const WgmmaBody& other) const {
  if (last_register_ < other.first_register_ || other.last_register_ < first_register_) return false;
  for (const DecodedOperand& a : accumulators())
    for (const DecodedOperand& b : other.accumulators())
      if (a.slot.offset == b.slot.offset) return true;
  return false;
}

// Whether a later wgmma goes on with these accumulators: then they stay in the tile until it has run.
bool WgmmaBody::next_continues(const ClusterState& cluster) const {
  for (const AsyncOp& op : cluster.pending) {
    if (op.order_key != order_key(rank_, warpgroup_)) continue;
    auto* next = static_cast<WgmmaBody*>(op.body.get());
    if (same_accumulators(*next)) {
      next->chained_ = true;
      return true;
    }
    if (overlaps(*next)) return false;
  }
  return false;
}

void WgmmaBody::multiply(void* tile) const {
  // Decoded operands are large: one set a host thread, reused by every instruction.
  thread_local std::unique_ptr<tc::AOperand> a = std::make_unique<tc::AOperand>();
  thread_local std::unique_ptr<tc::BOperand> b = std::make_unique<tc::BOperand>();
  const isa::Wgmma& w = *o_.wgmma;
  const auto stride = [](const RawTile& t) { return static_cast<std::ptrdiff_t>(t.stride); };
  const auto major = [](bool transpose) { return transpose ? tc::Major::mn : tc::Major::k; };
  tc::decode_a(*a, *element_of(w.a), 64, w.k, {.base = a_.bytes.data(), .stride = stride(a_)},
               major(o_.transpose_a && !w.sparse), o_.negate_a);
  if (w.sparse) tc::select_sparse(*a, selected_);
  tc::decode_b(*b, *element_of(w.b), w.n, w.k, {.base = b_.bytes.data(), .stride = stride(b_)},
               major(o_.transpose_b), o_.negate_b);
  tc::MultiplyOptions options;
  options.zero_c = o_.zero_c;
  options.saturate = w.satfinite;
  if (w.d == isa::Type::f16)
    tc::multiply(*a, *b, static_cast<uint16_t*>(tile), tile_stride, options);
  else if (w.d == isa::Type::s32)
    tc::multiply(*a, *b, static_cast<int32_t*>(tile), tile_stride, options);
  else
    tc::multiply(*a, *b, static_cast<float*>(tile), tile_stride, options);
}

uint32_t* WgmmaBody::tile(WarpgroupState& group) const {
  const uint32_t first = accumulators().front().slot.offset;
  for (auto& t : group.tiles)
    if (t.first_register == first) return t.words.data();
  group.tiles.push_back({first, std::vector<uint32_t>(size_t{64} * tile_stride)});
  return group.tiles.back().words.data();
}

void WgmmaBody::accumulate(ClusterState& cluster) {
  uint32_t* words = tile(cluster.ctas[rank_].warpgroups[warpgroup_]);
  const bool halves = o_.wgmma->d == isa::Type::f16;
  if (!chained_ && !o_.zero_c)
    gather_accumulators(accumulators(), registers(cluster), o_.wgmma->n, halves, words);
  multiply(words);
  if (!next_continues(cluster))
    scatter_accumulators(accumulators(), registers(cluster), o_.wgmma->n, halves, words);
}

void WgmmaBody::land(ClusterState& cluster) {
  if (o_.moves) accumulate(cluster);
  for (uint32_t w = 0; w < 4; ++w) {
    Journal& journal = cluster.ctas[rank_].warps[warpgroup_ * 4 + w].wgmma;
    journal_mark(journal, id_, true);
    journal_prune(journal);
  }
}

int immediate(const MicroOp& op, int index) {
  return index < 0 ? 0 : static_cast<int>(op.operands[index].offset);
}

Operands operands_of(const Exec& x, const MicroOp& op, const isa::Wgmma& e) {
  Operands o;
  o.wgmma = &e;
  o.moves = op.moves;
  o.operands = op.operands;
  o.constants = x.program.constants.data();
  if (e.a_desc >= 0) o.a_desc = x.uniform_value(op.operands[e.a_desc]);
  o.b_desc = x.uniform_value(op.operands[e.b_desc]);
  o.zero_c = e.scale_d >= 0 &&
             (op.operands[e.scale_d].width == 1 ? (x.predicate_value(op.operands[e.scale_d]) & x.active) == 0
                                                : x.uniform_value(op.operands[e.scale_d]) == 0);
  o.negate_a = immediate(op, e.scale_a) < 0;
  o.negate_b = immediate(op, e.scale_b) < 0;
  o.transpose_a = immediate(op, e.trans_a) != 0;
  o.transpose_b = immediate(op, e.trans_b) != 0;
  return o;
}

// Of this warp, when it issues; the operation reads them again when it runs.
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

}  // namespace

Step exec_wgmma(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::Wgmma>(op);
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  const uint32_t warpgroup = x.warp->id / 4, in_group = x.warp->id % 4;
  if (x.active != ~0U || warpgroup * 4 + 4 > x.cta->warps.size()) return refuse_partial_warp(x);
  if (e.sparse && op.moves && !metadata_defined(x, op, e))
    return x.fault("PLD3066", undefined_sparse_metadata);
  auto& groups = x.cta->warpgroups;
  if (groups.size() <= warpgroup) groups.resize(x.cta->warps.size() / 4);
  const uint64_t sequence = groups[warpgroup].issued[in_group]++;
  const uint32_t rank = x.cta->rank;
  for (AsyncOp& pending : x.cluster.pending) {
    if (pending.order_key != order_key(rank, warpgroup)) continue;
    auto* body = static_cast<WgmmaBody*>(pending.body.get());
    if (!body->is(sequence)) continue;
    body->issued_by(in_group, pending.id);
    journal_issue(x.warp->wgmma, pending.id, x.active);
    if (x.cluster.events != nullptr) body->announce(x);
    return Step::next;
  }
  auto body = std::make_unique<WgmmaBody>(operands_of(x, op, e), rank, warpgroup, sequence);
  WgmmaBody* raw = body.get();
  const uint64_t id = x.issue(std::move(body), x.active, order_key(rank, warpgroup));
  raw->issued_by(in_group, id);
  journal_issue(x.warp->wgmma, id, x.active);
  if (x.cluster.events != nullptr) raw->announce(x);
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
  if (x.wants<GroupCommitted>()) x.emit(GroupCommitted{x.origin(), GroupKind::wgmma});
  return Step::next;
}

Step exec_wgmma_wait(Exec& x, const MicroOp& op) {
  const auto& e = effect<isa::WgmmaWait>(op);
  if (!x.converged(x.warp->alive)) return x.wait(Wait::Kind::convergence, x.missing(x.warp->alive));
  x.take_resumed();
  const auto n = static_cast<uint64_t>(e.n);
  if (!journal_satisfied(x.warp->wgmma, x.active, n, false)) return x.wait(Wait::Kind::wgmma_group, 0, n);
  if (x.wants<GroupWaited>()) x.emit(GroupWaited{x.origin(), GroupKind::wgmma, n, false});
  return Step::next;
}

}  // namespace palladion::sim
