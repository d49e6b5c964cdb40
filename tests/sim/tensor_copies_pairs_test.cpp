// Tensor copies of sm_100: .cta_group, four rows, padded types. Each under every schedule and under all
// checks.
#include <array>
#include <bit>
#include <numeric>

#include "isa/formats/tensor_map.h"
#include "sim/check/checker.h"
#include "tests/sim/blackwell.h"

namespace palladion::sim::testing {
namespace {

using isa::Swizzle;
using isa::TensorMap;
using Octets = std::vector<uint8_t>;

Octets some_bytes(size_t n, uint32_t seed) {
  Octets b(n);
  for (uint8_t& v : b) v = static_cast<uint8_t>((seed = seed * 1664525U + 1013904223U) >> 24);
  return b;
}

// Runs `body` in CTAs of one warp; the map is a parameter, `out` an array.
struct TileRun {
  TensorMap map;
  Octets tensor, out;
  uint32_t ctas = 1;
  bool checked = true;
  RunResult run(const std::string& body, const RunOptions& how = {}) {
    PtxRunner k(blackwell(R"(
.visible .entry k(.param .align 128 .b8 map[128], .param .u64 out) {
  .shared .align 1024 .b8 tile[4096];
  .shared .align 8 .b64 bar;
  .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg .b64 %rd<12>;
  mov.b64 %rd8, map;
  cvta.param.u64 %rd9, %rd8;
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, tile;
  mov.u32 %r30, bar;
  mov.u32 %r8, %cluster_ctarank;
  setp.eq.u32 %p7, %r1, 0;
  @%p7 mbarrier.init.shared.b64 [%r30], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
)" + body + "\n  ret;\n}"),
                b200());
    map.global_address = k.machine().memory().bind(tensor, "tensor");
    k.launch.params.resize(isa::tensor_map_bytes);
    std::memcpy(k.launch.params.data(), isa::encode(map).bytes.data(), isa::tensor_map_bytes);
    k.array(out, "out").shape({ctas, 1, 1}, {32, 1, 1}, {ctas, 1, 1});
    check::Checker checker;
    RunOptions options = how;
    if (checked) options.observer = &checker;
    return k.run(options);
  }
};

const char* const wait_for_bar = R"(
$wait: mbarrier.try_wait.parity.shared.b64 %p6, [%r30], 0;
  @!%p6 bra $wait;
)";

// The first bytes of the tile to out, one CTA behind the other; or from there.
std::string whole_tile(bool to_shared, int bytes = 4096) {
  const std::string move =
      to_shared
          ? "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4]; st.shared.v4.u32 [%r10], {%r4, %r5, %r6, %r7};"
          : "ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r10]; st.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r7};";
  return "shl.b32 %r9, %r1, 4; $move: add.u32 %r10, %r2, %r9; mad.lo.u32 %r11, %r8, 4096, %r9;"
         "cvt.u64.u32 %rd4, %r11; add.s64 %rd4, %rd4, %rd2;" +
         move + "add.u32 %r9, %r9, 512; setp.lt.u32 %p1, %r9, " + std::to_string(bytes) +
         "; @%p1 bra $move; bar.sync 0;";
}

TensorMap rows_of_f16(uint64_t columns, uint64_t rows, uint32_t box) {
  TensorMap m;
  m.data_type = isa::TensorDataType::f16;
  m.rank = 2;
  m.dims = {columns, rows};
  m.strides = {columns * 2};
  m.box = {box, 1};
  m.swizzle = Swizzle::b128;
  return m;
}

// --- .cta_group -------------------------------------------------------------------------------------------
// Each of two CTAs loads its half; `barrier` says where the bytes count, the leader waits for both.
std::string pair_of_loads(const std::string& barrier, const std::string& group) {
  return R"(
  setp.eq.u32 %p5, %r8, 0;
  and.pred %p4, %p5, %p7;
  @%p4 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 8192;
  barrier.cluster.arrive; barrier.cluster.wait;
  mul.lo.u32 %r21, %r8, 32;
  mov.u32 %r20, 0;
)" + barrier +
         "@%p7 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes" + group +
         " [%r2], [%rd9, {%r20, %r21}], [%r31];\n@!%p5 bra $done;" + wait_for_bar +
         "$done: barrier.cluster.arrive; barrier.cluster.wait;\n" + whole_tile(false);
}

TileRun pair_run() {
  TileRun t{rows_of_f16(64, 64, 64), {}, Octets(8192), 2};
  t.map.box[1] = 32;
  t.map.swizzle = Swizzle::none;
  t.tensor = some_bytes(8192, 1);
  return t;
}

