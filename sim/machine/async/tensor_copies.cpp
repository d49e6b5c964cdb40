// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, tensormap.replace (PTX, "Tensor copy").
#include "sim/machine/async/tensor_copies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>
#include <span>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/tensor_pieces.h"
#include "sim/machine/exec/handlers.h"

namespace palladion::sim {

// --- tensor maps ----------------------------------------------------------------------------------
namespace {

// What isa::validate reads of a chip.
struct MapLimits {
  int sm = 0, box = 0, pixels = 0, shared = 0;
  friend bool operator==(const MapLimits&, const MapLimits&) = default;
};
MapLimits limits_of(const isa::ArchSpec& arch) {
  return {arch.sm, arch.max_box, arch.max_box_pixels, arch.shared_bytes_per_sm};
}

ReadMap decode_checked(const isa::EncodedTensorMap& bytes, const isa::ArchSpec& arch) {
  ReadMap r;
  auto map = isa::decode_tensor_map(bytes.bytes);
  if (!map) {
    r.error = map.error();
    return r;
  }
  r.map = *map;
  r.error = fmt::format("{}", fmt::join(isa::validate(r.map, arch), "; "));
  return r;
}

}  // namespace

const ReadMap& read_tensor_map(const uint8_t* bytes, const isa::ArchSpec& arch) {
  struct Entry {
    isa::EncodedTensorMap key;
    MapLimits limits;
    ReadMap value;
  };
  // A cache of a pure function: it changes no result.
  static thread_local std::array<std::unique_ptr<Entry>, 32> entries;
  auto& entry = entries[reinterpret_cast<uintptr_t>(bytes) / isa::tensor_map_alignment % entries.size()];
  if (entry == nullptr || entry->limits != limits_of(arch) ||
      std::memcmp(entry->key.bytes.data(), bytes, isa::tensor_map_bytes) != 0) {
    if (entry == nullptr) entry = std::make_unique<Entry>();
    std::memcpy(entry->key.bytes.data(), bytes, isa::tensor_map_bytes);
    entry->limits = limits_of(arch);
    entry->value = decode_checked(entry->key, arch);
  }
  return entry->value;
}

// --- copies ---------------------------------------------------------------------------------------
namespace {

using MapBytes = uint8_t[isa::tensor_map_bytes];

// The 128 bytes that an instruction names, in `copy` where the cluster's own stores are among them; nullptr
// after a fault. Addresses below every window are offsets into the kernel's parameters: the operand was the
// parameter's name.
const uint8_t* map_bytes(Exec& x, uint64_t address, MapBytes& copy) {
  if (address + isa::tensor_map_bytes <= x.launch.params.size()) address += x.launch.param_base;
  if (space_of(address) != isa::Space::global) {
    x.fault(Code::tensor_map_address, say<Phrase::tensor_map_outside>(address));
    return nullptr;
  }
  const uint8_t* const bytes =
      x.read(isa::Space::global, address, isa::tensor_map_bytes, 0, "tensor map's read", copy);
  if (bytes == nullptr || address % isa::tensor_map_alignment == 0) return bytes;
  x.fault(Code::misaligned_access,
          say<Phrase::misaligned_object>("tensor map", address, isa::tensor_map_alignment));
  return nullptr;
}

// The map, checked against the instruction; nullptr after a fault.
const isa::TensorMap* checked_map(Exec& x, uint64_t address) {
  MapBytes copy;
  const uint8_t* bytes = map_bytes(x, address, copy);
  if (bytes == nullptr) return nullptr;
  const ReadMap& read = read_tensor_map(bytes, *x.launch.arch);
  if (!read.error.empty()) {
    x.fault(Code::bad_tensor_map, say<Phrase::tensor_map_rule>(read.error));
    return nullptr;
  }
  return &read.map;
}

// An operand's elements: one vector, or the operand itself.
template <class T, size_t size>
size_t values_of(const Exec& x, const DecodedOperand& o, int lane, std::array<T, size>& values,
                 size_t n = 0) {
  const size_t given = o.kind == DecodedOperand::Kind::vector ? o.elements.size() : 1;
  for (size_t k = 0; k < given && n < size; ++k)
    values[n++] = static_cast<T>(x.lane_value(vector_element(o, static_cast<int>(k)), lane));
  return n;
}

tl::expected<isa::TensorWalk, isa::NoWalk> walk_im2col(const Exec& x, const MicroOp& op,
                                                       const isa::TensorCopy& e, const isa::TensorMap& map,
                                                       std::span<const int32_t> at, int lane) {
  std::array<uint16_t, 3> offsets{};
  size_t given = 0;
  if (e.im2col_offsets >= 0) given = values_of(x, op.operands[e.im2col_offsets], lane, offsets);
  if (e.mode == isa::TensorMode::im2col)
    return isa::TensorWalk::im2col(map, at, std::span(offsets).first(given));
  const auto mode = e.mode == isa::TensorMode::im2col_w_128 ? isa::TensorMapMode::im2col_w_128
                                                            : isa::TensorMapMode::im2col_w;
  isa::TensorMap wide = map;
  if (map.mode == isa::TensorMapMode::im2col) wide.mode = mode;  // a device's map does not say which
  if (wide.mode != mode)
    return tl::unexpected(isa::NoWalk{
        fmt::format("the instruction is {} but the tensor map was made for {}", name(mode), name(map.mode))});
  return isa::TensorWalk::im2col_wide(wide, at, offsets[0], offsets[1]);
}

tl::expected<isa::TensorWalk, isa::NoWalk> walk_of(const Exec& x, const MicroOp& op, const isa::TensorCopy& e,
                                                   const isa::TensorMap& map, int lane) {
  std::array<int32_t, isa::max_tensor_rank> at{};
  size_t n = 0;
  for (const DecodedOperand& o : op.operands[e.tensor].elements) n = values_of(x, o, lane, at, n);
  const auto coordinates = std::span(at).first(n);
  const bool rows = e.mode == isa::TensorMode::gather4 || e.mode == isa::TensorMode::scatter4;
  if (n != (rows ? 5 : static_cast<size_t>(e.rank)))
    return tl::unexpected(isa::NoWalk{fmt::format("a {}d copy with {} coordinates", e.rank, n)});
  if (rows) return isa::TensorWalk::four_rows(map, coordinates);
  if (e.mode == isa::TensorMode::tile) return isa::TensorWalk::tiled(map, coordinates);
  return walk_im2col(x, op, e, map, coordinates, lane);
}

bool check_tile(Exec& x, uint64_t address, const isa::TensorWalk& walk) {
  if (address % isa::tensor_copy_shared_alignment != 0) {
    x.fault(Code::misaligned_tile,
            say<Phrase::misaligned_in_shared>("tensor copy with its tile", address & shared_offset_mask,
                                              isa::tensor_copy_shared_alignment));
    return false;
  }
  return x.shared(address, walk.footprint_bytes(), "tensor copy's tile") != nullptr;
}

// PTX's name for what a tensor holds, as reductions see it.
isa::Type element_type(isa::TensorDataType type) {
  using D = isa::TensorDataType;
  switch (type) {
    case D::u32:
      return isa::Type::u32;
    case D::s32:
      return isa::Type::s32;
    case D::u64:
      return isa::Type::u64;
    case D::s64:
      return isa::Type::s64;
    case D::f16:
      return isa::Type::f16;
    case D::bf16:
      return isa::Type::bf16;
    case D::f32:
    case D::f32_ftz:
    case D::tf32:
    case D::tf32_ftz:
      return isa::Type::f32;
    case D::f64:
      return isa::Type::f64;
    default:
      return isa::Type::none;
  }
}

Step issue_tile(Exec& x, int lane, TileCopy tile, isa::AsyncGroup group) {
  const AsyncOp& issued = x.issue(std::move(tile), 1U << lane, group);
  if (x.wants<AsyncIssue>()) TilePieces(std::get<TileCopy>(issued.payload)).announce(x, issued);
  return Step::next;
}

Step issue_load(Exec& x, const MicroOp& op, const isa::TensorCopy& e, int lane, TileCopy tile) {
  const uint64_t mbarrier = x.address_of_lane(op.operands[e.mbar], lane);
  tile.pairs = e.cta_group == 2;
  if (!check_mbarrier(x, mbarrier, tile.shared, "tensor copy", tile.pairs)) return Step::fault;
  const uint64_t ctas =
      e.cta_mask >= 0 ? x.lane_value(op.operands[e.cta_mask], lane) : uint64_t{1} << rank_of(tile.shared);
  if (!check_multicast(x, ctas, "tensor copy")) return Step::fault;
  tile.ctas = static_cast<uint32_t>(ctas);
  tile.mbarrier = Exec::shared_address(mbarrier);
  return issue_tile(x, lane, std::move(tile), isa::AsyncGroup::none);
}

Step issue_store(Exec& x, const isa::TensorCopy& e, int lane, TileCopy tile) {
  if (const auto operation = atomic_op(e.op)) {
    const bool flush =
        tile.type == isa::TensorDataType::f32_ftz || tile.type == isa::TensorDataType::tf32_ftz;
    tile.reduce = reduction(*operation, element_type(tile.type), flush);
    if (tile.reduce == nullptr)
      return x.fault(Code::tensor_reduction_type, say<Phrase::tensor_reduction>(name(tile.type)));
  }
  return issue_tile(x, lane, std::move(tile), isa::AsyncGroup::bulk);
}

// The copy of one lane: every thread that executes the instruction issues one of its own.
Step issue_lane(Exec& x, const MicroOp& op, const isa::TensorCopy& e, int lane) {
  const isa::TensorMap* map = checked_map(x, x.address_of_lane(op.operands[e.tensor], lane));
  if (map == nullptr) return Step::fault;
  if (const std::string why = isa::why_not_copied(*map, e.load); !why.empty() && !e.prefetch)
    return x.fault(Code::tensor_map_mismatch, say<Phrase::tensor_map_does_not_fit>(why));
  auto walk = walk_of(x, op, e, *map, lane);
  if (walk && !e.load && !e.prefetch) walk = walk->for_store();
  if (!walk) {
    if (walk.error().is_unsupported) return x.unsupported(say<Phrase::stated_reason>(walk.error().reason));
    return x.fault(Code::tensor_map_mismatch, say<Phrase::tensor_map_does_not_fit>(walk.error().reason));
  }
  if (e.prefetch) return Step::next;  // a hint to L2, without an effect on values
  const uint64_t shared = x.address_of_lane(op.operands[e.shared], lane);
  if (!check_tile(x, shared, *walk)) return Step::fault;
  TileCopy tile(*walk);
  tile.load = e.load;
  tile.tensor_map = x.address_of_lane(op.operands[e.tensor], lane);
  tile.global_address = Address(map->global_address);
  tile.moves = op.moves;
  tile.swizzle = map->swizzle;
  tile.l2_promotion = map->l2_promotion;
  tile.type = map->data_type;
  tile.fill = map->oob_fill;
  tile.shared = Exec::shared_address(shared);
  tile.element_bytes = static_cast<uint32_t>(map->element_bytes());
  return e.load ? issue_load(x, op, e, lane, std::move(tile)) : issue_store(x, e, lane, std::move(tile));
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::TensorCopy& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (const Step s = issue_lane(x, op, e, std::countr_zero(m)); s != Step::next) return s;
  return Step::next;
}

// --- tensormap.replace ----------------------------------------------------------------------------
Step exec(Exec& x, const MicroOp& op, const isa::TensormapReplace& e) {
  const isa::Module& module = *x.program.module;
  const bool before_8_5 = module.version_major * 10 + module.version_minor < 85;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const uint64_t address = x.address_of_lane(op.operands[e.address], i);
    if (address % isa::tensor_map_alignment != 0)
      return x.fault(Code::misaligned_access,
                     say<Phrase::misaligned_object>("tensormap.replace", address, isa::tensor_map_alignment));
    std::array<std::byte, isa::tensor_map_bytes> map;
    auto* const copy = reinterpret_cast<uint8_t*>(map.data());
    const uint8_t* const bytes = x.read(e.space, address, map.size(), i, "tensormap.replace", copy);
    if (bytes == nullptr) return Step::fault;
    if (bytes != copy) std::memcpy(copy, bytes, map.size());
    uint64_t value = x.lane_value(op.operands[e.value], i);
    // Strides were counted in units of 16 bytes before PTX 8.5.
    if (e.field == isa::TensorMapField::global_stride && before_8_5) value *= 16;
    const int ordinal = e.ordinal < 0 ? 0 : static_cast<int>(x.lane_value(op.operands[e.ordinal], i));
    if (auto done = isa::replace_field(map, e.field, ordinal, value); !done)
      return x.fault(Code::bad_tensormap_replace, say<Phrase::stated_reason>(done.error()));
    x.write(e.space, address, copy, map.size(), i, "tensormap.replace");
  }
  x.changed();
  if (x.wants<Access>()) {
    uint64_t addresses[32];
    x.addresses(op.operands[e.address], addresses);
    x.emit(Access{x.origin(), Access::Kind::write, e.space, isa::tensor_map_bytes, addresses, x.active,
                  isa::Order::weak, isa::Scope::cta});
  }
  return Step::next;
}

}  // namespace palladion::sim
