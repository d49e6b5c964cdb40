// The main loop of a product: TMA fills a ring of stages, with and without the tensor core behind it, from
// lines that the SMs share in different ways.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "bench/device/micro.h"
#include "bench/device/micro_wgmma.h"

namespace palladion::bench {
namespace {

// Which panel of 128 rows an SM reads. Of the first 64 SMs, eight pairs belong to each of eight GPCs: the
// pairs 0, 8, 16, 24 to the first.
struct Sharing {
  const char* name;
  const char* panel;  // %x20 from %x21, the SM's number
};
constexpr Sharing sharings[] = {
    {"none", "mov.u32 %x20, %x21;"},
    {"tpc", "shr.u32 %x20, %x21, 1;"},
    {"gpc", "shr.u32 %x20, %x21, 1; and.b32 %x20, %x20, 7;"},
    {"across",
     "shr.u32 %x20, %x21, 4; shl.b32 %x20, %x20, 1; and.b32 %x22, %x21, 1; add.u32 %x20, %x20, %x22;"},
    {"all", "mov.u32 %x20, 0;"},
};
// The same for several CTAs an SM.
constexpr Sharing of_ctas[] = {{"none", "mov.u32 %x20, %cta;"}, {"sm", sharings[0].panel}, sharings[1]};

constexpr int box_bytes = 16384;  // 128 rows of 64 f16

// What a launch finds: lines that it has read before, lines in L2 that it has not, lines in HBM.
enum class Touch : uint8_t { again, first, hbm };

struct Ring {
  int boxes = 1;  // a stage
  int stages = 2;
  int ctas = 132;
  int per_sm = 1;
  uint64_t pitch = 4096;  // bytes from row to row
  uint64_t rows = 8192;   // of the matrix
  Touch touch = Touch::again;
  int row = 128;  // bytes of a row of a box, which has 128 of them
  WgmmaShape shape{.n = 256};
  int depth = 4;    // instructions a step, of each accumulator
  int width = 128;  // bytes of a row of the matrix in a box: more than 128 as several tiles of 8 rows
  int stage_bytes() const { return boxes * box_bytes * row / 128; }
  // Blocks of columns that a launch goes through.
  uint32_t columns() const {
    if (touch == Touch::again) return per_sm > 1 ? 2 : 8;  // so that all stays in L2
    return uint32_t(pitch / uint64_t(width));
  }
  const char* found() const { return touch == Touch::hbm ? " HBM" : touch == Touch::first ? " first" : ""; }
  int barriers_at() const {  // behind wgmma's tiles
    return std::max(stages * stage_bytes(), per_sm > 1 ? 0 : 96 << 10);
  }
  // So that no more CTAs than `per_sm` go to an SM.
  int shared_bytes() const { return std::max(barriers_at() + 1024, per_sm > 1 ? (192 << 10) / per_sm : 0); }
};

isa::TensorMap map_of(const Ring& r) {
  isa::TensorMap m;
  m.data_type = isa::TensorDataType::f16;
  if (r.width == 128) {
    m.rank = 2;
    m.dims = {r.pitch / 2, r.rows};
    m.strides = {r.pitch};
    m.box = {uint32_t(r.row / 2), 128};
  } else {
    m.rank = 4;
    m.dims = {64, 8, r.pitch / 128, r.rows / 8};
    m.strides = {r.pitch, 128, 8 * r.pitch};
    m.box = {64, 8, uint32_t(r.width / 128), uint32_t(box_bytes / r.width / 8)};
  }
  m.swizzle = r.row == 128 ? isa::Swizzle::b128 : r.row == 64 ? isa::Swizzle::b64 : isa::Swizzle::b32;
  m.l2_promotion = isa::L2Promotion::b256;
  return m;
}

std::string init(const Ring& r, int consumers) {
  std::string out = "setp.eq.u32 %p12, %me, 0;\n";
  for (int i = 0; i < r.stages; ++i)
    out += fmt::format(
        "@%p12 mbarrier.init.shared::cta.b64 [%s+{0}], 1;\n@%p12 mbarrier.init.shared::cta.b64 [%s+{1}], "
        "{2};\n",
        r.barriers_at() + 8 * i, r.barriers_at() + 512 + 8 * i, std::max(1, consumers));
  return out + "fence.mbarrier_init.release.cluster;\n";
}

// %x13: the stage's "full" mbarrier, %x12: its bytes, %x17: its parity, for step `i`.
std::string stage_of(const Ring& r, const std::string& i) {
  const std::string split = std::has_single_bit(unsigned(r.stages))
                                ? fmt::format("and.b32 %x16, {0}, {1}; shr.u32 %x17, {0}, {2};", i,
                                              r.stages - 1, std::countr_zero(unsigned(r.stages)))
                                : fmt::format("rem.u32 %x16, {0}, {1}; div.u32 %x17, {0}, {1};", i, r.stages);
  return split +
         fmt::format(
             " and.b32 %x17, %x17, 1; mad.lo.u32 %x12, %x16, {}, %s; shl.b32 %x13, %x16, 3; add.u32 %x13, "
             "%x13, %s; add.u32 %x13, %x13, {};\n",
             r.stage_bytes(), r.barriers_at());
}

std::string wait(const std::string& label, const char* address, const char* parity) {
  return fill("$<l>: mbarrier.try_wait.parity.shared::cta.b64 %p14, [<a>], <p>;\n@!%p14 bra $<l>;\n",
              {{"l", label}, {"a", address}, {"p", parity}});
}

// Arms and issues the boxes of step `i`: box b from row %x<30 + b>, all from one block of columns.
std::string fetch(const Ring& r, const std::string& i) {
  std::string out = fmt::format("and.b32 %x14, {}, {};\n", i, r.columns() - 1);
  out += fmt::format("@%p13 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%x13], {};\n", r.stage_bytes());
  out += r.width == 128 ? "shl.b32 %x14, %x14, 6;\n"
                        : fmt::format("mul.lo.u32 %x14, %x14, {};\n", r.width / 128);
  for (int b = 0; b < r.boxes; ++b)
    out += fmt::format(
        "add.u32 %x15, %x12, {};\n{}@%p13 "
        "cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%x15], [%map, "
        "{{{}}}], [%x13];\n",
        b * box_bytes, r.width == 128 ? "" : fmt::format("shr.u32 %x23, %x{}, 3;\n", 30 + b),
        r.width == 128 ? 2 : 4,
        r.width == 128 ? fmt::format("%x14, %x{}", 30 + b) : "%x24, %x24, %x14, %x23");
  return out;
}

// Fills all stages: steps 0 and on.
std::string fill_all(const Ring& r) {
  std::string out;
  for (int i = 0; i < r.stages; ++i)
    out += fmt::format("mov.u32 %x18, {};\n", i) + stage_of(r, "%x18") + fetch(r, "%x18");
  return out;
}

// What the loop has left on its way: steps %n and on.
std::string wait_for_all(const Ring& r) {
  std::string out;
  for (int i = 0; i < r.stages; ++i)
    out += fmt::format("add.u32 %x18, %n, {};\n", i) + stage_of(r, "%x18") +
           wait("rest" + std::to_string(i), "%x13", "%x17");
  return out;
}

Case frame(const char* name, const Ring& r, const KernelText& k, int threads) {
  Case c;
  c.name = name;
  c.unit = "cycles/step";
  c.text = text(k);
  c.grid = {uint32_t(r.ctas), 1, 1};
  c.block = {uint32_t(threads), 1, 1};
  c.shared_bytes = uint32_t(r.shared_bytes());
  c.data.bytes = r.pitch * r.rows;
  c.map = map_of(r);
  c.cold = r.touch == Touch::hbm;
  c.measure = mean_over(threads / 32);
  c.shorter = r.touch == Touch::again ? 16 : 8;
  c.longer = r.touch == Touch::again ? 80 : 24;
  return c;
}

// One warp that fetches.
Case loader(const char* name, const Ring& r, const Part& part) {
  KernelText k;
  k.prologue = init(r, 0);
  k.chip_wide = true;
  k.parts = {part};
  return frame(name, r, k, 32);
}

// Loads alone: one warp waits for the oldest stage and fills it again.
Case loads(const Ring& r, const Sharing& sharing, int sms) {
  Part p;
  p.before = fmt::format(
      "setp.eq.u32 %p13, %lane, 0; mov.u32 %x21, %smid; setp.ge.u32 %p11, %x21, {};\n@%p11 bra $skip0;\n{}\n"
      "mul.lo.u32 %x30, %x20, {}; mov.u32 %x24, 0;\n",
      sms, sharing.panel, box_bytes / r.width);
  p.before += fill_all(r);
  p.body = stage_of(r, "%i") + wait("full", "%x13", "%x17") +
           fmt::format("add.u32 %x18, %i, {};\n", r.stages) + fetch(r, "%x18");
  p.after = wait_for_all(r);
  Case c = loader("ring.load", r, p);
  c.parameters = fmt::format("share={} sms={} stages={} pitch={} width={}{}", sharing.name, sms, r.stages,
                             r.pitch, r.row < 128 ? r.row : r.width, r.found());
  if (r.per_sm > 1) c.parameters += fmt::format(" ctas={}", r.per_sm);
  return c;
}

// Loads in step: the CTA that has waited for a stage fills it again `pace` cycles after the one before. The
// SMs begin up to `late` cycles apart.
Case paced(const Ring& r, const char* sharing, const char* panels, int pace, int late) {
  Part p;
  p.before = fmt::format(
      "setp.eq.u32 %p13, %lane, 0; mov.u32 %x24, 0;\n{}\nmov.u64 %q2, %clock64; add.s64 %q2, %q2, 65535; "
      "and.b64 %q2, %q2, -32768;\nmul.lo.u32 %x25, %cta, 37; and.b32 %x25, %x25, 63; mul.lo.u32 %x25, %x25, "
      "{}; shr.u32 %x25, %x25, 6; cvt.u64.u32 %q1, %x25; add.s64 %q2, %q2, %q1;\n$late: mov.u64 %q3, "
      "%clock64; setp.lt.s64 %p14, %q3, %q2;\n@%p14 bra $late;\n",
      panels, late);
  p.before += fill_all(r);
  p.body = stage_of(r, "%i") + wait("full", "%x13", "%x17") +
           "mov.u64 %q3, %clock64; max.s64 %q2, %q2, %q3;\n$early: mov.u64 %q3, %clock64; setp.lt.s64 %p14, "
           "%q3, %q2;\n@%p14 bra $early;\n" +
           fmt::format("add.s64 %q2, %q2, {};\nadd.u32 %x18, %i, {};\n", pace, r.stages) +
           stage_of(r, "%x18") + fetch(r, "%x18");
  p.after = wait_for_all(r);
  Case c = loader("ring.paced", r, p);
  c.parameters =
      fmt::format("share={} ctas={} stages={} pace={} late={}", sharing, r.ctas, r.stages, pace, late);
  return c;
}

// Two SMs of a TPC fetch the same lines, the second `late` cycles after the first: how long that takes it.
Case merge(int late) {
  const Ring r{.stages = 1, .rows = 128};
  Part p;
  p.before = fmt::format(
      "setp.eq.u32 %p13, %lane, 0; mov.u32 %x21, %smid; setp.ge.u32 %p11, %x21, 2;\n@%p11 bra $skip0;\n"
      "mov.u32 %x30, 0; mul.lo.u32 %x25, %x21, {}; cvt.u64.u32 %q1, %x25;\n",
      late);
  // Both begin when the clock is a multiple of 4096.
  p.body =
      "mov.u64 %q2, %clock64; add.s64 %q2, %q2, 8191; and.b64 %q2, %q2, -4096; add.s64 %q2, %q2, %q1;\n"
      "$early: mov.u64 %q3, %clock64; setp.lt.u64 %p14, %q3, %q2;\n@%p14 bra $early;\n" +
      stage_of(r, "%i") + fetch(r, "%i") + wait("full", "%x13", "%x17") +
      "mov.u64 %q4, %clock64; sub.s64 %q4, %q4, %q3; add.s64 %e0, %e0, %q4;\n";
  Case c = loader("ring.merge", r, p);
  c.unit = "cycles";
  c.measure = [](const Outcome& o) {
    const auto second = std::ranges::find(o.stamps, 1U, &Stamp::smid);
    return second == o.stamps.end() ? 0 : double(second->extra0);
  };
  c.parameters = fmt::format("late={}", late);
  return c;
}

// As matmul_ws multiplies: two warpgroups, each of which gives a stage back when it has issued the next one's
// instructions.
Part consumers(const Ring& r) {
  Part p = wgmma_kernel(r.shape, "", 2).parts.front();
  p.before += "and.b32 %x19, %me, 127; setp.eq.u32 %p13, %x19, 0;\n";
  p.body = stage_of(r, "%i") + wait("full", "%x13", "%x17") + wgmma_chain(r.shape, r.depth * r.shape.tiles) +
           "wgmma.wait_group.sync.aligned 1;\nsetp.eq.u32 %p11, %i, 0;\n@%p11 bra $first;\n"
           "sub.u32 %x18, %i, 1;\n" +
           stage_of(r, "%x18") + "@%p13 mbarrier.arrive.shared::cta.b64 _, [%x13+512];\n$first:\n";
  p.drain = "wgmma.wait_group.sync.aligned 0;\nsub.u32 %x18, %n, 1;\n" + stage_of(r, "%x18") +
            "@%p13 mbarrier.arrive.shared::cta.b64 _, [%x13+512];\n";
  return p;
}

// The producer: A's 128 rows are one box, B's 256 two.
Part producer(const Ring& r, const char* panels) {
  Part p;
  p.first_warp = 8;
  p.timed = false;
  p.before = fmt::format("setp.eq.u32 %p13, %lane, 0;\n{}\n", panels);
  p.body =
      stage_of(r, "%i") + "xor.b32 %x17, %x17, 1;\n" + wait("empty", "%x13+512", "%x17") + fetch(r, "%i");
  return p;
}

Case steps(Ring r, const char* sharing, const char* panels) {
  KernelText k = wgmma_kernel(r.shape, "", 2);
  k.directives = ".maxnreg 168";
  k.prologue += "bar.sync 0;\n" + init(r, 2);
  k.chip_wide = r.ctas > 1;
  k.parts = {consumers(r), producer(r, panels)};
  Case c = frame("ring.step", r, k, 288);
  c.values = r.ctas == 1;
  c.parameters = fmt::format("share={} ctas={} stages={} n={} tiles={} depth={}{}", sharing, r.ctas, r.stages,
                             r.shape.n, r.shape.tiles, r.depth, r.found());
  return c;
}

// Which panels of A and B a CTA fetches.
const char* const own = "mov.u32 %x30, 0; mov.u32 %x31, 128; mov.u32 %x32, 256;";
// 16 tiles of 128 rows, 8 of 256 columns: neighbours share A, every eighth CTA B.
const char* const product =
    "shr.u32 %x30, %cta, 3; shl.b32 %x30, %x30, 7; and.b32 %x31, %cta, 7; shl.b32 %x31, %x31, 8; add.u32 "
    "%x31, %x31, 2048; add.u32 %x32, %x31, 128;";
// The same of 128 columns.
const char* const square =
    "shr.u32 %x30, %cta, 3; shl.b32 %x30, %x30, 7; and.b32 %x31, %cta, 7; shl.b32 %x31, %x31, 7; add.u32 "
    "%x31, %x31, 4096;";

void add_loads(std::vector<Case>& out) {
  for (const Sharing& s : sharings)
    for (const int stages : {1, 2, 8}) out.push_back(loads({.stages = stages}, s, 64));
  for (const int sms : {1, 8, 16, 32})
    for (const int stages : {1, 2}) out.push_back(loads({.stages = stages}, sharings[0], sms));
  out.push_back(loads({.stages = 1, .rows = 132 * 128}, sharings[0], 132));
  out.push_back(loads({.stages = 8, .rows = 132 * 128}, sharings[0], 132));
  out.push_back(loads({.stages = 8, .pitch = 4096 + 128}, sharings[0], 64));
  for (const int stages : {1, 8})
    for (const Sharing& s : {sharings[0], sharings[2], sharings[3]})
      out.push_back(loads({.stages = stages, .touch = Touch::first}, s, 64));
  for (const Sharing& s : {sharings[0], sharings[3], sharings[4]})
    out.push_back(loads({.stages = 8, .touch = Touch::hbm}, s, 64));
  for (const int row : {32, 64, 128})
    for (const int sms : {1, 132})
      out.push_back(loads({.stages = 8, .rows = 132 * 128, .row = row}, sharings[0], sms));
}

void add_wide_loads(std::vector<Case>& out) {
  for (const int width : {256, 1024})
    out.push_back(loads({.stages = 8,
                         .pitch = uint64_t(32 * width),
                         .rows = uint64_t(132 * box_bytes / width),
                         .width = width},
                        sharings[0], 1));
  for (const int width : {128, 256, 512, 1024})
    for (const Touch touch : {Touch::again, Touch::hbm})
      out.push_back(loads({.stages = 8,
                           .pitch = uint64_t(32 * width),
                           .rows = uint64_t(132 * box_bytes / width),
                           .touch = touch,
                           .width = width},
                          sharings[0], 132));
}

void add_loads_of_several_ctas(std::vector<Case>& out) {
  for (const int row : {64, 128})
    for (const int ctas : {2, 3})
      for (const Sharing& s : of_ctas)
        out.push_back(loads({.ctas = 132 * ctas,
                             .per_sm = ctas,
                             .pitch = 512,
                             .rows = uint64_t(132 * ctas * 128),
                             .row = row},
                            s, 132));
  // As many lines on their way to a GPC as shared memory has room for.
  for (const auto& [row, stages] : {std::pair{128, 4}, {64, 8}, {32, 16}})
    for (const Sharing& s : {of_ctas[0], of_ctas[2]})
      out.push_back(loads({.stages = stages,
                           .ctas = 132 * 3,
                           .per_sm = 3,
                           .pitch = 512,
                           .rows = uint64_t(132 * 3 * 128),
                           .row = row},
                          s, 132));
  for (const int late : {0, 20, 40, 60, 80, 120}) out.push_back(merge(late));
}

void add_products(std::vector<Case>& out) {
  for (const int stages : {2, 4}) {
    out.push_back(steps({.boxes = 3, .stages = stages, .ctas = 1}, "all", own));
    out.push_back(steps({.boxes = 3, .stages = stages, .ctas = 128}, "all", own));
    for (const Touch touch : {Touch::again, Touch::first, Touch::hbm})
      out.push_back(steps({.boxes = 3, .stages = stages, .ctas = 128, .touch = touch}, "product", product));
  }
}

void add_paced(std::vector<Case>& out) {
  for (const int stages : {2, 4, 6})
    for (const int pace : {320, 416, 512})
      for (const int late : {0, 200, 1000, 4000})
        out.push_back(paced({.boxes = 2, .stages = stages, .ctas = 132}, "square", square, pace, late));
}

void add_shapes(std::vector<Case>& out) {
  const WgmmaShape two{.n = 128, .tiles = 2}, narrow{.n = 128};
  for (const int stages : {2, 4}) {
    out.push_back(steps({.boxes = 3, .stages = stages, .ctas = 1, .shape = two}, "all", own));
    out.push_back(steps({.boxes = 3, .stages = stages, .ctas = 128, .shape = two}, "product", product));
  }
  out.push_back(steps({.boxes = 3, .stages = 2, .ctas = 1, .shape = narrow, .depth = 8}, "all", own));
  out.push_back(steps({.boxes = 3, .stages = 2, .ctas = 1, .shape = {.n = 64}, .depth = 16}, "all", own));
  // Numbers of stages by which ptxas divides, and those for which the text masks.
  for (const int stages : {2, 3, 4, 5, 6, 7}) {
    for (const int ctas : {1, 132})
      out.push_back(steps({.boxes = 2, .stages = stages, .ctas = ctas, .shape = narrow}, "all", own));
    for (const Touch touch : {Touch::again, Touch::hbm})
      out.push_back(steps({.boxes = 2, .stages = stages, .ctas = 132, .touch = touch, .shape = narrow},
                          "square", square));
  }
}

}  // namespace

std::vector<Case> ring_cases() {
  std::vector<Case> out;
  for (const auto add :
       {add_loads, add_wide_loads, add_loads_of_several_ctas, add_products, add_paced, add_shapes})
    add(out);
  return out;
}

}  // namespace palladion::bench
