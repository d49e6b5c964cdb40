// TMA: latency, issue interval and throughput of bulk and tensor copies, from L2 and from HBM, with
// multicast, and the way back.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "bench/device/micro.h"

namespace palladion::bench {
namespace {

enum class Source : uint8_t { same, own, fresh };  // L2: all CTAs the same bytes, or each its own; HBM
const char* name(Source s) { return s == Source::same ? "L2-same" : s == Source::own ? "L2" : "HBM"; }

struct Copy {
  bool tensor = true;  // 2D tiles of 64 f16 columns; else bulk
  int bytes = 16384;
  int swizzle = 128;  // tensor
  Source source = Source::own;
  int in_flight = 1;
  int ctas = 1;
  int multicast = 1;           // CTAs of a cluster that share each copy, a slice each
  bool promoted = true;        // tensor: L2 promotion to 256 bytes
  bool one_issuer = false;     // multicast: rank 0 copies all slices
  bool cluster_scope = false;  // multicast: "empty" arrivals as releases at cluster scope, which ptxas fences

  int slice() const { return one_issuer ? bytes : bytes / multicast; }
  int rows() const { return slice() / 128; }
};

constexpr int row_pitch = 8192;  // bytes: a matrix of 4096 f16 columns
constexpr int slots_at = 1024;   // of the window; mbarriers before

std::string describe(const Copy& c) {
  std::string out = fmt::format("{} bytes={} {} in_flight={} ctas={}",
                                c.tensor ? fmt::format("tile swizzle={}", c.swizzle) : "bulk", c.bytes,
                                name(c.source), c.in_flight, c.ctas);
  if (c.multicast > 1) out += fmt::format(" multicast={}", c.multicast);
  if (!c.promoted) out += " not promoted";
  if (c.one_issuer) out += " one issuer";
  if (c.cluster_scope) out += " cluster scope";
  return out;
}

isa::TensorMap map_of(const Copy& c, uint64_t data_bytes) {
  isa::TensorMap m;
  m.data_type = isa::TensorDataType::f16;
  m.rank = 2;
  m.dims = {row_pitch / 2, data_bytes / row_pitch};
  m.strides = {row_pitch};
  m.box = {64, uint32_t(std::min(c.rows(), 256))};
  m.swizzle = c.swizzle == 128 ? isa::Swizzle::b128 : isa::Swizzle::none;
  m.l2_promotion = c.promoted ? isa::L2Promotion::b256 : isa::L2Promotion::none;
  return m;
}

// Tiles of a source: which one iteration %i of this CTA takes is in %x10.
uint64_t tiles(const Copy& c, uint32_t iterations) {
  const int sharing = std::max(c.multicast, 1);
  const uint64_t groups = uint64_t(c.ctas / sharing);
  if (c.source == Source::fresh) return iterations * groups;
  const uint64_t hot =
      std::max<uint64_t>(1, std::bit_floor(uint64_t(c.ctas == 1 ? 2 << 20 : 128 << 10) / uint64_t(c.bytes)));
  return c.source == Source::own ? hot * groups : hot;
}

std::string choose_tile(const Copy& c, const std::string& iteration) {
  const int sharing = c.multicast;
  const int groups = c.ctas / sharing;
  const uint64_t hot =
      std::max<uint64_t>(1, std::bit_floor(uint64_t(c.ctas == 1 ? 2 << 20 : 128 << 10) / uint64_t(c.bytes)));
  std::string out = fmt::format("div.u32 %x11, %cta, {};\n", sharing);
  if (sharing == 1) out = "mov.u32 %x11, %cta;\n";
  if (c.source == Source::fresh)
    return out + fmt::format("mad.lo.u32 %x10, {}, {}, %x11;\n", iteration, groups);
  out += fmt::format("and.b32 %x10, {}, {};\n", iteration, hot - 1);
  return c.source == Source::own ? out + fmt::format("mad.lo.u32 %x10, %x11, {}, %x10;\n", hot) : out;
}

// The copy of tile %x10 into the slot at %x12 with the mbarrier at %x13, by the lanes of %p13.
std::string issue(const Copy& c) {
  const std::string cast = c.multicast > 1 ? ".multicast::cluster" : "";
  const std::string mask = c.multicast > 1 ? ", %h0" : "";
  std::string out;
  if (!c.tensor) {
    out += fmt::format("mul.wide.u32 %q1, %x10, {}; add.u64 %q1, %q1, %data;\n", c.bytes);
    if (c.multicast > 1)
      out += fmt::format("mad.wide.u32 %q1, %x20, {0}, %q1; mad.lo.u32 %x12, %x20, {0}, %x12;\n", c.slice());
    return out + fmt::format(
                     "@%p13 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{} [%x12], "
                     "[%q1], {}, [%x13]{};\n",
                     cast, c.slice(), mask);
  }
  // Tiles go along a row of the matrix first: 64 of 64 columns.
  out += fmt::format(
      "and.b32 %x14, %x10, 63; shl.b32 %x14, %x14, 6; shr.u32 %x15, %x10, 6; mul.lo.u32 %x15, %x15, {};\n",
      c.bytes / 128);
  if (c.multicast > 1)
    out += fmt::format("mad.lo.u32 %x15, %x20, {}, %x15; mad.lo.u32 %x12, %x20, {}, %x12;\n", c.rows(),
                       c.slice());
  return out + fmt::format(
                   "@%p13 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes{} "
                   "[%x12], [%map, {{%x14, %x15}}], [%x13]{};\n",
                   cast, mask);
}

std::string wait(const std::string& label, const std::string& address, const std::string& parity) {
  return fill("$<l>: mbarrier.try_wait.parity.shared::cta.b64 %p14, [<a>], <p>;\n@!%p14 bra $<l>;\n",
              {{"l", label}, {"a", address}, {"p", parity}});
}

// mbarriers: at 8 * slot "full", at 512 + 8 * slot "empty".
std::string init(const Copy& c) {
  std::string out = "setp.eq.u32 %p12, %me, 0;\n";
  for (int i = 0; i < c.in_flight; ++i)
    out += fmt::format(
        "@%p12 mbarrier.init.shared::cta.b64 [%s+{0}], 1;\n@%p12 mbarrier.init.shared::cta.b64 [%s+{1}], "
        "{2};\n",
        8 * i, 512 + 8 * i, c.multicast);
  return out + "fence.mbarrier_init.release.cluster;\n";
}

std::string slot_of(const Copy& c, const std::string& iteration) {
  const int n = c.in_flight;
  std::string out = n == 1 ? fmt::format("mov.u32 %x16, 0; mov.u32 %x17, {};\n", iteration)
                           : fmt::format("and.b32 %x16, {0}, {1}; shr.u32 %x17, {0}, {2};\n", iteration,
                                         n - 1, std::countr_zero(unsigned(n)));
  return out + fmt::format(
                   "and.b32 %x17, %x17, 1; mad.lo.u32 %x12, %x16, {}, %s; add.u32 %x12, %x12, {}; shl.b32 "
                   "%x13, %x16, 3; add.u32 %x13, %x13, %s;\n",
                   c.bytes, slots_at);
}

std::string arm(const Copy& c) {
  return fmt::format("@%p13 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%x13], {};\n", c.bytes);
}

// One warp keeps `in_flight` copies under way: it waits for the oldest and issues the next in its place.
Part ring(const Copy& c) {
  Part p;
  p.before = "setp.eq.u32 %p13, %lane, 0;\n";
  for (int i = 0; i < c.in_flight; ++i) {
    const std::string n = std::to_string(i);
    p.before +=
        "mov.u32 %x18, " + n + ";\n" + slot_of(c, "%x18") + choose_tile(c, "%x18") + arm(c) + issue(c);
  }
  p.body = slot_of(c, "%i") + wait("full", "%x13", "%x17") +
           fmt::format("add.u32 %x18, %i, {};\n", c.in_flight) + choose_tile(c, "%x18") + arm(c) + issue(c);
  for (int i = 0; i < c.in_flight; ++i)
    p.after += fmt::format("add.u32 %x18, %n, {};\n", i) + slot_of(c, "%x18") +
               wait("rest" + std::to_string(i), "%x13", "%x17");
  return p;
}

// With multicast a slot may be filled again when all CTAs of the cluster have taken it: warp 0 issues, warp 1
// waits for the bytes and signals to every CTA.
std::vector<Part> multicast_ring(const Copy& c) {
  const std::string start =
      fmt::format("setp.eq.u32 %p13, %lane, 0; mov.u32 %x20, %cluster_ctarank; mov.b16 %h0, {};\n",
                  (1 << c.multicast) - 1);
  Part producer, consumer;
  producer.timed = false;
  producer.before = start;
  producer.body = slot_of(c, "%i") + "xor.b32 %x17, %x17, 1;\n" + wait("empty", "%x13+512", "%x17") +
                  choose_tile(c, "%i") + arm(c);
  if (c.one_issuer) producer.body += "setp.eq.and.u32 %p13, %x20, 0, %p13;\n";
  producer.body += issue(c) + "setp.eq.u32 %p13, %lane, 0;\n";
  consumer.first_warp = 1;
  consumer.before = start;
  consumer.body = slot_of(c, "%i") + wait("full", "%x13", "%x17") + "add.u32 %x21, %x13, 512;\n";
  for (int r = 0; r < c.multicast; ++r)
    consumer.body += fmt::format(
        "mapa.shared::cluster.u32 %x22, %x21, {};\n@%p13 mbarrier.arrive{}.shared::cluster.b64 _, [%x22];\n",
        r, c.cluster_scope ? ".release.cluster" : "");
  return {producer, consumer};
}

Case loads(const char* name, const Copy& c, uint32_t shorter, uint32_t longer) {
  KernelText k;
  k.prologue = init(c);
  k.chip_wide = c.ctas > 1;
  k.clusters = c.multicast > 1;
  k.parts = c.multicast > 1 ? multicast_ring(c) : std::vector<Part>{ring(c)};
  Case out;
  out.name = name;
  out.parameters = describe(c);
  out.unit = "cycles/copy";
  out.text = text(k);
  out.grid = {uint32_t(c.ctas), 1, 1};
  out.block = {c.multicast > 1 ? 64u : 32u, 1, 1};
  out.cluster = {uint32_t(c.multicast), 1, 1};
  out.shared_bytes = uint32_t(slots_at + c.bytes * c.in_flight);
  out.shorter = shorter;
  out.longer = longer;
  out.cold = c.source == Source::fresh;
  const uint64_t count = tiles(c, longer + uint32_t(c.in_flight));
  const uint64_t pitch = c.tensor ? uint64_t(row_pitch) * uint64_t(c.bytes / 128) : uint64_t(c.bytes);
  out.data.bytes = std::max<uint64_t>(8192, c.tensor ? (count + 63) / 64 * pitch : count * pitch);
  if (c.tensor) out.map = map_of(c, out.data.bytes);
  if (c.ctas > 1) out.measure = mean_over(c.multicast > 1 ? 2 : 1);
  return out;
}

// How soon one thread can issue the next copy.
Case issue_interval(const Copy& base, int count) {
  Copy c = base;
  c.in_flight = 16;
  KernelText k;
  k.prologue = init(c);
  Part p;
  p.before = "setp.eq.u32 %p13, %lane, 0;\n@!%p13 bra $idle;\n" + slot_of(c, "0");
  p.before +=
      fmt::format("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%x13], {};\n", c.bytes * (count + 1));
  p.before += "mov.u32 %x10, 0;\n" + issue(c);  // the descriptor is there when the clock starts
  p.before += "mov.u64 %q10, %clock64;\n";
  for (int i = 0; i < count; ++i) p.before += fmt::format("mov.u32 %x10, {};\n", i % 8) + issue(c);
  p.before += "mov.u64 %q11, %clock64; sub.u64 %e0, %q11, %q10;\n" + wait("all", "%s", "0") + "$idle:\n";
  k.parts = {p};
  Case out = loads("tma.issue", c, 0, 1);
  out.parameters = fmt::format("{} bytes={} count={}", c.tensor ? "tile" : "bulk", c.bytes, count);
  out.text = text(k);
  out.operations = count;
  out.measure = extra;
  return out;
}

// Copies that one thread issues at once: when the `landed`th is there.
Case burst(const Copy& base, int copies, int landed) {
  Copy c = base;
  c.in_flight = copies;
  KernelText k;
  k.prologue = init(c);
  Part p;
  p.before = "setp.eq.u32 %p13, %lane, 0;\n@!%p13 bra $idle;\n";
  // The second round finds the lines in L2 and the descriptor where it is needed.
  for (const int round : {0, 1}) {
    for (int i = 0; i < copies; ++i) p.before += slot_of(c, std::to_string(i)) + arm(c);
    if (round == 1) p.before += "mov.u64 %q10, %clock64;\n";
    for (int i = 0; i < copies; ++i)
      p.before += slot_of(c, std::to_string(i)) + fmt::format("mov.u32 %x10, {};\n", i) + issue(c);
    for (int i = 0; i < copies; ++i) {
      const int at = round == 1 ? (i + landed - 1) % copies : i;
      p.before +=
          wait(fmt::format("round{}of{}", round, i), fmt::format("%s+{}", 8 * at), std::to_string(round));
      if (round == 1 && i == 0) p.before += "mov.u64 %q11, %clock64; sub.u64 %e0, %q11, %q10;\n";
    }
  }
  p.before += "$idle:\n";
  k.parts = {p};
  Case out = loads("tma.burst", c, 0, 1);
  out.parameters =
      fmt::format("{} bytes={} copies={} landed={}", c.tensor ? "tile" : "bulk", c.bytes, copies, landed);
  out.unit = "cycles";
  out.text = text(k);
  out.measure = extra;
  return out;
}

// The end of a GEMM: each warpgroup rounds its accumulators, writes them to shared memory and copies them to
// GMEM, a tile of 64 x 64 f16 a step, with two buffers.
Case epilogue(int groups, int ctas) {
  const Copy c{.bytes = 8192, .in_flight = 4, .ctas = ctas};
  Case out = loads("tma.epilogue", c, 16, 80);
  KernelText k;
  k.chip_wide = ctas > 1;
  for (int g = 0; g < groups; ++g) {
    Part p{.first_warp = 4 * g, .warps = 4};
    p.before = "setp.eq.u32 %p13, %lane, 0; and.b32 %x20, %warp, 3; setp.eq.and.u32 %p13, %x20, 0, %p13;\n";
    for (int i = 0; i < 32; ++i) p.before += fmt::format("mov.f32 %f{}, %g{};\n", i, i % 8);
    p.before += fmt::format(
        "and.b32 %x21, %me, 127; shl.b32 %x21, %x21, 4; add.u32 %x21, %x21, %s; add.u32 %x21, %x21, {};\n",
        slots_at + 2 * g * c.bytes);
    p.body = fmt::format(
        "and.b32 %x16, %i, 1; mad.lo.u32 %x22, %x16, {0}, %x21; mad.lo.u32 %x12, %x16, {0}, %s; add.u32 "
        "%x12, "
        "%x12, {1};\n@%p13 cp.async.bulk.wait_group.read 1;\nbar.sync {2}, 128;\n",
        c.bytes, slots_at + 2 * g * c.bytes, g + 1);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j)
        p.body += fmt::format("cvt.rn.f16x2.f32 %x{}, %f{}, %f{};\n", 30 + 4 * i + j, 8 * i + 2 * j,
                              8 * i + 2 * j + 1);
      p.body +=
          fmt::format("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%x22+{}], {{%x{}, %x{}, %x{}, %x{}}};\n",
                      2048 * i, 30 + 4 * i, 31 + 4 * i, 32 + 4 * i, 33 + 4 * i);
    }
    p.body += fmt::format("bar.sync {0}, 128;\nfence.proxy.async.shared::cta;\nbar.sync {0}, 128;\n", g + 1);
    p.body += choose_tile(c, fmt::format("%i")) +
              fmt::format(
                  "and.b32 %x14, %x10, 63; shl.b32 %x14, %x14, 6; shr.u32 %x15, %x10, 6; mul.lo.u32 %x15, "
                  "%x15, 64;\n@%p13 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, "
                  "{{%x14, %x15}}], [%x12];\n@%p13 cp.async.bulk.commit_group;\n");
    p.after = "cp.async.bulk.wait_group 0;\n";
    k.parts.push_back(p);
  }
  out.parameters = fmt::format("groups={} ctas={}", groups, ctas);
  out.unit = "cycles/step";
  out.text = text(k);
  out.block = {uint32_t(128 * groups), 1, 1};
  if (ctas > 1) out.measure = mean_over(4 * groups);
  return out;
}

