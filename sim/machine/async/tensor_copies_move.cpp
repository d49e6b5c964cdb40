// How the bytes of a tile move: gathered run by run into a dense copy of the tile, then written.
#include <fmt/format.h>

#include <optional>

#include "isa/formats/tensor_values.h"
#include "sim/machine/async/tensor_copies.h"
#include "sim/machine/exec/values.h"

namespace palladion::sim {
namespace {

// The allocation behind a tensor. Only the bytes that a box touches must be inside it, so each run is
// checked; nobody checks a map against its buffer before.
class TensorBytes {
 public:
  TensorBytes(ClusterState& cluster, const TileMove& m) : cluster_(cluster), move_(m) {
    if (const Allocation* a = cluster.memory->lookup(m.global_address)) {
      origin_ = a->bytes + (m.global_address - a->base);
      first_ = -static_cast<int64_t>(m.global_address - a->base);
      end_ = static_cast<int64_t>(a->size) + first_;
    }
  }
  // nullptr after a fault.
  uint8_t* at(const isa::BoxRun& run, const char* what) const {
    if (run.global_offset >= first_ && run.global_offset + run.bytes <= end_)
      return origin_ + run.global_offset;
    const Address address = move_.global_address + static_cast<uint64_t>(run.global_offset);
    async_fault(cluster_, move_.origin, "PLD3022",
                fmt::format("tensor copy's {} of {} bytes at global address {}: out of bounds", what,
                            run.bytes, cluster_.memory->describe(address)),
                "the tensor map describes a tensor larger than its buffer (rows of stores end at multiples "
                "of 16 bytes)");
    return nullptr;
  }

  // The box without its bytes: whether the tensor has them, and that a store did not bring them.
  void check(const char* what) const {
    move_.walk.for_each_run([&](const isa::BoxRun& run) {
      if (run.in_bounds) at(run, what);
    });
  }
  void leave_out() const {
    move_.walk.for_each_run([&](const isa::BoxRun& run) {
      if (run.in_bounds && at(run, "write") != nullptr)
        cluster_.memory->note(move_.global_address + static_cast<uint64_t>(run.global_offset), run.bytes,
                              false);
    });
  }

 private:
  ClusterState& cluster_;
  const TileMove& move_;
  uint8_t* origin_ = nullptr;
  int64_t first_ = 0, end_ = 0;  // offsets from the tensor's address
};

// Moves tile rows between a dense copy and shared memory.
template <class Move>
void for_each_piece(const TileMove& m, Move&& move) {
  const uint32_t address = m.shared & shared_offset_mask;
  const uint32_t rows = m.walk.rows(), pitch = m.walk.row_pitch(), inner = m.walk.transaction_bytes() / rows;
  if (pitch == inner) return move(address, 0U, rows * inner);
  for (uint32_t r = 0; r < rows; ++r) move(address + r * pitch, r * pitch, inner);
}

class Tile {
 public:
  explicit Tile(uint32_t bytes) : bytes_(std::make_unique_for_overwrite<uint8_t[]>(bytes)) {}
  uint8_t* at(uint32_t offset) { return bytes_.get() + offset; }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
};

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

// Rows of the usual widths without a call: a tile has a hundred of them.
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

class TensorLoad final : public AsyncOp::Body {
 public:
  explicit TensorLoad(TileMove m) : move_(std::move(m)) {}