// The address of the own barrier without bit 24 is that of the even CTA of the pair.
TEST(CtaGroup, BytesOfBothCountAtTheLeader) {
  for (const RunOptions& how : every_schedule()) {
    TileRun t = pair_run();
    const RunResult r = t.run(pair_of_loads("and.b32 %r31, %r30, 0xfeffffff;", ".cta_group::2"), how);
    EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
    EXPECT_EQ(t.out, t.tensor);
  }
}

TEST(CtaGroup, WithoutItTheBarrierIsWhereTheDataGo) {
  for (const char* group : {"", ".cta_group::1"})
    expect_code(pair_run().run(pair_of_loads("and.b32 %r31, %r30, 0xfeffffff;", group)), "PLD3074");
}

TEST(CtaGroup, AnotherPairIsRefused) {
  TileRun t = pair_run();
  t.ctas = 4;
  t.out.resize(4 * 4096);
  expect_code(t.run(pair_of_loads("xor.b32 %r31, %r30, 0x02000000;", ".cta_group::2")), "PLD3074");
}

// A multicast by CTA 1 to both: each CTA's bytes count where the parity of the barrier's CTA says.
TEST(CtaGroup, MulticastCountsByParity) {
  const std::string body = R"(
  setp.eq.u32 %p5, %r8, 0;
  and.pred %p4, %p5, %p7;
  @%p4 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 8192;
  barrier.cluster.arrive; barrier.cluster.wait;
  mov.u32 %r20, 0;
  mov.u16 %h1, 3;
  and.b32 %r31, %r30, 0xfeffffff;
  setp.eq.u32 %p3, %r8, 1;
  and.pred %p4, %p3, %p7;
  @%p4 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2 [%r2], [%rd9, {%r20, %r20}], [%r31], %h1;
  @!%p5 bra $done;
)" + std::string(wait_for_bar) +
                           "$done: barrier.cluster.arrive; barrier.cluster.wait;\n" + whole_tile(false);
  for (const RunOptions& how : every_schedule()) {
    TileRun t = pair_run();
    const RunResult r = t.run(body, how);
    EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
    for (size_t i = 0; i < 8192; ++i) ASSERT_EQ(t.out[i], t.tensor[i % 4096]) << i;
  }
}

// The peer's data are awaited at the leader alone: reading them in the peer without a barrier is a race.
TEST(CtaGroup, ThePeerDoesNotSeeTheLeadersBarrier) {
  std::string body = pair_of_loads("and.b32 %r31, %r30, 0xfeffffff;", ".cta_group::2");
  const std::string join = "$done: barrier.cluster.arrive; barrier.cluster.wait;\n";
  body.replace(body.find(join), join.size(), "$done:\n");
  const RunResult r = pair_run().run(body + "barrier.cluster.arrive; barrier.cluster.wait;");
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings[0].code.number() / 1000, 4) << r.findings[0].code.name();
}

// --- four rows --------------------------------------------------------------------------------------------
TEST(FourRowsInTheMachine, Gather) {
  const auto body = [](const char* last) {
    return R"(
  @%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 512;
  mov.u32 %r20, 16; mov.u32 %r21, 30; mov.u32 %r22, 2; mov.u32 %r23, 39; mov.u32 %r24, )" +
           std::string(last) + R"(;
  @%p7 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r2], [%rd9, {%r20, %r21, %r22, %r23, %r24}], [%r30];
)" + wait_for_bar +
           whole_tile(false, 512);
  };
  for (const RunOptions& how : every_schedule()) {
    for (const uint32_t last : {7U, 40U}) {
      const std::array<uint32_t, 4> rows = {30, 2, 39, last};
      TileRun t{rows_of_f16(128, 40, 64), some_bytes(256 * 40, 3), Octets(4096), 1};
      t.checked = last < 40;  // what is filled in is no data
      const RunResult r = t.run(body(last < 40 ? "7" : "40"), how);
      EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
      for (uint32_t i = 0; i < 512; ++i) {
        const uint32_t row = rows[i / 128];
        const uint8_t expected = row < 40 ? t.tensor[row * 256 + 32 + i % 128] : 0;
        ASSERT_EQ(t.out[isa::swizzle(i, Swizzle::b128)], expected) << i;
      }
    }
  }
}

