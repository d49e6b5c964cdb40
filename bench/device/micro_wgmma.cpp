// The tensor core: steady interval, latency and issue cost of wgmma by shape, type, operand source and
// layout.
#include <fmt/format.h>

#include "bench/device/micro_wgmma.h"

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

using Shape = WgmmaShape;

// A matrix descriptor without its address: PTX, "Matrix Descriptor Format".
uint64_t layout_bits(const Shape& s, bool transposed) {
  const uint64_t mode = s.swizzle == 128 ? 1 : s.swizzle == 64 ? 2 : s.swizzle == 32 ? 3 : 0;
  const uint64_t stride = s.swizzle == 0 ? 256 : uint64_t(8 * s.swizzle);
  const uint64_t leading = transposed ? 8192 : s.swizzle == 0 ? 128 : 16;
  return mode << 62 | (stride >> 4) << 32 | (leading >> 4) << 16;
}

std::string accumulators(const Shape& s, int tile) {
  std::string out = "{";
  for (int i = 0; i < s.d_registers(); ++i)
    out += fmt::format("{}%{}{}", i == 0 ? "" : ",", s.float_accumulators() ? "f" : "y",
                       tile * s.d_registers() + i);
  return out + "}";
}

// One instruction; `step` advances along K inside the swizzled tile.
std::string wgmma(const Shape& s, int index) {
  const int step = index / s.tiles;
  std::string out = step % 4 == 0 ? ""
                                  : fmt::format("add.u64 %q2, %q0, {}; add.u64 %q3, %q1, {};\n", step % 4 * 2,
                                                step % 4 * 2);
  const char* const a = step % 4 == 0 ? "%q0" : "%q2";
  const char* const b = step % 4 == 0 ? "%q1" : "%q3";
  out += fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{} {}, {}, {}, 1", s.n, s.k, s.types,
                     accumulators(s, index % s.tiles), s.a_in_registers ? "{%x0,%x1,%x2,%x3}" : a, b);
  if (!s.integers()) out += ", 1, 1";
  if (s.k == 16) out += fmt::format("{}, {}", s.a_in_registers ? "" : ", 0", s.b_transposed ? 1 : 0);
  return out + ";\n";
}

// Random values below one in size in every format, 96 KiB of them.
const char* const fill_shared = R"(
.reg .b32 %v<8>; .reg .b64 %w<2>;
mov.u32 %v0, %me; mov.u32 %v5, %ntid.x;
$filling: and.b32 %v1, %v0, 1023; mul.wide.u32 %w0, %v1, 4; add.u64 %w0, %w0, %data;
ld.global.u32 %v2, [%w0]; and.b32 %v2, %v2, 0x3b3b3b3b; shl.b32 %v3, %v0, 2; add.u32 %v3, %v3, %s;
st.shared.u32 [%v3], %v2; add.u32 %v0, %v0, %v5; setp.lt.u32 %z0, %v0, 24576;
@%z0 bra $filling;
fence.proxy.async.shared::cta;
)";

std::string before(const Shape& s) {
  std::string out = fmt::format(
      "and.b32 %x4, %s, 0x3ffff; shr.u32 %x4, %x4, 4; cvt.u64.u32 %q0, %x4; add.u64 %q1, %q0, 2048;\n"
      "or.b64 %q0, %q0, {}; or.b64 %q1, %q1, {};\n",
      layout_bits(s, false), layout_bits(s, s.b_transposed));
  for (int i = 0; i < 4; ++i) out += fmt::format("and.b32 %x{0}, %c{0}, 0x3b3b3b3b;\n", i);
  for (int i = 0; i < s.tiles * s.d_registers(); ++i)
    out += s.float_accumulators() ? fmt::format("mov.f32 %f{}, 0f00000000;\n", i)
                                  : fmt::format("mov.b32 %y{}, 0;\n", i);
  return out;
}

std::string after(const Shape& s) {
  std::string out = "wgmma.wait_group.sync.aligned 0;\nmov.b32 %x8, 0;\n";
  const bool floats = s.float_accumulators();
  for (int i = 0; i < s.tiles * s.d_registers(); ++i)
    out += fill(floats ? "mov.b32 %x9, %f<i>; xor.b32 %x8, %x8, %x9;\n" : "xor.b32 %x8, %x8, %y<i>;\n",
                {{"i", std::to_string(i)}});
  return out;
}

std::string describe(const Shape& s) {
  return fmt::format("n={} {} k={} {}{} swizzle={}{}", s.n, s.types, s.k, s.a_in_registers ? "RS" : "SS",
                     s.b_transposed ? " MN-major" : "", s.swizzle,
                     s.tiles > 1 ? fmt::format(" tiles={}", s.tiles) : "");
}

Case frame(const Shape& s, const char* name, std::string body, int warpgroups) {
  Case c;
  c.name = name;
  c.parameters = describe(s);
  c.unit = "cycles/instruction";
  c.text = text(wgmma_kernel(s, std::move(body), warpgroups));
  c.block = {uint32_t(128 * warpgroups), 1, 1};
  c.shared_bytes = 96 << 10;
  c.data.bytes = 8192;
  c.shorter = 8;
  c.longer = 24;
  return c;
}

Case interval(const Shape& s, int warpgroups = 1) {
  const int count = 16;
  Case c =
      frame(s, "wgmma.interval", wgmma_chain(s, count) + "wgmma.wait_group.sync.aligned 1;\n", warpgroups);
  if (warpgroups > 1) c.parameters += fmt::format(" warpgroups={}", warpgroups);
  c.operations = count * warpgroups;
  return c;
}

