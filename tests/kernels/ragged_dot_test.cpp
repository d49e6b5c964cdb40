// Products of groups of rows: groups of any length, of none, more rows in groups than there are, and fewer.
#include "kernels/hopper/ragged_dot.h"

#include <cmath>

#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

Case product(std::map<std::string, std::string> sizes, std::map<std::string, std::string> settings = {}) {
  return {"ragged_dot", std::move(sizes), std::move(settings)};
}

class RaggedDotKernel : public testing::TestWithParam<Case> {};
TEST_P(RaggedDotKernel, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
TEST_P(RaggedDotKernel, IsDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, RaggedDotKernel,
    testing::Values(
        product({{"m", "391"}, {"n", "320"}, {"k", "136"}, {"groups", "3"}}, {{"sms", "2"}}),
        product({{"m", "300"}, {"n", "192"}, {"k", "320"}, {"groups", "7"}},
                {{"sms", "3"}, {"tile_n", "64"}, {"dtype", "bf16"}, {"out_dtype", "f32"}}),
        product({{"m", "517"}, {"n", "128"}, {"k", "200"}, {"groups", "2"}},
                {{"sms", "5"}, {"tile_m", "256"}, {"tile_n", "128"}, {"stages", "2"}, {"out_dtype", "bf16"}}),
        // A tile leaves in one part: two tiles use the same shared memory, one behind the other.
        product({{"m", "391"}, {"n", "128"}, {"k", "328"}, {"groups", "3"}},
                {{"sms", "2"}, {"tile_n", "64"}, {"stages", "2"}}),
        product({{"m", "1"}, {"n", "64"}, {"k", "8"}, {"groups", "1"}}, {{"sms", "1"}, {"tile_n", "64"}})),
    name_of_param);

class RaggedDotAssembly : public testing::TestWithParam<Case> {};
TEST_P(RaggedDotAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, RaggedDotAssembly,
                         testing::Values(product({}), product({}, {{"tile_m", "256"}, {"tile_n", "128"}}),
                                         product({}, {{"out_dtype", "f32"}})),
                         name_of_param);

TEST(RaggedDot, SaysWhichSizesItCannotTake) {
  const auto rule = [](const RaggedDot& c) { return broken_rule([&] { return ragged_dot(c); }); };
  EXPECT_EQ(rule({.m = 0}), "ragged_dot: m must be at least 1");
  EXPECT_EQ(rule({.groups = 0}), "ragged_dot: groups must be at least 1");
  EXPECT_EQ(rule({.n = 96}), "ragged_dot: n=96 must be a multiple of 64: what is swizzled together");
  EXPECT_EQ(rule({.k = 100}), "ragged_dot: k=100 must be a multiple of 8: rows of 16 bytes for TMA");
  EXPECT_EQ(rule({.tile_m = 64}),
            "ragged_dot: tile_m=64 must be 128 or 256: two warpgroups of 64 or 128 rows");
  EXPECT_EQ(rule({.tile_m = 256}),
            "ragged_dot: tile_n=256 must be a multiple of 64, and with tile_m=256 at most 128");
  EXPECT_EQ(rule({.stages = 1}), "ragged_dot: stages must be at least 2");
}

// Groups 0 and 2 have no rows, nor has one whose size is negative; rows behind the last group keep what they
// hold, here NaN.
TEST(RaggedDot, LeavesRowsBehindTheLastGroup) {
  const RaggedDot c{.m = 70, .n = 64, .k = 8, .groups = 5, .tile_n = 64, .sm_count = 3};
  const std::vector<double> ones(size_t(70 * 8), 1);
  std::vector<double> b(size_t(5 * 8 * 64));
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<double>(i / (8 * 64));
  const SimOutcome out =
      run_clean(ragged_dot(c), {array_of({pl::f16, {70, 8}}, ones), array_of({pl::f16, {5, 8, 64}}, b),
                                array_of({pl::s32, {5}}, {0, 3, 0, -4, 65})});
  const std::vector<double> d = to_doubles(out.outputs[0]);
  for (size_t i = 0; i < d.size(); ++i) {
    const size_t row = i / 64;
    if (row < 68) {
      EXPECT_EQ(d[i], row < 3 ? 8 : 32) << row;
    } else {
      EXPECT_TRUE(std::isnan(d[i])) << row;
    }
  }
}

TEST(RaggedDot, CutsGroupsAtTheLastRow) {
  const RaggedDot c{.m = 5, .n = 64, .k = 8, .groups = 2, .tile_n = 64, .sm_count = 1};
  std::vector<double> b(size_t(2 * 8 * 64), 1);
  for (size_t i = 8 * 64; i < b.size(); ++i) b[i] = 2;
  const SimOutcome out =
      run_clean(ragged_dot(c), {array_of({pl::f16, {5, 8}}, std::vector<double>(40, 1)),
                                array_of({pl::f16, {2, 8, 64}}, b), array_of({pl::s32, {2}}, {3, 1000})});
  const std::vector<double> d = to_doubles(out.outputs[0]);
  for (size_t i = 0; i < d.size(); ++i) EXPECT_EQ(d[i], i < 3 * 64 ? 8 : 16);
}

}  // namespace
}  // namespace palladion::kernels::test