TEST(FourRowsInTheMachine, ScatterAndReduce) {
  const auto body = [](const std::string& words) {
    return whole_tile(true) + R"(
  fence.proxy.async.shared::cta; bar.sync 0;
  @!%p7 bra $end;
  mov.u32 %r20, 16; mov.u32 %r21, 30; mov.u32 %r22, 2; mov.u32 %r23, 39; mov.u32 %r24, 45;
  )" + words +
           R"(.tile::scatter4.bulk_group [%rd9, {%r20, %r21, %r22, %r23, %r24}], [%r2];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
$end:)";
  };
  const std::array<uint32_t, 4> rows = {30, 2, 39, 45};
  TileRun t{rows_of_f16(128, 40, 64), some_bytes(256 * 40, 3), some_bytes(4096, 5), 1};
  Octets expected = t.tensor;
  for (uint32_t i = 0; i < 512; ++i)
    if (rows[i / 128] < 40)
      expected[rows[i / 128] * 256 + 32 + i % 128] = t.out[isa::swizzle(i, Swizzle::b128)];
  RunResult r = t.run(body("cp.async.bulk.tensor.2d.global.shared::cta"));
  EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
  EXPECT_EQ(t.tensor, expected);

  TileRun sum{rows_of_f16(128, 40, 64), Octets(256 * 40), Octets(4096), 1};
  for (size_t i = 0; i < 4096; i += 2) sum.out[i + 1] = 0x3C;  // ones
  r = sum.run(body("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add"));
  EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
  EXPECT_EQ(sum.tensor[39 * 256 + 33], 0x3C);
  EXPECT_EQ(sum.tensor[38 * 256 + 33], 0);
}

// --- im2col along W ---------------------------------------------------------------------------------------
// The driver writes the same bytes for .im2col, .im2col::w and .im2col::w::128; ours say which.
TEST(Im2colAlongW, MapsThatDoNotSayTheModeHaveTheInstructions) {
  const auto body = [](const std::string& mode) {
    return R"(
  @%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 4096;
  mov.u32 %r20, 0; mov.u32 %r21, 3; mov.u32 %r22, 1; mov.u16 %h1, 0; mov.u16 %h2, 0;
  @%p7 cp.async.bulk.tensor.3d.shared::cta.global.)" +
           mode +
           R"(.mbarrier::complete_tx::bytes [%r2], [%rd9, {%r20, %r21, %r22}], [%r30], {%h1, %h2};
)" + wait_for_bar +
           whole_tile(false);
  };
  TileRun t{rows_of_f16(64, 7, 1), some_bytes(size_t{128} * 7 * 30, 3), Octets(4096),
            1};  // 7 pixels, 30 images
  t.map.rank = 3;
  t.map.dims = {64, 7, 30};
  t.map.strides = {128, 128 * 7};
  t.map.box = {};
  t.map.channels_per_pixel = 64;
  t.map.pixels_per_column = 32;
  t.map.mode = isa::TensorMapMode::im2col_w;
  RunResult r = t.run(body("im2col::w"));
  EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
  const Octets expected = t.out;
  EXPECT_NE(expected, Octets(4096));
  expect_code(t.run(body("im2col::w::128")), "PLD3095");

  t.out = Octets(4096);
  t.map.mode = isa::TensorMapMode::im2col;
  r = t.run(body("im2col::w"));
  EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
  EXPECT_EQ(t.out, expected);
}

// --- packed types -----------------------------------------------------------------------------------------
TEST(PaddedTiles, SixteenElementsInSixteenBytes) {
  const std::string body = R"(
  @%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 256;
  mov.u32 %r20, 128; mov.u32 %r21, 1;
  @%p7 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd9, {%r20, %r21}], [%r30];
)" + std::string(wait_for_bar) +
                           whole_tile(false, 512);
  TileRun t{rows_of_f16(256, 8, 128), some_bytes(128 * 8, 3), Octets(4096), 1};
  t.map.data_type = isa::TensorDataType::u4x16_align16b;
  t.map.strides = {128};
  t.map.box = {128, 4};
  const RunResult r = t.run(body);
  EXPECT_TRUE(r.clean()) << PtxRunner::describe(r);
  for (uint32_t row = 0; row < 4; ++row)
    for (uint32_t k = 0; k < 64; ++k) {
      const uint32_t at = row * 128 + k / 8 * 16 + k % 8;
      ASSERT_EQ(t.out[isa::swizzle(at, Swizzle::b128)], t.tensor[(row + 1) * 128 + 64 + k])
          << row << " " << k;
    }
}

TEST(PaddedTiles, DirectionsAreChecked) {
  TileRun t{rows_of_f16(128, 40, 64), some_bytes(256 * 40, 3), Octets(4096), 1};
  t.map.swizzle = Swizzle::b128_atom_32b_flip_8b;
  expect_code(
      t.run("mov.u32 %r20, 0; @%p7 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd9, {%r20, "
            "%r20}], [%r2];"),
      "PLD3095");
}

}  // namespace
}  // namespace palladion::sim::testing
