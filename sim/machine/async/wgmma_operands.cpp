#include "sim/machine/async/wgmma_operands.h"

#include "isa/formats/fragments.h"
#include "isa/formats/matrix_descriptor.h"

namespace palladion::sim {
namespace {

// The layout of every wgmma's A in shared memory: 32 bytes of k (64 if dense beside a sparse A) for each row
// of m; where m is contiguous, one row of m for each k.
constexpr size_t k_bytes = 32;

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
    const uint64_t mixed = (key.a_desc * 31 + key.b_desc + key.rank) * 0x9E37'79B9'7F4A'7C15;
    Entry& e = entries_[mixed >> 57];
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
  std::array<Entry, 128> entries_;
};

void list_chunks(const WarpgroupProduct& p, const isa::Wgmma& e, uint32_t rank, std::vector<Piece>& pieces) {
  const uint32_t window = rank << cta_rank_shift;
  const auto add = [&](uint32_t address) {
    append(pieces, shared_piece(SharedAddress(address | window), 16));
  };
  if (e.a_desc >= 0) for_each_chunk(source_a(p, e), add);
  for_each_chunk(source_b(p, e), add);
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

// From rows of m to rows of k; halves only, as the instruction has it.
void transpose(RawTile& tile) {
  const size_t m = tile.stride / 2, k = tile.bytes.size() / tile.stride;
  std::vector<uint8_t> columns(tile.bytes.size());
  for (size_t i = 0; i < k; ++i)
    for (size_t r = 0; r < m; ++r)
      std::memcpy(columns.data() + 2 * (r * k + i), tile.bytes.data() + i * tile.stride + 2 * r, 2);
  tile.bytes = std::move(columns);
  tile.stride = 2 * k;
}

// A as the arithmetic requires it: 64 bytes of k a row, zeros where nothing was selected.
void expand_a(WarpgroupProduct& p, const ClusterRun& run, const AsyncOp& op) {
  if (p.transpose_a) transpose(p.a);
  const StatedWgmma s(run, op);
  const WarpgroupRegisters warps = registers_of(run, op);
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

}  // namespace

SparseShape sparse_shape(const DecodedOperand* operands, const isa::Wgmma& e) {
  return {isa::bits(e.a), e.k, static_cast<int>(operands[e.selector].offset)};
}

WarpgroupRegisters registers_of(const ClusterRun& run, const AsyncOp& op) {
  WarpgroupRegisters r;
  const uint32_t first = warpgroup_of(run, op) * run.program.mma_warps();
  for (uint32_t w = 0; w < r.size(); ++w)
    r[w] = run.cluster.ctas[op.cta_rank].warps[first + w].registers.data();
  return r;
}

void read_fragment(const std::vector<DecodedOperand>& regs, const uint8_t* registers, size_t warp,
                   RawTile& tile) {
  tile.stride = k_bytes;
  tile.bytes.resize(64 * k_bytes);
  for (size_t v = 0; v < 4; ++v) {
    const uint8_t* lanes = registers + regs[v].slot.offset;
    for (size_t l = 0; l < 32; ++l)
      std::memcpy(tile.bytes.data() + a_places[v][32 * warp + l], lanes + 4 * l, 4);
  }
}

void read_operands(WarpgroupProduct& p, const ClusterRun& run, const AsyncOp& op) {
  const StatedWgmma s(run, op);
  const CtaState& cta = run.cluster.ctas[op.cta_rank];
  if (p.a_in_registers && !s.micro.takes_fragment_at_issue) {
    const WarpgroupRegisters warps = registers_of(run, op);
    for (size_t w = 0; w < warps.size(); ++w)
      read_fragment(s.micro.operands[s.wgmma.a_regs].elements, warps[w], w, p.a);
  } else if (!p.a_in_registers) {
    read_shared(cta, source_a(p, s.wgmma), p.a);
  }
  read_shared(cta, source_b(p, s.wgmma), p.b);
  if (s.wgmma.sparse) expand_a(p, run, op);
}

void announce(const Exec& x, const AsyncOp& op, const WarpgroupProduct& p) {
  x.emit(AsyncJoined{x.origin(), op.id});
  if (!p.ready(x, op) || !x.wants<AsyncIssue>()) return;
  static thread_local ChunkLists lists;
  const isa::Wgmma& e = StatedWgmma(x, op).wgmma;
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

}  // namespace palladion::sim
