#pragma once
// What the kernels in PTX have in common: one entry that reads floats and writes floats, and the launch
// that suits it.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "kernels/zoo/zoo.h"

namespace palladion::kernels::zoo {

// An entry with the parameters `src` and `dst`, arrays of f32, whose global addresses are in %src and %dst
// when `body` starts; %t is the thread in its CTA, %lane the lane, %warp the warp. For the body's own use:
// %p<8>, %r<24>, %rd<16>, %f<16>. `before` stands in front of the entry, `directives` behind its parameters.
inline std::string entry_text(std::string_view body, std::string_view directives = "",
                              std::string_view before = "") {
  return fmt::format(R"(.version 8.7
.target sm_90a
.address_size 64
{}.visible .entry zoo(.param .u64 src, .param .u64 dst) {}
{{
  .reg .pred %p<8>;
  .reg .b32 %r<24>, %t, %lane, %warp;
  .reg .b64 %rd<16>, %src, %dst;
  .reg .f32 %f<16>;
  ld.param.u64 %src, [src];
  ld.param.u64 %dst, [dst];
  cvta.to.global.u64 %src, %src;
  cvta.to.global.u64 %dst, %dst;
  mov.u32 %t, %tid.x;
  and.b32 %lane, %t, 31;
  shr.u32 %warp, %t, 5;
{}
  ret;
}}
)",
                     before, directives, body);
}

// The arrays behind `src` and `dst`: 0, 1, 2, ... in, poison out.
inline std::vector<Buffer> floats_in_out(int64_t in, int64_t out) {
  const pl::ShapeDtype from{pl::f32, {in}}, to{pl::f32, {out}};
  return {{"src", Role::in, from, filled(from, {.kind = Fill::Kind::iota})}, {"dst", Role::out, to, {}}};
}
inline std::vector<ParamValue> src_and_dst() { return {PointerValue{0}, PointerValue{1}}; }

}  // namespace palladion::kernels::zoo