Case latency(const Shape& s, int count) {
  Case c = frame(s, "wgmma.latency", wgmma_chain(s, count) + "wgmma.wait_group.sync.aligned 0;\n", 1);
  c.parameters += fmt::format(" chain={}", count);
  c.unit = "cycles/group";
  return c;
}

// How long the warp is held up by issuing `count` instructions, the pipe being idle before.
Case issue(const Shape& s, int count) {
  const std::string body =
      "wgmma.fence.sync.aligned;\nmov.u64 %q10, %clock64;\n" +
      wgmma_chain(s, count).substr(std::string("wgmma.fence.sync.aligned;\n").size()) +
      "mov.u64 %q11, %clock64; sub.u64 %e0, %q11, %q10;\nwgmma.wait_group.sync.aligned 0;\n";
  Case c = frame(s, "wgmma.issue", body, 1);
  c.parameters += fmt::format(" chain={}", count);
  c.unit = "cycles/chain";
  c.shorter = 0;
  c.longer = 8;
  c.measure = extra;
  return c;
}

// A chain, a wait, then `count` dependent steps that the next chain is behind.
struct Gap {
  const char* name;
  const char* step;
};
constexpr Gap fma_gap{"mad", "mad.lo.u32 %x9, %x9, %c0, %c1;"};
constexpr Gap alu_gap{"max+xor", "max.u32 %x9, %x9, %c0; xor.b32 %x9, %x9, %c1;"};

Case gap(const Gap& g, int count, int pending, int warpgroups) {
  const std::string body = wgmma_chain({.n = 128}, 4) +
                           fmt::format("wgmma.wait_group.sync.aligned {};\n", pending) +
                           "mov.u32 %x9, %clock;\n" + repeat(g.step, count) +
                           "setp.eq.u32 %p14, %x9, 12345;\n@%p14 st.volatile.shared.u32 [%s+98300], %x9;\n";
  Case c = frame({.n = 128}, "wgmma.gap", body, warpgroups);
  c.parameters += fmt::format(" warpgroups={} wait={} {}={}", warpgroups, pending, g.name, count);
  c.unit = "cycles/chain";
  return c;
}

Case fences(const char* name, const char* body) {
  Case c = frame({.n = 8}, name, repeat(body, 16), 1);
  c.parameters = "";
  c.operations = 16;
  return c;
}

}  // namespace

std::string wgmma_chain(const Shape& s, int count) {
  std::string out = "wgmma.fence.sync.aligned;\n";
  for (int i = 0; i < count; ++i) out += wgmma(s, i);
  return out + "wgmma.commit_group.sync.aligned;\n";
}

KernelText wgmma_kernel(const Shape& s, std::string body, int warpgroups) {
  KernelText k;
  k.declarations = ".reg .b32 %y<132>;";
  k.prologue = fill_shared;
  k.parts = {{.warps = 4 * warpgroups,
              .before = before(s),
              .body = std::move(body),
              .after = after(s),
              .use = {"%x8"}}};
  return k;
}

std::vector<Case> wgmma_cases() {
  std::vector<Case> out;
  for (const int n : {8, 16, 32, 64, 96, 128, 192, 256})
    for (const bool rs : {false, true}) {
      out.push_back(interval({.n = n, .a_in_registers = rs}));
      out.push_back(latency({.n = n, .a_in_registers = rs}, 1));
      out.push_back(latency({.n = n, .a_in_registers = rs}, 4));
    }
  for (const int n : {64, 128, 256}) {
    out.push_back(interval({.n = n}, 2));
    out.push_back(interval({.n = n, .a_in_registers = true}, 2));
    out.push_back(interval({.n = n, .types = "f16.f16.f16"}));
    out.push_back(interval({.n = n, .types = "f32.bf16.bf16"}));
    out.push_back(interval({.n = n, .b_transposed = true}));
    for (const int swizzle : {0, 32, 64}) out.push_back(interval({.n = n, .swizzle = swizzle}));
  }
  for (const int n : {16, 64, 128, 256}) {
    out.push_back(interval({.n = n, .types = "f32.e4m3.e4m3", .k = 32}));
    out.push_back(interval({.n = n, .types = "f16.e4m3.e4m3", .k = 32}));
    out.push_back(interval({.n = n, .types = "f32.tf32.tf32", .k = 8}));
    out.push_back(interval({.n = n, .types = "s32.s8.s8", .k = 32}));
  }
  for (const int n : {64, 128, 256}) {
    out.push_back(latency({.n = n, .types = "f16.f16.f16"}, 1));
    out.push_back(latency({.n = n, .types = "f32.e4m3.e4m3", .k = 32}, 1));
    for (const int count : {1, 2, 4, 8}) out.push_back(issue({.n = n}, count));
    for (const int count : {1, 2, 4, 8}) out.push_back(issue({.n = n, .a_in_registers = true}, count));
  }
  for (const int count : {16, 32}) out.push_back(issue({.n = 128}, count));
  for (const int count : {4, 8, 16, 32}) out.push_back(issue({.n = 128, .tiles = 2}, count));
  out.push_back(interval({.n = 128, .tiles = 2}, 2));
  for (const int warpgroups : {1, 2})
    for (const int pending : {0, 1}) {
      for (const int count : {0, 32, 48, 64, 96}) out.push_back(gap(fma_gap, count, pending, warpgroups));
      for (const int count : {24, 48}) out.push_back(gap(alu_gap, count, pending, warpgroups));
    }
  out.push_back(fences("wgmma.fence", "wgmma.fence.sync.aligned;"));
  out.push_back(fences("wgmma.commit", "wgmma.commit_group.sync.aligned;"));
  out.push_back(fences("wgmma.wait", "wgmma.wait_group.sync.aligned 0;"));
  return out;
}

}  // namespace palladion::bench
