// How the bytes of a tile move: gathered run by run into a dense copy of the tile, then written.
#include "isa/formats/tensor_values.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/tensor_copies.h"
#include "sim/machine/exec/values_checked.h"

namespace palladion::sim {
namespace {

// Rows of the usual widths are copied without a call: a tile has a hundred of them.
inline void copy_row(uint8_t* to, const uint8_t* from, uint32_t bytes) {
  switch (bytes) {
    case 128:
      std::memcpy(to, from, 128);
      return;
    case 64:
      std::memcpy(to, from, 64);
      return;
    case 32:
      std::memcpy(to, from, 32);
      return;
    default:
      std::memcpy(to, from, bytes);
  }
}

// The allocation behind a tensor. Only the bytes that a box touches must be inside it, so each run is
// checked; a map is not checked against its buffer earlier.
class TensorBytes {
 public:
  TensorBytes(const ClusterRun& run, const AsyncOp& op, const TileCopy& tile)
      : run_(run), op_(op), tile_(tile) {
    if (const Allocation* a = run.memory.lookup(tile.global_address)) {
      origin_ = a->bytes + (tile.global_address - a->base);
      first_ = -static_cast<int64_t>(tile.global_address - a->base);
      end_ = static_cast<int64_t>(a->size) + first_;
    }
  }
  // nullptr after a fault.
  uint8_t* at(const isa::BoxRun& run, const char* what) const {
    if (run.global_offset >= first_ && run.global_offset + run.bytes <= end_)
      return origin_ + run.global_offset;
    async_fault(run_, op_, Code::global_bounds,
                say<Phrase::outside_global>(what, run.bytes, run_.memory.describe(address(run))),
                say<Phrase::tensor_beyond_buffer>());
    return nullptr;
  }

  // A row between the tile and the tensor, which has it at `here`.
  void read(const isa::BoxRun& run, const uint8_t* here, uint8_t* row) const {
    const StoreBuffer& stores = run_.cluster.stores;
    const uint8_t* const from = stores.empty() ? here : stores.visible(address(run), here, run.bytes, row);
    if (from != row) copy_row(row, from, run.bytes);
  }
  void write(const isa::BoxRun& run, uint8_t* here, const uint8_t* row) const {
    if (run_.delays_stores())
      run_.cluster.stores.write(run_.memory, address(run), here, row, run.bytes);
    else
      copy_row(here, row, run.bytes);
  }

  // Without values: checks that the tensor has the box's bytes, and marks those of a store as not
  // materialised.
  void check(const char* what) const {
    tile_.walk.for_each_run([&](const isa::BoxRun& run) {
      if (run.in_bounds) at(run, what);
    });
  }
  void drop() const {
    tile_.walk.for_each_run([&](const isa::BoxRun& run) {
      if (run.in_bounds && at(run, "write") != nullptr) run_.memory.note(address(run), run.bytes, false);
    });
  }

 private:
  Address address(const isa::BoxRun& run) const {
    return tile_.global_address + static_cast<uint64_t>(run.global_offset);
  }

