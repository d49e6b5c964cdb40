#include "frontend/arrays/array.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::frontend {

void fail_unassigned() {
  fail(Code::shape_mismatch, "an Array that was never assigned is used",
       "std::move leaves nothing behind, too");
}

}  // namespace palladion::frontend

namespace palladion::plgpu {

using frontend::is_fp8;
using frontend::is_half;

// --- registers --------------------------------------------------------------------------------------

int Array::pack_of(DType dtype, const Layout& layout) {
  if (dtype == DType::bool_ || layout.is_splat()) return 1;
  const int64_t v = layout.vector_length();
  if (pl::bits(dtype) == 16) return v % 2 == 0 ? 2 : 1;
  if (pl::bits(dtype) == 8) return v % 4 == 0 ? 4 : v % 2 == 0 ? 2 : 1;
  return 1;
}

Type Array::packed_type(DType dtype, int pack) {
  if (pack == 1) return frontend::register_type(dtype);
  return pack * pl::bits(dtype) == 32 ? Type::b32 : Type::b16;
}

namespace {

// Two 8-bit elements of a .b16, low first.
std::pair<Operand, Operand> split_bytes(Recorder& r, DType d, const Operand& pair) {
  if (d == DType::s8)
    return {r.pure("cvt.s16.s8", {pair}, Type::b16), r.pure("shr.s16", {pair, Operand::imm(8)}, Type::b16)};
  return {r.pure("and.b16", {pair, Operand::imm(255)}, Type::b16),
          r.pure("shr.u16", {pair, Operand::imm(8)}, Type::b16)};
}

Operand join_bytes(Recorder& r, DType d, Operand low, const Operand& high) {
  if (d == DType::s8) low = r.pure("and.b16", {low, Operand::imm(255)}, Type::b16);
  return r.pure("or.b16", {low, r.pure("shl.b16", {high, Operand::imm(8)}, Type::b16)}, Type::b16);
}

Operand as_register(Recorder& r, DType d, const Operand& o) {
  if (!o.is(Operand::Kind::imm)) return o;
  const std::string_view t = d == DType::f32 ? "f32" : d == DType::f64 ? "f64" : frontend::bits_suffix(d);
  return r.pure(fmt::format("mov.{}", t), {o}, frontend::register_type(d));
}

Operand pack_elements(Recorder& r, DType d, const std::vector<Operand>& e, size_t first, int pack) {
  const auto at = [&](size_t i) { return as_register(r, d, e[first + i]); };
  if (pack == 1) return at(0);
  if (pl::bits(d) == 16) return frontend::pack2(r, at(0), at(1));
  const Operand low = join_bytes(r, d, at(0), at(1));
  return pack == 2 ? low : frontend::pack2(r, low, join_bytes(r, d, at(2), at(3)));
}

}  // namespace

Array::Array(DType dtype, Shape shape, Layout layout, std::vector<Operand> registers)
    : dtype_(dtype), shape_(std::move(shape)), layout_(std::move(layout)), registers_(std::move(registers)) {
  Recorder::current().needs_warpgroup(
      "an Array", "only scalars can be loaded, computed and stored there: ref.at(i).load_scalar()");
  frontend::check_register_type(dtype_);
  if (pl::volume(shape_) == 0)
    fail(Code::bad_shape, fmt::format("an array of shape {} has no elements", pl::to_string(shape_)));
  PLD_CHECK(static_cast<int64_t>(registers_.size()) * pack() == layout_.elements(shape_),
            plgpu::to_string(*this));
  const auto registers_of_a_thread = static_cast<size_t>(Recorder::current().arch().max_registers_per_thread);
  const size_t words = registers_.size() * static_cast<size_t>(pl::bits(dtype_) == 64 ? 2 : 1);
  if (words > registers_of_a_thread) {
    frontend::fail(frontend::Code::bad_registers,
                   fmt::format("an {} takes {} registers in each lane: a thread has {}",
                               plgpu::to_string(*this), words, registers_of_a_thread),
                   "work on smaller tiles, or with more Pallas threads");
  }
}

void Array::check_assigned(const std::source_location& loc) const {
  lifetime_.check(false, loc);
  if (registers_.empty())
    fail(Code::shape_mismatch, "an Array that was never assigned is used", frontend::author_line(loc),
         "std::move leaves nothing behind, too");
}

Array Array::from_elements(DType dtype, Shape shape, Layout layout, const std::vector<Operand>& elements) {
  Recorder& r = Recorder::current();
  const int pack = pack_of(dtype, layout);
  std::vector<Operand> registers;
  registers.reserve(elements.size() / static_cast<size_t>(pack));
  for (size_t i = 0; i < elements.size(); i += static_cast<size_t>(pack)) {
    registers.push_back(pack_elements(r, dtype, elements, i, pack));
  }
  return Array(dtype, std::move(shape), std::move(layout), std::move(registers));
}

Array Array::splat(const Scalar& value, Shape shape) {
  return Array(value.dtype(), shape, Layout::WG_SPLAT(shape), {value.as_register()});
}

std::vector<Operand> Array::elements() const {
  const int p = pack();
  if (p == 1) return registers();
  Recorder& r = Recorder::current();
  std::vector<Operand> out;
  for (const Operand& reg : registers()) {
    if (pl::bits(dtype_) == 16) {
      const auto [low, high] = frontend::unpack2(r, reg);
      out.insert(out.end(), {low, high});
      continue;
    }
    std::vector<Operand> halves{reg};
    if (p == 4) {
      const auto [low, high] = frontend::unpack2(r, reg);
      halves = {low, high};
    }
    for (const Operand& half : halves) {
      const auto [low, high] = split_bytes(r, dtype_, half);
      out.insert(out.end(), {low, high});
    }
  }
  return out;
}

Scalar Array::scalar(std::source_location loc) const {
  const VerbScope at(loc);
  if (!layout_.is_splat())
    fail(Code::layout_mismatch, fmt::format("only a splat is a number, this is {}", plgpu::to_string(*this)),
         "reduce the array to a number with .sum() or .max(), or read an element with "
         "ref.at(i).load_scalar()");
  return Scalar::from_register(dtype_, registers().front());
}

// --- conversions ------------------------------------------------------------------------------------

namespace {

// Pairs at once where an instruction does: f32 -> f16x2, bf16x2; f32, f16 -> fp8x2; fp8x2 -> f16x2.
std::vector<Operand> convert_packed(Recorder& r, const Array& a, DType to, bool* done) {
  const DType from = a.dtype();
  const int pack = Array::pack_of(to, a.layout());
  *done = true;
  std::vector<Operand> out;
  if (from == DType::f32 && is_half(to) && pack == 2) {
    const auto& e = a.registers();
    for (size_t i = 0; i < e.size(); i += 2) {
      out.push_back(r.pure(fmt::format("cvt.rn.{}x2.f32", pl::name(to)), {e[i + 1], e[i]}, Type::b32));
    }
    return out;
  }
  if (is_fp8(to) && pack >= 2 && from == DType::f32) {
    const auto& e = a.registers();
    std::vector<Operand> pairs;
    for (size_t i = 0; i < e.size(); i += 2) {
      pairs.push_back(
          r.pure(fmt::format("cvt.rn.satfinite.{}x2.f32", pl::name(to)), {e[i + 1], e[i]}, Type::b16));
    }
    if (pack == 2) return pairs;
    for (size_t i = 0; i < pairs.size(); i += 2) out.push_back(frontend::pack2(r, pairs[i], pairs[i + 1]));
    return out;
  }
  if (is_fp8(from) && to == DType::f16 && a.pack() >= 2) {
    for (const Operand& reg : a.registers()) {
      std::vector<Operand> pairs{reg};
      if (a.pack() == 4) {
        const auto [low, high] = frontend::unpack2(r, reg);
        pairs = {low, high};
      }
      for (const Operand& p : pairs)
        out.push_back(r.pure(fmt::format("cvt.rn.f16x2.{}x2", pl::name(from)), {p}, Type::b32));
    }
    return out;
  }
  *done = false;
  return out;
}

}  // namespace

Array Array::astype(DType to, std::source_location loc) const {
  const VerbScope at(loc);
  if (to == dtype_) return *this;
  Recorder& r = Recorder::current();
  bool done = false;
  std::vector<Operand> packed = convert_packed(r, *this, to, &done);
  if (done) return Array(to, shape_, layout_, std::move(packed));
  if (is_fp8(dtype_) && to != DType::f16 && pack() >= 2) return astype(DType::f16, loc).astype(to, loc);
  if (is_fp8(to) && dtype_ != DType::f32) return astype(DType::f32, loc).astype(to, loc);
  return map(to, {*this}, [&](const auto& e) { return frontend::element_convert(r, dtype_, to, e[0]); });
}

Array Array::bitcast(DType to, std::source_location loc) const {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (pl::bits(to) == pl::bits(dtype_) && pack() > 1) return Array(to, shape_, layout_, registers());
  return map(to, {*this}, [&](const auto& e) { return frontend::element_bitcast(r, dtype_, to, e[0]); });
}

std::string to_string(const Array& a) {
  return fmt::format("array {}{} of layout {}", pl::name(a.dtype()), pl::to_string(a.shape()),
                     to_string(a.layout()));
}

}  // namespace palladion::plgpu
