// Rows by their numbers: odd lengths, rows of one element, equal numbers, numbers that are no row.
#include <cmath>

#include "kernels/examples/indexed_rows.h"

#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

class IndexedRowsKernel : public testing::TestWithParam<Case> {};
TEST_P(IndexedRowsKernel, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, IndexedRowsKernel,
    testing::Values(
        Case{"gather", {{"rows", "5"}, {"n", "2051"}, {"m", "4"}}, {{"dtype", "f16"}, {"tile", "1024"}}},
        Case{"gather", {{"rows", "1"}, {"n", "1"}, {"m", "1"}}, {}},
        Case{"gather", {{"rows", "9"}, {"n", "257"}, {"m", "13"}}, {{"dtype", "bf16"}}},
        Case{"gather", {{"rows", "9"}, {"n", "1000"}, {"m", "5"}}, {{"dtype", "f16"}, {"tile", "256"}}},
        Case{"gather", {{"rows", "5"}, {"n", "300"}, {"m", "4"}}, {{"dtype", "s32"}, {"tile", "128"}}},
        Case{"scatter_add", {{"rows", "1"}, {"n", "1"}, {"m", "1"}}, {}},
        Case{"scatter_add", {{"rows", "9"}, {"n", "257"}, {"m", "13"}}, {{"dtype", "s32"}}},
        Case{"scatter_add", {{"rows", "9"}, {"n", "1000"}, {"m", "5"}}, {{"tile", "256"}}},
        Case{"scatter_add", {{"rows", "3"}, {"n", "64"}, {"m", "40"}}, {}}),
    name_of_param);

class DecidedIndexedRows : public testing::TestWithParam<Case> {};
TEST_P(DecidedIndexedRows, IsDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, DecidedIndexedRows,
    testing::Values(
        Case{"gather", {{"rows", "1"}, {"n", "1"}, {"m", "1"}}, {}},
        Case{"gather", {{"rows", "9"}, {"n", "257"}, {"m", "13"}}, {{"dtype", "bf16"}}},
        Case{"gather", {{"rows", "9"}, {"n", "1000"}, {"m", "5"}}, {{"dtype", "f16"}, {"tile", "256"}}},
        Case{"gather", {{"rows", "5"}, {"n", "300"}, {"m", "4"}}, {{"dtype", "s32"}, {"tile", "128"}}},
        Case{"scatter_add", {{"rows", "9"}, {"n", "257"}, {"m", "13"}}, {{"dtype", "s32"}}}),
    name_of_param);

class IndexedRowsAssembly : public testing::TestWithParam<Case> {};
TEST_P(IndexedRowsAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, IndexedRowsAssembly,
                         testing::Values(Case{"gather", {}, {}}, Case{"scatter_add", {}, {}}), name_of_param);

TEST(Gather, SaysWhichSizesItCannotTake) {
  EXPECT_EQ(broken_rule([] { return gather({.rows = 0}); }), "gather: rows must be at least 1");
  EXPECT_EQ(broken_rule([] { return gather({.m = 0}); }), "gather: m must be at least 1");
  EXPECT_EQ(broken_rule([] { return gather({.tile = 200}); }),
            "gather: tile=200 must be a multiple of 128, at most 8192");
}

TEST(ScatterAdd, SaysWhichSizesItCannotTake) {
  EXPECT_EQ(broken_rule([] { return scatter_add({.n = 0}); }), "scatter_add: n must be at least 1");
  EXPECT_EQ(broken_rule([] { return scatter_add({.dtype = pl::bf16}); }),
            "scatter_add: dtype=bf16 must be f32 or s32");
}

// What numbers outside of the table name is no row: zeros, whatever row 0 holds.
TEST(Gather, GivesZerosForNumbersThatAreNoRow) {
  const plgpu::Kernel kernel = gather({.rows = 2, .n = 3, .m = 4});
  const double nan = std::nan("");
  const SimOutcome out = run_clean(kernel, {array_of({pl::f32, {2, 3}}, {nan, nan, nan, 4, 5, 6}),
                                            array_of({pl::s32, {4}}, {2, 1, -1, 2147483647})});
  EXPECT_THAT(to_doubles(out.outputs[0]), testing::ElementsAre(0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0));
}

TEST(ScatterAdd, AddsNothingForNumbersThatAreNoRow) {
  const plgpu::Kernel kernel = scatter_add({.rows = 2, .n = 2, .m = 4, .dtype = pl::s32});
  const SimOutcome out = run_clean(
      kernel, {array_of({pl::s32, {2, 2}}, {10, 20, 30, 40}), array_of({pl::s32, {4}}, {2, 1, -1, 1}),
               array_of({pl::s32, {4, 2}}, {1, 2, 3, 4, 5, 6, 7, 8})});
  EXPECT_THAT(to_doubles(out.outputs[0]), testing::ElementsAre(10, 20, 40, 52));
}

}  // namespace
}  // namespace palladion::kernels::test
