// Tiles in global memory that CTAs update one after another: strips of them, a chain at one, lines that
// another SM wrote.
#include <fmt/format.h>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

// Fragments of an accumulator, as its registers lie: an instruction writes or reads 32 bytes of each of 8
// rows of 2 KiB; four of them fill the rows' lines.
std::string fragments(const char* step, int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fill(step, {{"o", std::to_string(i / 8 * 131072 + i / 4 % 2 * 16384 + i % 4 * 32)},
                       {"a", std::to_string(2 * i)},
                       {"b", std::to_string(2 * i + 1)}}) +
           "\n";
  return out;
}
const char* const fragment_place =
    "shr.u32 %x120, %lane, 2; mul.lo.u32 %x120, %x120, 2048; and.b32 %x121, %lane, 3; shl.b32 %x121, %x121, "
    "3; "
    "add.u32 %x120, %x120, %x121; mad.lo.u32 %x120, %warp, 32768, %x120;\n";
const char* const load_fragment = "ld.global.v2.u32 {%x<a>, %x<b>}, [%q2+<o>];";
const char* const store_fragment = "st.global.v2.u32 [%q2+<o>], {%x<a>, %x<b>};";

// Four warps read, or write, strips of 128 rows and 32 columns: what a CTA's stream of them costs.
Case strips(const char* name, bool loads, bool stores, int warps = 4) {
  Part part;
  part.warps = warps;
  part.before =
      std::string(fragment_place) +
      "cvt.u64.u32 %q2, %x120; add.u64 %q2, %q2, %data; mov.u64 %q3, %q2; mad.lo.u32 %x123, %me, 16, %s;\n";
  if (!loads)
    for (int i = 0; i < 32; ++i) part.before += fmt::format("mov.u32 %x{}, %c{};\n", i, i % 8);
  part.body =
      "and.b32 %x122, %i, 15; shl.b32 %x122, %x122, 7; cvt.u64.u32 %q4, %x122; add.u64 %q2, %q3, %q4;\n";
  if (loads)
    part.body +=
        fragments(loads && stores ? load_fragment : "ld.global.cg.v2.u32 {%x<a>, %x<b>}, [%q2+<o>];", 16) +
        "bar.sync 0;\n";  // all loads are on their way before the first is waited for
  if (loads && stores)
    for (int i = 0; i < 32; ++i) part.body += fmt::format("add.u32 %x{}, %x{}, %c0;\n", i, i);
  if (stores) part.body += fragments(store_fragment, 16);
  if (!stores)
    for (int i = 0; i < 32; i += 4)
      part.body += fmt::format("st.shared.v4.u32 [%x123+{}], {{%x{}, %x{}, %x{}, %x{}}};\n", 512 * i, i,
                               i + 1, i + 2, i + 3);
  Case c;
  c.name = name;
  c.parameters = fmt::format("warps={}", warps);
  c.unit = "cycles/4 KiB a warp";
  c.text = text({.parts = {part}});
  c.block = {uint32_t(32 * warps), 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.bytes = 256 * 2048 + 4096;
  return c;
}

// CTAs update a tile one after another, `chains` tiles at once: wait for the semaphore, add to `strips`
// strips of 128 rows and 32 columns, signal to the next CTA.
Case updates(int ctas, int chains, int strips, bool loads = true) {
  Part part;
  part.warps = 4;
  const int length = ctas / chains;
  part.before = fmt::format(
      "rem.u32 %x110, %cta, {}; div.u32 %x111, %cta, {}; mul.wide.u32 %q0, %x110, 4; add.u64 %q0, %q0, "
      "%out; add.u64 %q0, %q0, 128;\n{}"
      "cvt.u64.u32 %q2, %x120; mul.wide.u32 %q3, %x110, 262144; add.u64 %q2, %q2, %q3; add.u64 %q2, %q2, "
      "%data; "
      "add.u64 %q2, %q2, 4096; setp.eq.u32 %p5, %me, 0; mov.u32 %x112, %x111;\n",
      chains, chains, fragment_place);
  if (!loads)
    for (int i = 0; i < 32; ++i) part.before += fmt::format("mov.u32 %x{}, %c{};\n", i, i % 8);
  part.body =
      "$wait: ld.acquire.gpu.global.u32 %x113, [%q0];\nsetp.lt.u32 %p4, %x113, %x112;\n@%p4 bra "
      "$wait;\nbar.sync "
      "0;\n";
  for (int s = 0; s < strips; ++s) {
    if (loads) {
      part.body += fragments(load_fragment, 16);
      part.body += "bar.sync 0;\n";
      for (int i = 0; i < 32; ++i) part.body += fmt::format("add.u32 %x{}, %x{}, %c0;\n", i, i);
    }
    part.body += fragments(store_fragment, 16) + "bar.sync 0;\nadd.u64 %q2, %q2, 128;\n";
  }
  if (strips > 0) part.body += fmt::format("sub.u64 %q2, %q2, {};\n", 128 * strips);
  part.body += fmt::format(
      "bar.sync 0;\n@%p5 red.release.gpu.global.add.u32 [%q0], 1;\nadd.u32 %x112, %x112, {};\n", length);
  Case c;
  c.name = "global.update";
  c.parameters = fmt::format("ctas={} chains={} strips={}{}", ctas, chains, strips, loads ? "" : " stores");
  c.unit = "cycles/update";
  c.text = text({.parts = {part}, .chip_wide = true});
  c.grid = {uint32_t(ctas), 1, 1};
  c.block = {128, 1, 1};
  c.shared_bytes = 120 << 10;
  c.data.bytes = uint64_t(chains) * 262144 + 8192;
  c.data.kind = Data::Kind::zeros;
  c.shorter = 2;
  c.longer = 6;
  c.operations = length;
  return c;
}

// CTAs 0 and `other` update a tile alternately: how long the first warp's loads of `strips` strips take, of
// lines that the other has just written.
Case update_loads(int other, int strips) {
  Case c = updates(2, 1, strips);
  Part part;
  part.warps = 4;
  part.before = fmt::format(
      "add.u64 %q0, %out, 128;\n{}cvt.u64.u32 %q2, %x120; add.u64 %q2, %q2, %data; add.u64 %q2, %q2, 4096; "
      "setp.eq.u32 %p5, %me, 0; setp.ne.u32 %p6, %cta, 0; selp.u32 %x112, 1, 0, %p6; setp.ne.and.u32 %p6, "
      "%cta, {}, %p6; @%p6 mov.u32 %n, 0;\n",
      fragment_place, other);
  part.body =
      "$wait: ld.acquire.gpu.global.u32 %x113, [%q0];\nsetp.lt.u32 %p4, %x113, %x112;\n@%p4 bra "
      "$wait;\nbar.sync 0;\n";
  for (int s = 0; s < strips; ++s) {
    part.body += "mov.u64 %q8, %clock64;\n" + fragments(load_fragment, 16) + "bar.sync 0;\n";
    for (int i = 0; i < 32; ++i) part.body += fmt::format("add.u32 %x{}, %x{}, %c0;\n", i, i);
    part.body += "mov.u64 %q9, %clock64; sub.u64 %q9, %q9, %q8; add.u64 %e0, %e0, %q9;\n";
    part.body += fragments(store_fragment, 16) + "bar.sync 0;\nadd.u64 %q2, %q2, 128;\n";
  }
  part.body += fmt::format(
      "sub.u64 %q2, %q2, {};\nbar.sync 0;\n@%p5 red.release.gpu.global.add.u32 [%q0], 1;\nadd.u32 %x112, "
      "%x112, 2;\n",
      128 * strips);
  c.name = "global.update.loads";
  c.parameters = fmt::format("with={} strips={}", other, strips);
  c.unit = "cycles/strip";
  c.text = text({.parts = {part}, .chip_wide = true});
  c.grid = {uint32_t(other + 1), 1, 1};
  c.operations = strips;
  c.measure = extra;
  return c;
}

// One SM writes 32 lines, another one reads them: what each of its loads takes. The two alternate.
Case handed_lines(uint32_t writer, bool writes, const char* load) {
  constexpr int lines = 32;
  Part part;
  part.before = fmt::format(
      "add.u64 %q0, %out, 128; add.u64 %q2, %data, 8192; mul.wide.u32 %q3, %lane, 128; add.u64 %q3, %q3, "
      "%q2; mov.u64 "
      "%q5, 0; mov.u64 %q6, 0; setp.ne.u32 %p1, %cta, 0; setp.eq.u32 %p2, %cta, {}; setp.ne.u32 %p3, %lane, "
      "0;\n",
      writer);
  part.body =
      "shl.b32 %x0, %i, 1; add.u32 %x1, %x0, 1; add.u32 %x2, %x0, 2;\n@%p1 bra $writer;\n$full: "
      "ld.acquire.gpu.global.u32 %x3, [%q0]; setp.lt.u32 %p4, %x3, %x1; @%p4 bra $full;\nbar.warp.sync "
      "-1;\nmov.u64 %q8, %clock64;\n";
  part.body += fill("add.u64 %q5, %q2, %q6; <ld> %q6, [%q5+<o>];\n", {{"ld", load}, {"o", "0"}});
  for (int i = 1; i < lines; ++i)
    part.body +=
        fill("add.u64 %q5, %q5, %q6; <ld> %q6, [%q5+<o>];\n", {{"ld", load}, {"o", std::to_string(128 * i)}});
  part.body +=
      "add.u64 %q5, %q5, %q6; setp.eq.u64 %p5, %q5, 1; @%p5 trap;\nmov.u64 %q9, %clock64; sub.u64 %q9, %q9, "
      "%q8; add.u64 %e0, %e0, %q9;\n@!%p3 st.release.gpu.global.u32 [%q0], %x2;\nbra $done;\n$writer: "
      "@!%p2 "
      "bra $done;\n$empty: ld.acquire.gpu.global.u32 %x3, [%q0]; setp.lt.u32 %p4, %x3, %x0; @%p4 bra "
      "$empty;\nbar.warp.sync -1;\n";
  if (writes) part.body += "st.global.u64 [%q3], %q6;\nfence.acq_rel.gpu;\nbar.warp.sync -1;\n";
  part.body += "@!%p3 st.release.gpu.global.u32 [%q0], %x1;\n$done:\n";
  Case c;
  c.name = "global.other_sm";
  c.parameters = fmt::format("from={} {} {}", writer, writes ? "written" : "read", load);
  c.unit = "cycles";
  c.text = text({.parts = {part}, .chip_wide = true});
  c.grid = {writer + 1, 1, 1};
  c.shared_bytes = 120 << 10;
  c.data = {.kind = Data::Kind::zeros, .bytes = 32768};
  c.operations = lines;
  c.measure = extra;
  return c;
}

void add_strips(std::vector<Case>& out) {
  for (const int warps : {1, 2, 4, 8}) {
    out.push_back(strips("global.strips.ld", true, false, warps));
    out.push_back(strips("global.strips.st", false, true, warps));
    out.push_back(strips("global.strips.ld+st", true, true, warps));
  }
}

void add_updates(std::vector<Case>& out) {
  for (const auto& [ctas, chains] : {std::pair{2, 1}, {8, 1}, {32, 1}, {128, 1}, {128, 16}})
    for (const int count : {0, 1, 4}) out.push_back(updates(ctas, chains, count));
  out.push_back(updates(2, 1, 1, false));
  out.push_back(updates(2, 1, 4, false));
  for (const auto& [ctas, chains] : {std::pair{32, 16}, {64, 16}, {64, 32}})
    out.push_back(updates(ctas, chains, 0));
  for (const int other : {1, 2, 16, 66, 131}) out.push_back(update_loads(other, 4));
  out.push_back(update_loads(66, 1));
}

}  // namespace

std::vector<Case> update_cases() {
  std::vector<Case> out;
  add_strips(out);
  add_updates(out);
  for (const uint32_t writer : {1U, 2U, 16U, 66U, 131U}) {
    out.push_back(handed_lines(writer, true, "ld.global.cg.u64"));
    out.push_back(handed_lines(writer, false, "ld.global.cg.u64"));
  }
  return out;
}

}  // namespace palladion::bench
