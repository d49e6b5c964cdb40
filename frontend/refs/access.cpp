#include "frontend/refs/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace palladion::frontend {

using pl::Scalar;
using plgpu::MemorySpace;
using plgpu::PhysicalLayout;
using plgpu::Ref;

namespace {

bool power_of_two(int64_t v) { return v > 0 && std::has_single_bit(static_cast<uint64_t>(v)); }

Scalar as_wide(const Scalar& s) { return s.astype(pl::DType::s64); }

// start / tile * outer + start % tile * inner, without the second when start is a multiple of tile.
Scalar dim_offset(const PhysicalLayout::Dim& d, const Scalar& start, bool whole_tiles, bool wide) {
  if (start.is_constant()) {
    const int64_t v = d.offset(start.as_int());
    return wide ? Scalar::constant(pl::DType::s64, v) : Scalar(v);
  }
  const auto widen = [&](const Scalar& s) { return wide ? as_wide(s) : s; };
  if (d.tile == 1) return widen(start) * d.outer;
  const Scalar outer = widen(start / d.tile) * d.outer;
  return whole_tiles ? outer : outer + widen(start % d.tile) * d.inner;
}

}  // namespace

Scalar lane_scalar(Recorder& r) {
  return Scalar::from_register(pl::DType::s32, r.thread.lane_in_group(), true);
}

bool is_contiguous(const Ref& ref) {
  int64_t stride = pl::bytes(ref.dtype());
  if (ref.base().physical.swizzle != 16) return false;
  for (size_t i = ref.rank(); i-- > 0;) {
    const auto& d = ref.dims()[i];
    if (d.base < 0 || d.size == 1) continue;
    const auto& p = ref.base().physical.dims[static_cast<size_t>(d.base)];
    if (p.tile != 1 || p.outer != stride) return false;
    stride *= d.size;
  }
  return true;
}

Scalar window_offset(const Ref& ref) {
  const auto& base = ref.base();
  const bool wide = ref.space() == MemorySpace::gmem;
  std::vector<bool> sliced(base.shape.size());
  for (const auto& d : ref.dims())
    if (d.base >= 0) sliced[static_cast<size_t>(d.base)] = true;
  Scalar offset = wide ? Scalar::constant(pl::DType::s64, int64_t{0}) : Scalar(0);
  for (size_t b = 0; b < base.shape.size(); ++b) {
    offset = offset + dim_offset(base.physical.dims[b], ref.starts()[b], sliced[b], wide);
  }
  return offset;
}

Scalar shared_address(const Ref& ref) {
  const Scalar base = Scalar::from_register(pl::DType::s32, Recorder::current().smem.base(), true, 1024);
  return base + (window_offset(ref) + ref.base().smem_offset);
}

Access::Access(Recorder& r, const Ref& ref, std::vector<ThreadTerm> terms)
    : r_(r), ref_(ref), terms_(std::move(terms)) {
  if (ref.space() == MemorySpace::tmem)
    fail(Code::bad_space,
         fmt::format("{}: tensor memory has no loads and stores of elements", to_string(ref)),
         "async_load_tmem and async_store_tmem move whole windows to and from registers");
  wide_ = ref.space() == MemorySpace::gmem;
  if (!wide_ && ref.base().physical.swizzle != 16) pattern_ = ref.base().physical.swizzle * 8;
  split_terms();
  prepare();
}

const PhysicalLayout::Dim& Access::physical(int view_dim) const {
  static const PhysicalLayout::Dim unit{};
  const int b = ref_.dims()[static_cast<size_t>(view_dim)].base;
  return b < 0 ? unit : ref_.base().physical.dims[static_cast<size_t>(b)];
}

void Access::add_piece(int64_t place, int64_t size, int64_t step) {
  if (size == 1 || step == 0) return;
  for (Piece& p : pieces_) {
    if (p.place * p.size == place && p.step * p.size == step) {
      p.size *= size;
      return;
    }
    if (place * size == p.place && step * size == p.step) {
      p = {place, size * p.size, step};
      return;
    }
  }
  pieces_.push_back({place, size, step});
}

