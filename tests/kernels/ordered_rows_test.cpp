// Sorted rows and the largest elements: odd lengths, rows of one element, equal elements, NaN.
#include <cmath>
#include <limits>

#include "kernels/examples/ordered_rows.h"

#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

class OrderedRows : public testing::TestWithParam<Case> {};
TEST_P(OrderedRows, AgreeWithTheirReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
TEST_P(OrderedRows, AreDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, OrderedRows,
    testing::Values(Case{"sort_rows", {{"m", "3"}, {"n", "1"}}, {}},
                    Case{"sort_rows", {{"m", "3"}, {"n", "257"}}, {{"dtype", "f16"}, {"descending", "1"}}},
                    Case{"sort_rows", {{"m", "2"}, {"n", "512"}}, {{"dtype", "s32"}}},
                    Case{"sort_rows", {{"m", "2"}, {"n", "77"}}, {{"dtype", "bf16"}}},
                    Case{"top_k", {{"m", "3"}, {"n", "1"}, {"k", "1"}}, {}},
                    Case{"top_k", {{"m", "3"}, {"n", "257"}, {"k", "7"}}, {{"dtype", "bf16"}}},
                    Case{"top_k", {{"m", "2"}, {"n", "512"}, {"k", "130"}}, {{"dtype", "s32"}}},
                    Case{"top_k", {{"m", "2"}, {"n", "77"}, {"k", "77"}}, {{"dtype", "f16"}}}),
    name_of_param);

class OrderedRowsAssembly : public testing::TestWithParam<Case> {};
TEST_P(OrderedRowsAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, OrderedRowsAssembly,
                         testing::Values(Case{"sort_rows", {}, {}}, Case{"top_k", {}, {}}), name_of_param);

TEST(SortRows, SaysWhichSizesItCannotTake) {
  EXPECT_EQ(broken_rule([] { return sort_rows({.m = 0}); }), "sort_rows: m must be at least 1");
  EXPECT_EQ(broken_rule([] { return sort_rows({.n = 0}); }), "sort_rows: n=0 must be 1 to 2048");
  EXPECT_EQ(broken_rule([] { return sort_rows({.n = 2049}); }), "sort_rows: n=2049 must be 1 to 2048");
}

TEST(TopK, SaysWhichSizesItCannotTake) {
  EXPECT_EQ(broken_rule([] { return top_k({.n = 2049}); }), "top_k: n=2049 must be 1 to 2048");
  EXPECT_EQ(broken_rule([] { return top_k({.n = 5, .k = 6}); }), "top_k: k=6 must be 1 to n=5");
  EXPECT_EQ(broken_rule([] { return top_k({.k = 0}); }), "top_k: k=0 must be 1 to n=1024");
}

// 1, NaN, -inf, 1, inf, -0, 0
Array special_row() {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  return array_of({pl::f32, {1, 7}}, {1, nan, -inf, 1, inf, -0.0, 0});
}

TEST(SortRows, PutsNaNBehindAllNumbers) {
  const auto sorted = [](bool descending) {
    const plgpu::Kernel kernel = sort_rows({.m = 1, .n = 7, .descending = descending});
    return to_doubles(run_clean(kernel, {special_row()}).outputs[0]);
  };
  const std::vector<double> up = sorted(false), down = sorted(true);
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THAT(std::vector(up.begin(), up.end() - 1), testing::ElementsAre(-inf, 0, 0, 1, 1, inf));
  EXPECT_TRUE(std::signbit(up[1]) && !std::signbit(up[2])) << "equal ones keep their order";
  EXPECT_TRUE(std::isnan(up[6]));
  EXPECT_TRUE(std::isnan(down[0]));
  EXPECT_THAT(std::vector(down.begin() + 1, down.end()), testing::ElementsAre(inf, 1, 1, 0, 0, -inf));
}

TEST(TopK, NamesTheFirstOfEqualElements) {
  const SimOutcome out = run_clean(top_k({.m = 1, .n = 7, .k = 5}), {special_row()});
  EXPECT_THAT(to_doubles(out.outputs[1]), testing::ElementsAre(1, 4, 0, 3, 5));
}

}  // namespace
}  // namespace palladion::kernels::test