// The first use of a tensor map by a kernel, its data being in L2, and of a plain bulk copy beside it.
Case first_use(const Copy& c) {
  Case out = loads("tma.first", c, 0, 1);
  KernelText k;
  k.prologue = init(c) +
               "mul.wide.u32 %q0, %me, 4096; add.u64 %q0, %q0, %data; ld.global.u32 %x0, [%q0]; setp.eq.u32 "
               "%p1, %x0, 77; @%p1 trap;\n";
  Part p;
  p.before = "setp.eq.u32 %p13, %lane, 0;\n" + slot_of(c, "0") + "mov.u32 %x10, 0;\n" + arm(c);
  p.before += "mov.u64 %q10, %clock64;\n" + issue(c) + wait("first", "%s", "0") +
              "mov.u64 %q11, %clock64; sub.u64 %e0, %q11, %q10;\n";
  k.parts = {p};
  out.text = text(k);
  out.measure = extra;
  out.parameters = fmt::format("{} bytes={}", c.tensor ? "tile" : "bulk", c.bytes);
  out.unit = "cycles";
  return out;
}

// Stores: each iteration issues one and waits until at most `in_flight` - 1 groups have not been read, or
// (`whole`) have not landed.
Case stores(const Copy& c, bool whole, uint32_t shorter, uint32_t longer) {
  Case out = loads(whole ? "tma.store" : "tma.store.read", c, shorter, longer);
  KernelText k;
  k.prologue = "st.shared.u32 [%s+1024], %c0;\nfence.proxy.async.shared::cta;\n";
  k.chip_wide = c.ctas > 1;
  Part p;
  p.before = "setp.eq.u32 %p13, %lane, 0;\n";
  p.body = slot_of(c, "%i") + choose_tile(c, "%i");
  if (c.tensor)
    p.body += fmt::format(
        "and.b32 %x14, %x10, 63; shl.b32 %x14, %x14, 6; shr.u32 %x15, %x10, 6; mul.lo.u32 %x15, %x15, {};\n"
        "@%p13 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map, {{%x14, %x15}}], [%x12];\n",
        c.rows());
  else
    p.body += fmt::format(
        "mul.wide.u32 %q1, %x10, {0}; add.u64 %q1, %q1, %data;\n@%p13 "
        "cp.async.bulk.global.shared::cta.bulk_group [%q1], [%x12], {0};\n",
        c.bytes);
  p.body += fmt::format("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group{} {};\n", whole ? "" : ".read",
                        c.in_flight - 1);
  p.after = "cp.async.bulk.wait_group 0;\n";
  k.parts = {p};
  out.text = text(k);
  return out;
}

