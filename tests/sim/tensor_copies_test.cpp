// TMA tensor copies as kernels use them: tiles against a plain loop over coordinates, swizzles, edges of
// the tensor, multicast, stores, reductions, im2col, edited maps.
#include <numeric>

#include "tests/sim/tensor_copies.h"

namespace palladion::sim::testing::tiles {
namespace {

TEST(TensorLoad, EverySwizzleOfATwoDimensionalTile) {
  for (const RunOptions& o : every_schedule())
    check_load(packed(D::f16, {256, 200}, {64, 128}, Swizzle::b128), {64, 32}, o);
  check_load(packed(D::f16, {256, 200}, {64, 128}), {64, 32});
  check_load(packed(D::f16, {256, 200}, {32, 128}, Swizzle::b64), {8, 3});
  check_load(packed(D::f16, {256, 200}, {16, 128}, Swizzle::b32), {8, 3});
  check_load(packed(D::u8, {256, 200}, {64, 100}, Swizzle::b128), {16, 3});  // rows narrower than the span
}

TEST(TensorLoad, CoordinatesOutsideTheTensorGiveZeros) {
  const TensorMap m = packed(D::f32, {100, 60}, {32, 64}, Swizzle::b128);
  for (const std::array<int32_t, 5> at :
       {std::array<int32_t, 5>{-4, -7}, {88, 40}, {-32, 0}, {200, 0}, {0, 60}, {4, -64}})
    check_load(m, at);
}

TEST(TensorLoad, OneToFiveDimensions) {
  check_load(packed(D::u32, {1000}, {256}), {900});
  check_load(packed(D::u16, {40, 30, 20}, {24, 5, 7}), {8, 2, 15});
  check_load(packed(D::u8, {48, 9, 8, 7}, {32, 3, 4, 5}), {-16, 1, 6, 5});
  check_load(packed(D::u64, {6, 5, 4, 3, 8}, {4, 3, 2, 2, 3}), {2, 3, 3, 1, -1});
  TensorMap strided = packed(D::u16, {64, 40, 20}, {32, 9, 6});
  strided.element_strides = {1, 2, 3, 1, 1};
  check_load(strided, {8, 1, 4});
}

TEST(TensorLoad, MulticastAndMbarrierOfEveryDestination) {
  const TensorMap m = packed(D::f16, {256, 200}, {64, 64}, Swizzle::b128);
  Bytes tensor = random_bytes(tensor_size(m));
  // Both CTAs load one half of a 128-row tile into both.
  const std::string body = R"(
  @%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 16384;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mad.lo.u32 %r12, %r8, 8192, %r2;
  mad.lo.u32 %r21, %r8, 64, %r21;
  mov.u16 %h1, 3;
  @%p7 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r12], [%rd9, {%r20, %r21}], [%r30], %h1;
)" + std::string(wait_for_tile) +
                           copy_tile(false) + "barrier.cluster.arrive; barrier.cluster.wait;";
  TensorMap whole = m;
  whole.box[1] = 128;
  const Bytes tile = expected_tile(whole, tensor, {64, 10}, Bytes(tile_bytes));
  for (const RunOptions& o : every_schedule()) {
    const Outcome r = run(body, m, tensor, {64, 10}, Bytes(2 * tile_bytes), o, 2);
    EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
    EXPECT_TRUE(Bytes(r.out.begin(), r.out.begin() + tile_bytes) == tile) << name(o.schedule);
    EXPECT_TRUE(Bytes(r.out.begin() + tile_bytes, r.out.end()) == tile) << name(o.schedule);
  }
}

// Under `latest` nothing is there before the wait.
TEST(TensorLoad, LandsAtItsCompletionNotAtItsIssue) {
  const TensorMap m = packed(D::f16, {64, 128}, {64, 128});
  Bytes tensor(tensor_size(m), 0x55);
  RunOptions o;
  o.schedule = *schedule_named("latest");
  const std::string issue =
      "@%p7 mbarrier.arrive.expect_tx.shared.b64 _, [%r30], 16384; @%p7 "
      "cp.async.bulk.tensor.2d.shared::cluster.global"
      ".mbarrier::complete_tx::bytes [%r2], [%rd9, {%r20, %r21}], [%r30];";
  const Outcome early = run(issue + copy_tile(false) + wait_for_tile, m, tensor, {}, Bytes(tile_bytes), o);
  EXPECT_TRUE(early.out == Bytes(tile_bytes)) << "the copy landed before any thread waited";
  const Outcome late = run(issue + wait_for_tile + copy_tile(false), m, tensor, {}, Bytes(tile_bytes), o);
  EXPECT_TRUE(late.out == tensor);
}

