#include "zoo/program.h"

#include <fmt/format.h>

namespace palladion::zoo {
namespace {

std::string declaration(const Parameter& p) {
  return p.tensor_map ? fmt::format(".param .align 64 .b8 {}[128]", p.name)
                      : fmt::format(".param .u64 {}", p.name);
}

std::string address(const Parameter& p) {
  if (p.tensor_map) return fmt::format("  mov.b64 %{0}, {0};\n  cvta.param.u64 %{0}, %{0};\n", p.name);
  return fmt::format("  ld.param.u64 %{0}, [{0}];\n  cvta.to.global.u64 %{0}, %{0};\n", p.name);
}

Buffer filled_buffer(std::string name, Role role, pl::ShapeDtype type, const Fill& fill) {
  return {std::move(name), role, type, filled(type, fill)};
}

}  // namespace

std::string program(std::initializer_list<Parameter> parameters, std::string_view body,
                    std::string_view before, std::string_view directives) {
  std::string declarations, registers, addresses;
  for (const Parameter& p : parameters) {
    declarations += (declarations.empty() ? "" : ", ") + declaration(p);
    registers += fmt::format(", %{}", p.name);
    addresses += address(p);
  }
  return fmt::format(R"(.version 8.7
.target sm_90a
.address_size 64
{}.visible .entry zoo({}) {}
{{
  .reg .pred %p<8>, %leader;
  .reg .b16 %h<8>;
  .reg .b32 %r<24>, %a<8>, %t, %lane, %warp, %cta, %rank;
  .reg .b64 %rd<16>{};
  .reg .f32 %f<16>;
{}  mov.u32 %t, %tid.x;
  and.b32 %lane, %t, 31;
  shr.u32 %warp, %t, 5;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %rank, %cluster_ctarank;
  setp.eq.u32 %leader, %t, 0;
{}
  ret;
}}
)",
                     before, declarations, directives, registers, addresses, body);
}

Buffer counting(std::string name, pl::DType dtype, int64_t size) {
  return filled_buffer(std::move(name), Role::in, {dtype, {size}}, {.kind = Fill::Kind::iota});
}
Buffer small_numbers(std::string name, pl::DType dtype, int64_t size) {
  return filled_buffer(std::move(name), Role::in, {dtype, {size}},
                       {.kind = Fill::Kind::randint, .seed = 7, .low = -4, .high = 5});
}
Buffer result(std::string name, pl::DType dtype, int64_t size) {
  return {std::move(name), Role::out, {dtype, {size}}, {}};
}
Buffer zeros(std::string name, pl::DType dtype, int64_t size) {
  return filled_buffer(std::move(name), Role::inout, {dtype, {size}}, {});
}
Buffer updated(Buffer in) {
  in.role = Role::inout;
  return in;
}
Buffer scratch(std::string name, pl::DType dtype, int64_t size) {
  return {std::move(name), Role::scratch, {dtype, {size}}, {}};
}

std::vector<ParamValue> pointers(int count) {
  std::vector<ParamValue> out;
  for (int i = 0; i < count; ++i) out.push_back(PointerValue{i});
  return out;
}

TensorMapValue map_of(const MatrixMap& m) {
  isa::TensorMap map;
  map.data_type = m.type;
  map.rank = 2;
  map.dims = {m.columns, m.rows};
  map.strides = {m.columns * uint64_t(isa::bits(m.type)) / 8};
  map.box = {m.box_columns, m.box_rows};
  map.swizzle = m.swizzle;
  map.oob_fill = m.fill;
  return {m.buffer, map};
}

}  // namespace palladion::zoo
