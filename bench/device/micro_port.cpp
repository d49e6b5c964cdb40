// What shares the SM with the tensor core: wgmma from two warpgroups while other warps use shared memory,
// TMA or the pipes. Each pair gives two numbers: how fast the one, and how fast the other.
#include <fmt/format.h>

#include "bench/device/micro.h"
#include "bench/device/micro_wgmma.h"

namespace palladion::bench {
namespace {

struct Background {
  const char* name;
  int warps;
  double operations;  // of an iteration of all its warps
  std::string before, body;
  std::vector<std::string> use;
};

constexpr int own_window = 128 << 10;  // of the shared window: behind the tiles

Background shared_access(const char* name, const char* step) {
  std::string body;
  for (int i = 0; i < 8; ++i) body += repeat(step, 4);
  return {
      name,
      4,
      128,
      fmt::format(
          "shl.b32 %x91, %me, 4; and.b32 %x91, %x91, 2047; add.u32 %x91, %x91, %s; add.u32 %x91, %x91, {};\n"
          "mov.u32 %x0, %x91; mov.u32 %x1, %x91; mov.u32 %x2, %x91; mov.u32 %x3, %x91; "
          "st.volatile.shared.u32 [%x91], %x91; bar.warp.sync -1;\n",
          own_window),
      body,
      {"%x0", "%x1", "%x2", "%x3"}};
}

Background arithmetic(const char* name, const char* step) {
  std::string body;
  for (int i = 0; i < 8; ++i) body += repeat(step, 4);
  return {name, 4,
          128,  "mov.f32 %f250, %g0; mov.f32 %f251, %g1; mov.f32 %f252, %g2; mov.f32 %f253, %g3;\n",
          body, {"%x99"}};
}

// Bulk copies of 16 KiB from the same lines of L2, four under way.
Background copies() {
  std::string before = "setp.eq.u32 %p13, %lane, 0; add.u64 %q1, %data, 0;\n";
  const auto slot = [](const char* i) {
    return fmt::format(
        "and.b32 %x16, {0}, 3; shr.u32 %x17, {0}, 2; and.b32 %x17, %x17, 1; mad.lo.u32 %x12, %x16, 16384, "
        "%s; add.u32 %x12, %x12, {1};"
        "shl.b32 %x13, %x16, 3; add.u32 %x13, %x13, %s; add.u32 %x13, %x13, 98304;\n",
        i, own_window);
  };
  const std::string issue =
      "@%p13 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%x13], 16384;\n"
      "@%p13 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%x12], [%q1], 16384, "
      "[%x13];\n";
  for (int i = 0; i < 4; ++i)
    before += fmt::format("mov.u32 %x18, {};\n", i) + slot("%x18") +
              "@%p13 mbarrier.init.shared::cta.b64 [%x13], 1;\n";
  before += "fence.mbarrier_init.release.cluster;\nbar.warp.sync -1;\n";
  for (int i = 0; i < 4; ++i) before += fmt::format("mov.u32 %x18, {};\n", i) + slot("%x18") + issue;
  const std::string wait =
      "$full: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%x13], %x17;\n@!%p14 bra $full;\n";
  return {"tma", 1, 1, before, slot("%i") + wait + issue, {}};
}

std::vector<Background> backgrounds() {
  return {copies(),
          shared_access("ld.shared.v4", "ld.volatile.shared.v4.u32 {%x<i>, %x100, %x101, %x102}, [%x<i>];"),
          shared_access("st.shared.v4", "st.volatile.shared.v4.u32 [%x<i>], {%c0, %c1, %c2, %c3};"),
          arithmetic("fma", "fma.rn.f32 %f25<i>, %f25<i>, %g0, %g1;"),
          arithmetic("ex2", "ex2.approx.ftz.f32 %f25<i>, %f25<i>;")};
}

const char* const drained_copies = R"(mov.u32 %x19, 0;
$drain: add.u32 %x18, %i, %x19; and.b32 %x16, %x18, 3; shr.u32 %x17, %x18, 2; and.b32 %x17, %x17, 1;
shl.b32 %x13, %x16, 3; add.u32 %x13, %x13, %s; add.u32 %x13, %x13, 98304;
$rest: mbarrier.try_wait.parity.shared::cta.b64 %p14, [%x13], %x17;
@!%p14 bra $rest;
add.u32 %x19, %x19, 1; setp.lt.u32 %p12, %x19, 4;
@%p12 bra $drain;
)";

Case together(const WgmmaShape& shape, const Background& b, bool of_background) {
  const int count = 16;
  KernelText k = wgmma_kernel(shape, wgmma_chain(shape, count) + "wgmma.wait_group.sync.aligned 1;\n", 2);
  k.directives = ".maxnreg 168";
  Part part{.first_warp = 8,
            .warps = b.warps,
            .before = b.before,
            .body = b.body,
            .use = b.use,
            .background = true};
  if (std::string(b.name) == "tma") part.after = drained_copies;
  if (std::string(b.name) == "fma" || std::string(b.name) == "ex2")
    part.after =
        "add.rn.f32 %f250, %f250, %f251; add.rn.f32 %f252, %f252, %f253; add.rn.f32 %f250, %f250, %f252; "
        "mov.b32 %x99, %f250;\n";
  k.parts.push_back(part);
  Case c;
  c.name = of_background ? fmt::format("port.{}", b.name) : "port.wgmma";
  c.parameters = fmt::format("n={} {} with {}", shape.n, shape.a_in_registers ? "RS" : "SS",
                             of_background ? "wgmma" : b.name);
  c.unit = of_background ? "cycles/operation" : "cycles/instruction";
  c.text = text(k);
  c.block = {uint32_t(32 * (8 + b.warps)), 1, 1};
  c.shared_bytes = own_window + (64 << 10);
  c.data.bytes = 64 << 10;
  c.operations = of_background ? b.operations : count * 2;
  c.shorter = of_background ? 0 : 8;
  c.longer = 40;
  c.measure = first_cta(8);
  if (of_background)
    c.measure = [](const Outcome& o) {
      return double(o.stamps[8].end - o.stamps[8].start) / double(o.stamps[8].extra0);
    };
  return c;
}

}  // namespace

std::vector<Case> port_cases() {
  std::vector<Case> out;
  for (const Background& b : backgrounds())
    for (const int n : {64, 128, 256})
      for (const bool of_background : {false, true}) out.push_back(together({.n = n}, b, of_background));
  for (const bool of_background : {false, true})
    out.push_back(together({.n = 128, .a_in_registers = true}, backgrounds()[0], of_background));
  return out;
}

}  // namespace palladion::bench
