#include "frontend/arrays/lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/arrays/masked.h"
#include "frontend/refs/access.h"

namespace palladion::frontend {

using pl::DType;
using pl::Scalar;
using plgpu::Layout;

Operand to_word(Recorder& r, DType d, const Operand& e) {
  if (d == DType::bool_) return r.pure("selp.b32", {Operand::imm(1), Operand::imm(0), e}, Type::b32);
  if (pl::bits(d) >= 32) return e;
  return r.pure("cvt.u32.u16", {e}, Type::b32);
}

Operand from_word(Recorder& r, DType d, const Operand& w) {
  if (d == DType::bool_) return r.pure("setp.ne.s32", {w, Operand::imm(0)}, Type::pred);
  if (d == DType::f32) return r.pure("mov.b32", {w}, Type::f32);
  if (pl::bits(d) >= 32) return w;
  return r.pure("cvt.u16.u32", {w}, Type::b16);
}

namespace {

Operand shuffle_word(Recorder& r, const Operand& word, int64_t mask) {
  const Operand d = r.reg(Type::b32);
  r.emit("shfl.sync.bfly.b32", {d, word, Operand::imm(mask), Operand::imm(31), Operand::imm(-1)});
  return d;
}

}  // namespace

Operand shuffle(Recorder& r, DType d, const Operand& e, int64_t mask) {
  if (pl::bits(d) < 64) return from_word(r, d, shuffle_word(r, to_word(r, d, e), mask));
  const auto [low, high] = r.pure_pair("mov.b64", e, Type::b32);
  const Operand pair = Operand::vector({shuffle_word(r, low, mask), shuffle_word(r, high, mask)});
  return r.pure("mov.b64", {pair}, register_type(d));
}

std::string scratch_type(DType d) {
  if (d == DType::f32 || d == DType::f64) return std::string(pl::name(d));
  return fmt::format("b{}", d == DType::bool_ ? 32 : std::max(16, pl::bits(d)));
}

int64_t scratch_bytes(DType d) { return std::max(d == DType::bool_ ? 4 : 2, pl::bytes(d)); }

Type scratch_register(DType d) { return d == DType::bool_ ? Type::b32 : register_type(d); }

Operand in_scratch_register(Recorder& r, DType d, const Operand& e) {
  const Operand word = d == DType::bool_ ? to_word(r, d, e) : e;
  if (!word.is(Operand::Kind::imm)) return word;
  return r.pure("mov." + scratch_type(d), {word}, scratch_register(d));
}

Operand from_scratch_register(Recorder& r, DType d, const Operand& e) {
  return d == DType::bool_ ? from_word(r, d, e) : e;
}

Operand scratch_address(Recorder& r, int64_t* offset) {
  const int64_t bytes = pl::align_to(r.options().reduction_scratch_bytes, 16);
  *offset = r.slots.reduction_scratch(bytes, r.thread_count());
  const Scalar base = Scalar::from_register(DType::s32, r.slots.base(), true, 8);
  const Scalar thread = Scalar::from_register(DType::s32, r.thread.index(), true);
  return (base + thread * bytes).as_register();
}

std::vector<Scalar> index_scalars(Recorder& r, const pl::Shape& shape, const Layout& layout,
                                  size_t dimension) {
  std::vector<Scalar> out;
  const int64_t n = layout.elements(shape);
  if (layout.is_tiled()) {
    const size_t first = shape.size() - layout.tile().size();
    const Scalar lane = lane_scalar(r);
    Scalar base(0);
    for (const auto& p : layout.parts())
      if (p.role == Layout::Part::Role::thread && first + static_cast<size_t>(p.dim) == dimension)
        base = base + lane / p.place % p.size * p.stride;
    for (int64_t e = 0; e < n; ++e) out.push_back(base + layout.element_index(shape, e)[dimension]);
    return out;
  }
  int64_t inner = 1;
  for (size_t i = dimension + 1; i < shape.size(); ++i) inner *= shape[i];
  // Behind the first dimension the index repeats: equal ones are computed once.
  const int64_t period = inner * shape[dimension];
  const int64_t vector = layout.vector_length();
  for (int64_t e = 0; e < n; ++e) {
    const int64_t fixed = e / vector * plgpu::warpgroup_size * vector;
    const Scalar own = lane_that_holds(r, layout, e) * vector;
    const Scalar flat = own + ((dimension == 0 ? fixed : fixed % period) + e % vector);
    out.push_back(dimension == 0 ? flat / inner : flat / inner % shape[dimension]);
  }
  return out;
}

InScratch::InScratch(Recorder& r, const plgpu::Array& x, std::string_view what)
    : InScratch(r, x, what, pl::volume(x.shape())) {}

InScratch::InScratch(Recorder& r, const plgpu::Array& x, std::string_view what, int64_t most)
    : r_(r), dtype_(x.dtype()) {
  const int64_t size = scratch_bytes(dtype_), bytes = most * size;
  if (bytes > r.options().reduction_scratch_bytes)
    fail(Code::no_scratch,
         fmt::format("{}: the lanes do not hold what they need, and its elements take {} bytes of scratch, "
                     "reduction_scratch_bytes is {}",
                     what, bytes, r.options().reduction_scratch_bytes),
         "load the array in a layout in which each lane holds its part, go through SMEM, or raise "
         "compiler_params.reduction_scratch_bytes");
  base_ = Scalar::from_register(DType::s32, scratch_address(r, &offset_), true);
  const std::vector<Operand> elements = x.elements();
  std::vector<Scalar> number(elements.size(), Scalar(0));
  for (size_t d = 0; d < x.rank(); ++d) {
    const std::vector<Scalar> index = index_scalars(r, x.shape(), x.layout(), d);
    for (size_t e = 0; e < number.size(); ++e) number[e] = number[e] * x.shape(d) + index[e];
  }
  r.warpgroup_barrier();  // behind the last use of the scratch
  for (size_t e = 0; e < elements.size(); ++e) {
    const Scalar at = base_ + number[e] * size;
    Operand own = one_of_the_copies(r, x.layout(), static_cast<int64_t>(e));
    const Scalar wanted = number[e] < most;
    if (wanted.is_constant() && wanted.as_int() == 0) continue;
    if (most < pl::volume(x.shape()) && !wanted.is_constant()) own = both(r, own, wanted.operand());
    emit_store(r, "shared::cta", {in_scratch_register(r, dtype_, elements[e])}, scratch_type(dtype_),
               {at.without_offset().as_register(), offset_ + at.offset()}, own);
  }
  r.warpgroup_barrier();
}

Operand InScratch::load(const Scalar& number) {
  const Scalar at = base_ + number * scratch_bytes(dtype_);
  const Operand base = at.without_offset().as_register();
  const auto key = std::pair{base.id, at.offset()};
  if (const auto known = loaded_.find(key); known != loaded_.end()) return known->second;
  const Operand reg = r_.reg(scratch_register(dtype_));
  emit_load(r_, "shared::cta", {reg}, scratch_type(dtype_), {base, offset_ + at.offset()});
  return loaded_[key] = from_scratch_register(r_, dtype_, reg);
}

}  // namespace palladion::frontend