// --- stores ---------------------------------------------------------------------------------------
TEST(TensorStore, WritesTheBoxAndDropsWhatIsOutside) {
  for (const auto& [m, at] : {std::pair<TensorMap, std::array<int32_t, 5>>{
                                  packed(D::f16, {256, 200}, {64, 128}, Swizzle::b128), {64, 100}},
                              {packed(D::f32, {100, 60}, {32, 64}, Swizzle::b128), {88, 3}},
                              {packed(D::u8, {48, 9, 8, 7}, {32, 3, 4, 5}), {32, 1, 6, 5}}}) {
    const Bytes before = random_bytes(tensor_size(m), 5), tile = random_bytes(tile_bytes, 9);
    for (const RunOptions& o : every_schedule()) {
      Bytes tensor = before;
      const Outcome r = run(store(m.rank), m, tensor, at, tile, o);
      EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
      // A load of the same box finds the tile where the tensor is, and nothing else has changed.
      const Bytes loaded = expected_tile(m, tensor, at, Bytes(tile_bytes));
      const Bytes inside = expected_tile(m, Bytes(tensor.size(), 0xFF), at, Bytes(tile_bytes));
      uint64_t touched = 0, changed = 0;
      for (size_t i = 0; i < tile_bytes; ++i) {
        EXPECT_EQ(loaded[i], inside[i] != 0 ? tile[i] : 0) << i;
        touched += inside[i] != 0;
      }
      for (size_t i = 0; i < tensor.size(); ++i) changed += tensor[i] != before[i];
      EXPECT_LE(changed, touched);
    }
  }
}

TEST(TensorStore, Reductions) {
  const TensorMap m = packed(D::f32, {64, 64}, {32, 64}, Swizzle::b128);
  std::vector<float> values(tile_bytes / 4);
  std::iota(values.begin(), values.end(), 0.0F);
  Bytes tile(tile_bytes), tensor(tensor_size(m));
  std::memcpy(tile.data(), values.data(), 8192);
  std::vector<float> before(tensor.size() / 4, 0.5F);
  std::memcpy(tensor.data(), before.data(), tensor.size());
  const Outcome r = run(store(2, "cp.reduce.async.bulk.tensor.op:add"), m, tensor, {32, 16}, tile);
  EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
  for (uint32_t y = 0; y < 64; ++y) {
    for (uint32_t x = 0; x < 64; ++x) {
      float got;
      std::memcpy(&got, &tensor[(y * 64 + x) * 4], 4);
      float expected = 0.5F;
      if (x >= 32 && y >= 16) {
        const uint32_t at = isa::swizzle(((y - 16) * 32 + x - 32) * 4, Swizzle::b128);
        float add;
        std::memcpy(&add, &tile[at], 4);
        expected += add;
      }
      EXPECT_EQ(got, expected) << x << "," << y;
    }
  }
  const Outcome wrong = run(store(2, "cp.reduce.async.bulk.tensor.op:xor"), m, tensor, {}, tile);
  ASSERT_EQ(wrong.result.findings.size(), 1U);
  EXPECT_EQ(wrong.result.findings[0].code, "PLD3094");
}

// --- im2col ---------------------------------------------------------------------------------------
TEST(TensorLoad, Im2colColumnOfAConvolution) {
  // NHWC 2 x 6 x 7 x 16 channels of f16, a 3x3 filter with padding 1: pixels start at -1.
  TensorMap m = packed(D::f16, {16, 7, 6, 2}, {1, 1, 1, 1});
  m.mode = isa::TensorMapMode::im2col;
  m.box = {};
  m.lower_corner = {-1, -1, 0};
  m.upper_corner = {-1, -1, 0};
  m.channels_per_pixel = 16;
  m.pixels_per_column = 50;
  Bytes tensor = random_bytes(tensor_size(m));
  for (int s = 0; s < 3; ++s) {
    for (int t = 0; t < 3; ++t) {
      const std::string taps =
          "mov.u16 %h1, " + std::to_string(s) + "; mov.u16 %h2, " + std::to_string(t) + ";";
      const Outcome r =
          run(taps + load(4, std::to_string(50 * 32), "im2col", ", {%h1, %h2}") + copy_tile(false), m, tensor,
              {0, -1, -1, 0}, Bytes(tile_bytes));
      EXPECT_TRUE(r.result.clean()) << PtxRunner::describe(r.result);
      for (int p = 0; p < 50; ++p) {
        const int w = p % 7 - 1 + s, h = p / 7 % 6 - 1 + t, n = p / 42;
        const bool inside = w >= 0 && w < 7 && h >= 0 && h < 6;
        for (int k = 0; k < 32; ++k)
          EXPECT_EQ(r.out[p * 32 + k], inside ? tensor[((n * 6 + h) * 7 + w) * 32 + k] : 0)
              << "pixel " << p << " tap " << s << "," << t;
      }
    }
  }
}

}  // namespace
}  // namespace palladion::sim::testing::tiles