void add_latencies(std::vector<Case>& out) {
  for (const bool tensor : {false, true})
    for (const int bytes : {128, 512, 2048, 4096, 8192, 16384, 32768})
      for (const Source source : {Source::own, Source::fresh})
        out.push_back(loads("tma.latency", {.tensor = tensor, .bytes = bytes, .source = source}, 32, 128));
  out.push_back(loads("tma.latency", {.bytes = 16384, .swizzle = 0}, 32, 128));
  for (const Source source : {Source::own, Source::fresh})
    out.push_back(loads("tma.latency", {.bytes = 16384, .source = source, .promoted = false}, 32, 128));
}

void add_throughputs(std::vector<Case>& out) {
  for (const int bytes : {1024, 4096, 8192, 16384, 32768})
    for (const int in_flight : {2, 4, 8})
      if (bytes * in_flight <= (192 << 10))
        out.push_back(loads("tma.throughput", {.bytes = bytes, .in_flight = in_flight}, 64, 256));
  for (const int in_flight : {4, 16})
    out.push_back(loads("tma.throughput", {.tensor = false, .bytes = 2048, .in_flight = in_flight}, 64, 256));
  out.push_back(loads("tma.throughput", {.bytes = 128, .in_flight = 16}, 64, 256));
  out.push_back(loads("tma.throughput", {.tensor = false, .bytes = 16384, .in_flight = 8}, 64, 256));
  out.push_back(loads("tma.throughput", {.bytes = 16384, .swizzle = 0, .in_flight = 8}, 64, 256));
  out.push_back(loads("tma.throughput", {.bytes = 16384, .in_flight = 8, .promoted = false}, 64, 256));
  out.push_back(loads(
      "tma.throughput",
      {.bytes = 16384, .source = Source::fresh, .in_flight = 8, .ctas = 132, .promoted = false}, 32, 160));
  for (const Source source : {Source::own, Source::same, Source::fresh})
    for (const auto& [bytes, in_flight] :
         {std::pair{16384, 2}, {16384, 4}, {16384, 8}, {8192, 8}, {32768, 4}})
      out.push_back(loads("tma.throughput",
                          {.bytes = bytes, .source = source, .in_flight = in_flight, .ctas = 132}, 32, 160));
}

