#include "frontend/arrays/mover.h"

#include <fmt/format.h>

namespace palladion::frontend {

using pl::DType;
using plgpu::Array;
using plgpu::Layout;
using plgpu::MemorySpace;

std::string Mover::element_type() const {
  if (dtype == DType::bool_) return "u8";
  if (pl::bits(dtype) == 8) return dtype == DType::s8 ? "s8" : "u8";
  if (dtype == DType::f32 || dtype == DType::f64) return std::string(pl::name(dtype));
  return fmt::format("b{}", pl::bits(dtype));
}

void Mover::load(const Address& a, int64_t n, int pack, std::vector<Operand>& out) const {
  std::vector<Operand> registers;
  const Type type = Array::packed_type(dtype, pack);
  for (int64_t i = 0; i < n / pack; ++i) registers.push_back(r.reg(dtype == DType::bool_ ? Type::b16 : type));
  emit_load(r, space, registers, pack == 1 ? element_type() : fmt::format("b{}", isa::bits(type)), a);
  for (Operand& o : registers) {
    if (dtype == DType::bool_) o = r.pure("setp.ne.s16", {o, Operand::imm(0)}, Type::pred);
    out.push_back(o);
  }
}

Operand Mover::load_where(const Address& a, const Operand& guard, const Operand& other) const {
  const bool is_bool = dtype == DType::bool_;
  const Operand instead =
      is_bool ? r.pure("selp.b16", {Operand::imm(1), Operand::imm(0), other}, Type::b16) : other;
  const Operand value = r.reg(is_bool ? Type::b16 : register_type(dtype));
  const std::string moved = dtype == DType::f32 || dtype == DType::f64 ? std::string(pl::name(dtype))
                            : is_bool                                  ? "b16"
                                                                       : std::string(bits_suffix(dtype));
  r.emit("mov." + moved, {value, instead});
  emit_load(r, space, {value}, element_type(), a, guard);
  return is_bool ? r.pure("setp.ne.s16", {value, Operand::imm(0)}, Type::pred) : value;
}

void Mover::store(const Address& a, std::vector<Operand> registers, int pack, const Operand& guard) const {
  const Type type = Array::packed_type(dtype, pack);
  for (Operand& o : registers)
    if (dtype == DType::bool_) o = r.pure("selp.b16", {Operand::imm(1), Operand::imm(0), o}, Type::b16);
  emit_store(r, space, registers, pack == 1 ? element_type() : fmt::format("b{}", isa::bits(type)), a, guard);
}

void Mover::load_vector(const std::function<Address(int64_t)>& at, int64_t vector, int64_t width, int pack,
                        std::vector<Operand>& out) const {
  if (width >= pack) {
    for (int64_t v = 0; v < vector; v += width) load(at(v), width, pack, out);
    return;
  }
  std::vector<Operand> singles;
  for (int64_t v = 0; v < vector; ++v) load(at(v), 1, 1, singles);
  const Layout strided = Layout::WG_STRIDED({128 * vector}, static_cast<int>(vector));
  const Array packed = Array::from_elements(dtype, {128 * vector}, strided, singles);
  out.insert(out.end(), packed.registers().begin(), packed.registers().end());
}

void Mover::store_vector(const std::function<Address(int64_t)>& at, const std::vector<Operand>& registers,
                         int64_t vector, int64_t width, int pack, const Operand& guard) const {
  if (width >= pack) {
    for (int64_t v = 0; v < vector; v += width)
      store(at(v), {registers.begin() + v / pack, registers.begin() + (v + width) / pack}, pack, guard);
    return;
  }
  const Layout strided = Layout::WG_STRIDED({128 * vector}, static_cast<int>(vector));
  const std::vector<Operand> singles = Array(dtype, {128 * vector}, strided, registers).elements();
  for (int64_t v = 0; v < vector; ++v) store(at(v), {singles[static_cast<size_t>(v)]}, 1, guard);
}

void barrier_around_store(Recorder& r, const plgpu::Ref& ref) {
  if (r.options().auto_barriers && (ref.space() == MemorySpace::smem || ref.space() == MemorySpace::gmem))
    r.warpgroup_barrier();
}

void check_loads_array() {
  Recorder::current().needs_warpgroup("a load of an Array", "load single elements: ref.at(i).load_scalar()");
}

}  // namespace palladion::frontend