// Terms that cross a tile's edge become one piece inside of the tile and one outside.
void Access::split_terms() {
  std::ranges::sort(terms_, {}, &ThreadTerm::place);
  for (const ThreadTerm& t : terms_) {
    const auto& d = physical(t.dim);
    if (!power_of_two(t.size) || !power_of_two(t.place)) fast_ = false;
    if (d.tile == 1) {
      add_piece(t.place, t.size, t.stride * d.outer);
    } else if (t.stride % d.tile == 0) {
      add_piece(t.place, t.size, t.stride / d.tile * d.outer);
    } else if (d.tile % (t.stride * t.size) == 0) {
      add_piece(t.place, t.size, t.stride * d.inner);
    } else if (d.tile % t.stride == 0 && t.size % (d.tile / t.stride) == 0) {
      const int64_t inside = d.tile / t.stride;
      add_piece(t.place, inside, t.stride * d.inner);
      add_piece(t.place * inside, t.size / inside, d.outer);
    } else {
      fast_ = false;
    }
    if (d.tile != 1 && !power_of_two(d.tile)) fast_ = false;
  }
}

Scalar Access::lane_offset() const {
  const Scalar lane = lane_scalar(r_);
  Scalar sum(0);
  for (const Piece& p : pieces_) {
    Scalar digit = p.place == 1 ? lane : lane >> std::countr_zero(static_cast<uint64_t>(p.place));
    if (p.place * p.size < 128) digit = digit & (p.size - 1);
    sum = sum + digit * p.step;
  }
  return sum;
}

Scalar Access::swizzled(const Scalar& offset) const {
  if (pattern_ == 16) return offset;
  const int64_t mask = pattern_ / 128 - 1;
  return offset ^ (((offset >> 7) & mask) << 4);
}

Operand Access::to_cluster(const Operand& address) const {
  if (wide_ || !ref_.base().cluster_rank) return address;
  return r_.pure("mapa.shared::cluster.u32", {address, ref_.base().cluster_rank->operand()}, Type::b32);
}

// mapa takes addresses of this CTA's window: a register that only its offset brings there will not do.
Scalar Access::within_window(const Scalar& address) const {
  if (!ref_.base().cluster_rank || address.without_offset().nonnegative()) return address;
  return Scalar::from_register(pl::DType::s32, address.as_register(), true,
                               std::max<int64_t>(1, address.multiple()));
}

Operand Access::base_register(const Scalar& uniform, const Scalar& lane) {
  if (!wide_) return to_cluster((uniform.without_offset() + lane).as_register());
  Operand pointer = ref_.base().pointer;
  if (ref_.base().array >= 0) pointer = r_.params.array_pointer(ref_.base().array);
  const Scalar p = Scalar::from_register(pl::DType::s64, pointer);
  return (p + uniform.without_offset() + lane.astype(pl::DType::s64)).as_register();
}

// The fast way: one address per lane, everything else is a number in the instruction, or, under a
// swizzle, an XOR of low bits that no lane sets.
void Access::prepare() {
  Scalar uniform = wide_ ? window_offset(ref_) : shared_address(ref_);
  for (const Piece& p : pieces_) {
    alignment_ = std::gcd(alignment_, p.step);
    if (!power_of_two(p.step)) {
      if (pattern_ != 16 && p.step % pattern_ != 0) fast_ = false;
      continue;
    }
    lane_bits_ |= static_cast<uint32_t>((p.size - 1) * p.step);
  }
  const int64_t uniform_alignment = std::gcd(uniform.without_offset().multiple(), uniform.offset());
  if (uniform_alignment != 0) alignment_ = std::gcd(alignment_, uniform_alignment);
  if (pattern_ != 16) {
    lane_bits_ &= static_cast<uint32_t>(pattern_ - 1);
    if (uniform_alignment % pattern_ != 0) fast_ = false;
    // The swizzle keeps pieces of 16 bytes together.
    alignment_ = std::gcd<int64_t>(16, alignment_);
  }
  if (!fast_) return;
  uniform = within_window(uniform);
  base_ = base_register(uniform, swizzled(lane_offset()));
  base_offset_ = uniform.offset();
}

int64_t Access::fixed_offset(const pl::Shape& index) const {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += physical(static_cast<int>(d)).offset(index[d]);
  return offset;
}