  const ClusterRun& run_;
  const AsyncOp& op_;
  const TileCopy& tile_;
  uint8_t* origin_ = nullptr;
  int64_t first_ = 0, end_ = 0;  // offsets from the tensor's address
};

// Moves tile rows between a dense copy and shared memory.
template <class Move>
void for_each_piece(const TileCopy& m, Move&& move) {
  const uint32_t address = m.shared & shared_offset_mask;
  const uint32_t rows = m.walk.rows(), pitch = m.walk.row_pitch(), inner = m.walk.row_bytes();
  if (pitch == inner) return move(address, 0U, rows * inner);
  for (uint32_t r = 0; r < rows; ++r) move(address + r * pitch, r * pitch, inner);
}

// A dense tile to its place in shared memory, and back. Whole 128-byte lines, the usual case, move as
// eight chunks each that share one XOR.
template <bool to_shared>
void move_lines(uint8_t* shared, uint8_t* tile, uint32_t address, uint32_t bytes, isa::Swizzle s) {
  for (uint32_t line = 0; line < bytes; line += 128) {
    uint8_t* there = shared + address + line;
    const uint32_t flip = isa::swizzle_bits((address + line) >> 7, s);
    for (uint32_t chunk = 0; chunk < 128; chunk += 16) {
      if constexpr (to_shared)
        std::memcpy(there + (chunk ^ flip), tile + line + chunk, 16);
      else
        std::memcpy(tile + line + chunk, there + (chunk ^ flip), 16);
    }
  }
}

bool whole_lines(uint32_t address, uint32_t bytes, isa::Swizzle s) {
  return ((address | bytes) & 127) == 0 && isa::chunk_bytes(s) >= 16;
}

void place(uint8_t* shared, uint8_t* tile, uint32_t address, uint32_t bytes, isa::Swizzle s) {
  if (s == isa::Swizzle::none)
    std::memcpy(shared + address, tile, bytes);
  else if (whole_lines(address, bytes, s))
    move_lines<true>(shared, tile, address, bytes, s);
  else
    isa::store_swizzled(reinterpret_cast<std::byte*>(shared), address, reinterpret_cast<std::byte*>(tile),
                        bytes, s);
}

void fetch(uint8_t* shared, uint8_t* tile, uint32_t address, uint32_t bytes, isa::Swizzle s) {
  if (s == isa::Swizzle::none)
    std::memcpy(tile, shared + address, bytes);
  else if (whole_lines(address, bytes, s))
    move_lines<false>(shared, tile, address, bytes, s);
  else
    isa::load_swizzled(reinterpret_cast<std::byte*>(tile), reinterpret_cast<std::byte*>(shared), address,
                       bytes, s);
}

void fill(uint8_t* to, uint32_t bytes, isa::OobFill with) {
  if (with == isa::OobFill::zero) {
    std::memset(to, 0, bytes);
    return;
  }
  for (uint32_t i = 0; i < bytes; i += 2) std::memcpy(to + i, &isa::tensor_nan_fill, 2);
}

// A load's box, with the fill value for elements outside the tensor.
void gather_box(TileCopy& t, const TensorBytes& tensor) {
  t.walk.for_each_run([&](const isa::BoxRun& run) {
    uint8_t* to = t.tile.data() + run.tile_offset;
    if (!run.in_bounds) return fill(to, run.bytes, t.fill);
    const uint8_t* from = tensor.at(run, "tensor copy's read");
    if (from == nullptr) return;
    tensor.read(run, from, to);
    if (isa::is_rounded_by_loads(t.type)) isa::round_loaded({to, run.bytes});
  });
}

void scatter_box(const TileCopy& t, const TensorBytes& tensor) {
  t.walk.for_each_run([&](const isa::BoxRun& run) {
    if (!run.in_bounds) return;
    uint8_t* to = tensor.at(run, "tensor copy's write");
    if (to == nullptr) return;
    if (t.reduce != nullptr)
      t.reduce(to, t.tile.data() + run.tile_offset, run.bytes / t.element_bytes);
    else
      tensor.write(run, to, t.tile.data() + run.tile_offset);
  });
}

void land_in_shared(TileCopy& t, const ClusterRun& run, const AsyncOp& op) {
  for_each_rank(t.ctas, [&](CtaRank rank) {
    uint8_t* const shared = run.cluster.ctas[rank].shared.data();
    if (t.moves)
      for_each_piece(t, [&](uint32_t address, uint32_t offset, uint32_t bytes) {
        place(shared, t.tile.data() + offset, address, bytes, t.swizzle);
      });
    else
      note_shared(run.cluster, at_rank(t.shared, rank), t.walk.footprint_bytes(), false);
    complete_tx(run, op, t.mbarrier_of(rank), t.walk.transaction_bytes());
  });
}

}  // namespace

SharedAddress TileCopy::mbarrier_of(CtaRank rank) const {
  return at_rank(mbarrier, pairs ? CtaRank((rank & ~1U) | (rank_of(mbarrier) & 1U)) : rank);
}

void TileCopy::read(const ClusterRun& run, const AsyncOp& op) {
  if (load && !moves) return TensorBytes(run, op, *this).check("read");
  if (!moves) return;
  tile.resize(walk.footprint_bytes());
  if (walk.padded()) std::memset(tile.data(), 0, tile.size());  // what pads is not defined
  if (load) return gather_box(*this, TensorBytes(run, op, *this));
  uint8_t* const from = run.cluster.ctas[rank_of(shared)].shared.data();
  for_each_piece(*this, [&](uint32_t address, uint32_t offset, uint32_t bytes) {
    fetch(from, tile.data() + offset, address, bytes, swizzle);
  });
}

void TileCopy::land(const ClusterRun& run, const AsyncOp& op) {
  if (load) {
    if (!run.cluster.faulted) land_in_shared(*this, run, op);
    return;
  }
  run.count_stores(walk.footprint_bytes());
  const TensorBytes tensor(run, op, *this);
  if (moves)
    scatter_box(*this, tensor);
  else
    tensor.drop();
}

const char* TileCopy::name() const {
  return reduce != nullptr ? "cp.reduce.async.bulk.tensor" : "cp.async.bulk.tensor";
}

void TileCopy::describe(const AsyncOp&, Traffic& t) const {
  t.source = load ? isa::Space::global : isa::Space::shared_cta;
  t.destination = load ? isa::Space::shared_cluster : isa::Space::global;
  t.reduces = reduce != nullptr;
  t.bytes = walk.transaction_bytes();
  t.rows = walk.rows();
  t.ctas = ctas;
  t.tensor_map = tensor_map;
  t.pairs_of_lines = l2_promotion == isa::L2Promotion::b256;
  walk.for_each_run([&](const isa::BoxRun& run) {
    if (run.in_bounds)
      append(t.global, global_piece(global_address + static_cast<uint64_t>(run.global_offset), run.bytes));
  });
}

}  // namespace palladion::sim