  void read(ClusterState& cluster) override {
    const TensorBytes tensor(cluster, move_);
    if (!move_.moves) return tensor.check("read");
    tile_.emplace(move_.walk.footprint_bytes());
    move_.walk.for_each_run([&](const isa::BoxRun& run) {
      uint8_t* to = tile_->at(run.tile_offset);
      if (!run.in_bounds) return fill(to, run.bytes);
      const uint8_t* from = tensor.at(run, "read");
      if (from == nullptr) return;
      copy_row(to, from, run.bytes);
      if (isa::is_rounded_by_loads(move_.type)) isa::round_loaded({to, run.bytes});
    });
  }
  void land(ClusterState& cluster) override {
    if (cluster.faulted) return;
    for_each_rank(move_.ctas, [&](uint32_t rank) {
      if (move_.moves)
        put(cluster.ctas[rank].shared.data());
      else
        note_shared(cluster, at_rank(move_.shared, rank), move_.walk.footprint_bytes(), false);
      complete_tx(cluster, move_.origin, at_rank(move_.mbarrier, rank), move_.walk.transaction_bytes());
    });
  }
  const char* name() const override { return "cp.async.bulk.tensor load"; }
  void describe(Traffic& t) const override {
    sim::describe(move_, t);
    t.kind = Traffic::Kind::tma_load;
  }

 private:
  void put(uint8_t* shared) {
    for_each_piece(move_, [&](uint32_t address, uint32_t offset, uint32_t bytes) {
      place(shared, tile_->at(offset), address, bytes, move_.swizzle);
    });
  }
  void fill(uint8_t* to, uint32_t bytes) const {
    if (move_.fill == isa::OobFill::zero) {
      std::memset(to, 0, bytes);
      return;
    }
    for (uint32_t i = 0; i < bytes; i += 2) std::memcpy(to + i, &isa::tensor_nan_fill, 2);
  }

  TileMove move_;
  std::optional<Tile> tile_;
};

class TensorStore final : public AsyncOp::Body {
 public:
  explicit TensorStore(TileMove m) : move_(std::move(m)) {}

  void read(ClusterState& cluster) override {
    if (!move_.moves) return;
    tile_.emplace(move_.walk.footprint_bytes());
    uint8_t* shared = cluster.ctas[rank_of(move_.shared)].shared.data();
    for_each_piece(move_, [&](uint32_t address, uint32_t offset, uint32_t bytes) {
      fetch(shared, tile_->at(offset), address, bytes, move_.swizzle);
    });
  }
  void land(ClusterState& cluster) override {
    const TensorBytes tensor(cluster, move_);
    if (!move_.moves) return tensor.leave_out();
    move_.walk.for_each_run([&](const isa::BoxRun& run) {
      if (!run.in_bounds) return;
      uint8_t* to = tensor.at(run, "write");
      if (to == nullptr) return;
      if (move_.reduce != nullptr)
        move_.reduce(to, tile_->at(run.tile_offset), run.bytes / move_.element_bytes);
      else
        copy_row(to, tile_->at(run.tile_offset), run.bytes);
    });
  }
  bool at_edge() const override { return move_.reduce != nullptr; }
  void describe(Traffic& t) const override {
    sim::describe(move_, t);
    t.kind = move_.reduce != nullptr ? Traffic::Kind::tma_reduce : Traffic::Kind::tma_store;
  }
  const char* name() const override {
    return move_.reduce != nullptr ? "cp.reduce.async.bulk.tensor" : "cp.async.bulk.tensor store";
  }

 private:
  TileMove move_;
  std::optional<Tile> tile_;
};

}  // namespace

void describe(const TileMove& move, Traffic& t) {
  t.tiled = true;
  t.bytes = move.walk.transaction_bytes();
  t.rows = move.walk.rows();
  t.ctas = move.ctas;
  t.tensor_map = move.tensor_map;
  t.pairs_of_lines = move.l2_promotion == isa::L2Promotion::b256;
  move.walk.for_each_run([&](const isa::BoxRun& run) {
    if (run.in_bounds)
      append(t.global, {false, move.global_address + static_cast<uint64_t>(run.global_offset), run.bytes});
  });
}

std::unique_ptr<AsyncOp::Body> make_tensor_load(TileMove move) {
  return std::make_unique<TensorLoad>(std::move(move));
}
std::unique_ptr<AsyncOp::Body> make_tensor_store(TileMove move) {
  return std::make_unique<TensorStore>(std::move(move));
}

}  // namespace palladion::sim