Address Access::at(const pl::Shape& index) {
  const int64_t fixed = fixed_offset(index);
  const int64_t low = fixed & (pattern_ - 1);
  bool disjoint = fast_;
  if (pattern_ != 16) disjoint &= (static_cast<uint32_t>(low) & lane_bits_) == 0;
  if (disjoint && pattern_ == 16) {
    const int64_t offset = base_offset_ + fixed;
    if (offset == static_cast<int32_t>(offset)) return {base_, offset};
    const Operand far = r_.pure("add.s64", {base_, Operand::imm(offset)}, Type::b64);
    return {far, 0};
  }
  if (disjoint) {
    const int64_t bits = low ^ (((low >> 7) & (pattern_ / 128 - 1)) << 4);
    const Operand reg = bits == 0 ? base_ : r_.pure("xor.b32", {base_, Operand::imm(bits)}, Type::b32);
    return {reg, base_offset_ + fixed - low};
  }
  std::vector<Scalar> dynamic(index.begin(), index.end());
  const Scalar lane = lane_scalar(r_);
  for (const ThreadTerm& t : terms_) {
    const Scalar digit = (lane / t.place) % t.size;
    dynamic[static_cast<size_t>(t.dim)] = dynamic[static_cast<size_t>(t.dim)] + digit * t.stride;
  }
  return at_dynamic(dynamic);
}

Address Access::at_dynamic(const std::vector<Scalar>& index) {
  std::vector<Scalar> where = ref_.starts();
  for (size_t d = 0; d < index.size(); ++d) {
    const int b = ref_.dims()[d].base;
    if (b >= 0) where[static_cast<size_t>(b)] = where[static_cast<size_t>(b)] + index[d];
  }
  Scalar offset = wide_ ? Scalar::constant(pl::DType::s64, int64_t{0}) : Scalar(0);
  for (size_t b = 0; b < where.size(); ++b) {
    offset = offset + dim_offset(ref_.base().physical.dims[b], where[b], false, wide_);
  }
  if (wide_) {
    const Operand base = base_register(offset, Scalar(0));
    return {base, offset.offset()};
  }
  const Scalar base =
      Scalar::from_register(pl::DType::s32, r_.smem.base(), true, 1024) + ref_.base().smem_offset;
  if (pattern_ != 16) offset = Scalar::from_register(pl::DType::s32, offset.as_register(), true);
  const Scalar address = within_window(base + swizzled(offset));
  return {to_cluster(address.without_offset().as_register()), address.offset()};
}

int64_t Access::contiguous(int dim, int64_t n) const {
  const auto& d = physical(dim);
  const int64_t size = pl::bytes(ref_.dtype());
  const int64_t step = d.tile == 1 ? d.outer : d.inner;
  if (step != size) return 1;
  int64_t most = std::gcd(n, 16 / size);
  if (d.tile != 1) most = std::gcd(most, d.tile);
  int64_t alignment = std::gcd(alignment_, 16);
  for (const auto& other : ref_.dims()) {
    if (other.base < 0) continue;
    const auto& o = ref_.base().physical.dims[static_cast<size_t>(other.base)];
    if (&o == &d) continue;
    if (other.size > 1) alignment = std::gcd(alignment, std::gcd(o.outer, o.inner));
  }
  return std::max<int64_t>(1, std::gcd(most, alignment / size));
}

std::string_view Access::space() const {
  if (wide_) return "global";
  return ref_.base().cluster_rank ? "shared::cluster" : "shared::cta";
}

namespace {

std::string vector_suffix(size_t n) { return n == 1 ? "" : fmt::format(".v{}", n); }

Operand vector_or_single(const std::vector<Operand>& registers) {
  return registers.size() == 1 ? registers.front() : Operand::vector(registers);
}

}  // namespace

void emit_load(Recorder& r, std::string_view space, const std::vector<Operand>& registers,
               std::string_view type, const Address& a, const Operand& guard) {
  r.emit(fmt::format("ld.{}{}.{}", space, vector_suffix(registers.size()), type),
         {vector_or_single(registers), a.operand()}, guard);
}

void emit_store(Recorder& r, std::string_view space, const std::vector<Operand>& registers,
                std::string_view type, const Address& a, const Operand& guard) {
  r.emit(fmt::format("st.{}{}.{}", space, vector_suffix(registers.size()), type),
         {a.operand(), vector_or_single(registers)}, guard);
}

}  // namespace palladion::frontend