void add_multicasts(std::vector<Case>& out) {
  const Copy pair{.bytes = 16384, .in_flight = 8, .ctas = 2, .multicast = 2};
  const auto variant = [&](auto&& change) {
    Copy c = pair;
    change(c);
    out.push_back(loads("tma.throughput", c, 64, 256));
  };
  variant([](Copy& c) { c.promoted = false; });
  variant([](Copy& c) { c.one_issuer = true; });
  variant([](Copy& c) { c.tensor = false; });
  variant([](Copy& c) { c.swizzle = 0; });
  variant([](Copy& c) { c.bytes = 4096; });
  variant([](Copy& c) { c.bytes = 32768, c.in_flight = 4; });
  for (const int size : {2, 4}) {
    out.push_back(
        loads("tma.latency", {.bytes = 16384, .in_flight = 1, .ctas = size, .multicast = size}, 32, 128));
    out.push_back(
        loads("tma.throughput", {.bytes = 16384, .in_flight = 8, .ctas = size, .multicast = size}, 64, 256));
    for (const Source source : {Source::own, Source::same, Source::fresh})
      out.push_back(loads("tma.throughput",
                          {.bytes = 16384,
                           .source = source,
                           .in_flight = 8,
                           .ctas = size == 2 ? 132 : 112,
                           .multicast = size},
                          32, 160));
  }
}

void add_stores(std::vector<Case>& out) {
  for (const int bytes : {2048, 16384, 32768})
    for (const bool whole : {false, true}) out.push_back(stores({.bytes = bytes}, whole, 32, 128));
  out.push_back(stores({.tensor = false, .bytes = 16384}, true, 32, 128));
  out.push_back(stores({.bytes = 16384, .in_flight = 8}, false, 64, 256));
  for (const Source source : {Source::own, Source::fresh})
    out.push_back(stores({.bytes = 16384, .source = source, .in_flight = 8, .ctas = 132}, false, 32, 160));
}

}  // namespace

std::vector<Case> tma_cases() {
  std::vector<Case> out;
  add_latencies(out);
  for (const bool tensor : {false, true})
    for (const int bytes : {128, 1024, 8192})
      for (const int count : {1, 4, 16, 32})
        out.push_back(issue_interval({.tensor = tensor, .bytes = bytes}, count));
  for (const bool tensor : {false, true})
    for (const auto& [bytes, copies] : {std::pair{16384, 4}, {16384, 8}, {32768, 2}, {2048, 8}})
      for (int landed = 1; landed <= copies; landed *= 2)
        out.push_back(burst({.tensor = tensor, .bytes = bytes}, copies, landed));
  for (const auto& [groups, ctas] : {std::pair{1, 1}, {2, 1}, {2, 132}})
    out.push_back(epilogue(groups, ctas));
  for (const bool tensor : {false, true}) out.push_back(first_use({.tensor = tensor, .bytes = 2048}));
  add_throughputs(out);
  add_multicasts(out);
  add_stores(out);
  return out;
}

}  // namespace palladion::bench
