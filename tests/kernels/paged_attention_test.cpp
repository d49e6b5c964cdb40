// Attention to keys in pages: lengths of 0, 1 and any other number, pages smaller and larger than a step,
// pages that are none, what stands behind the last key.
#include "kernels/hopper/paged_attention.h"

#include <cmath>

#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

Case attention(std::map<std::string, std::string> sizes, std::map<std::string, std::string> settings = {}) {
  for (const auto& [name, value] :
       {std::pair{"batch", "4"}, {"heads", "4"}, {"kv_heads", "2"}, {"pages", "40"}})
    sizes.try_emplace(name, value);
  return {"paged_attention", std::move(sizes), std::move(settings)};
}

class PagedAttentionKernel : public testing::TestWithParam<Case> {};
TEST_P(PagedAttentionKernel, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
TEST_P(PagedAttentionKernel, IsDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, PagedAttentionKernel,
    testing::Values(
        attention({{"page_size", "16"}, {"pages_per_sequence", "13"}}, {{"splits", "1"}}),
        attention({{"page_size", "16"}, {"pages_per_sequence", "21"}},
                  {{"splits", "2"}, {"block", "32"}, {"dtype", "bf16"}}),
        // More CTAs than steps; eight heads for one.
        attention({{"page_size", "64"}, {"pages_per_sequence", "3"}, {"heads", "8"}, {"kv_heads", "1"}},
                  {{"splits", "8"}, {"stages", "1"}}),
        attention({{"page_size", "128"},
                   {"pages_per_sequence", "2"},
                   {"heads", "3"},
                   {"kv_heads", "3"},
                   {"head_dim", "64"}},
                  {{"splits", "4"}, {"stages", "3"}}),
        attention({{"page_size", "8"}, {"pages_per_sequence", "19"}, {"head_dim", "64"}, {"batch", "5"}},
                  {{"splits", "2"}, {"block", "16"}, {"dtype", "bf16"}}),
        // As many heads as a warpgroup has rows; lengths that are multiples of nothing.
        attention({{"page_size", "24"},
                   {"pages_per_sequence", "5"},
                   {"heads", "64"},
                   {"kv_heads", "1"},
                   {"batch", "2"}},
                  {{"splits", "2"}, {"block", "48"}, {"length", "107"}}),
        attention({{"page_size", "64"},
                   {"pages_per_sequence", "1"},
                   {"heads", "1"},
                   {"kv_heads", "1"},
                   {"batch", "1"}},
                  {{"length", "1"}})),
    name_of_param);

class PagedAttentionAssembly : public testing::TestWithParam<Case> {};
TEST_P(PagedAttentionAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, PagedAttentionAssembly,
    testing::Values(Case{"paged_attention", {}, {}},
                    Case{"paged_attention", {{"page_size", "16"}}, {{"splits", "8"}}},
                    Case{"paged_attention", {{"head_dim", "64"}}, {{"splits", "1"}, {"block", "128"}}}),
    name_of_param);

// ptxas 13.0 gives the registers of a loop's first operand, which no iteration changes, to the weights of the
// second product: from the second step on an H200 multiplied with these.
TEST(PagedAttention, KeepsQInSharedMemory) {
  const std::string text = isa::print(paged_attention({.head_dim = 64}).module);
  const size_t product = text.find("wgmma.mma_async"), sums = text.find('}', product);
  ASSERT_NE(sums, std::string::npos);
  EXPECT_EQ(text.substr(sums, 6), "}, %rd");
}

TEST(PagedAttention, SaysWhichSizesItCannotTake) {
  const auto rule = [](const PagedAttention& c) { return broken_rule([&] { return paged_attention(c); }); };
  EXPECT_EQ(rule({.batch = 0}), "paged_attention: batch must be at least 1");
  EXPECT_EQ(rule({.kv_heads = 5}), "paged_attention: kv_heads=5 does not divide heads=32");
  EXPECT_EQ(rule({.heads = 128, .kv_heads = 1}),
            "paged_attention: 128 heads share one of K and V: at most 64 can");
  EXPECT_EQ(rule({.head_dim = 96}), "paged_attention: head_dim=96 must be 64 or 128");
  EXPECT_EQ(rule({.pages = 0}), "paged_attention: pages must be at least 1");
  EXPECT_EQ(rule({.page_size = 12}),
            "paged_attention: page_size=12 must be a multiple of 8: rows of a tile in shared memory");
  EXPECT_EQ(rule({.page_size = 48}),
            "paged_attention: page_size=48 must divide block=64 or be a multiple of it");
  EXPECT_EQ(rule({.pages = int64_t{1} << 25}),
            "paged_attention: pages=33554432 of page_size=64 have more than 2^30 keys");
  EXPECT_EQ(rule({.splits = 3}), "paged_attention: splits=3 must be 1, 2, 4 or 8: CTAs of a cluster");
  EXPECT_EQ(rule({.block = 24}), "paged_attention: block=24 must be a multiple of 16 up to 256");
  EXPECT_EQ(rule({.stages = 0}), "paged_attention: stages must be at least 1");
}

// Three keys, whose weights are equal because Q is zero: the mean of the values. Behind them the page holds
// NaN; a length below zero is none, one above what the table has room for is all of it.
TEST(PagedAttention, UsesNothingBehindTheLastKey) {
  const PagedAttention c{.batch = 3,
                         .heads = 1,
                         .kv_heads = 1,
                         .head_dim = 64,
                         .pages = 2,
                         .page_size = 8,
                         .pages_per_sequence = 1,
                         .splits = 2,
                         .block = 16};
  std::vector<double> values(static_cast<size_t>(2 * 8 * 64), std::nan(""));
  for (size_t key = 0; key < 3; ++key)
    for (size_t j = 0; j < 64; ++j) values[(8 + key) * 64 + j] = static_cast<double>(key + j);
  for (size_t i = 0; i < size_t(8 * 64); ++i) values[i] = 2;
  const Array cache = array_of(c.cache_type(), values);
  Array q(c.q_type());
  const SimOutcome out = run_clean(paged_attention(c), {q, cache, cache, array_of(c.table_type(), {1, 0, 0}),
                                                        array_of({pl::s32, {3}}, {3, -7, 1000})});
  const std::vector<double> got = to_doubles(out.outputs[0]);
  for (size_t j = 0; j < 64; ++j) {
    EXPECT_NEAR(got[j], static_cast<double>(j) + 1, 0.05);
    EXPECT_EQ(got[64 + j], 0);
    EXPECT_EQ(got[128 + j], 2);
  }
}

// The keys of a page that is none are zeros: half of the weight is theirs.
TEST(PagedAttention, TakesZerosForPagesThatAreNone) {
  const PagedAttention c{.batch = 1,
                         .heads = 1,
                         .kv_heads = 1,
                         .head_dim = 64,
                         .pages = 1,
                         .page_size = 16,
                         .pages_per_sequence = 4,
                         .splits = 1,
                         .block = 16};
  const Array cache = array_of(c.cache_type(), std::vector<double>(16 * 64, 4.0));
  const SimOutcome out =
      run_clean(paged_attention(c), {Array(c.q_type()), cache, cache, array_of(c.table_type(), {0, 1, -1, 0}),
                                     array_of({pl::s32, {1}}, {64})});
  for (const double x : to_doubles(out.outputs[0])) EXPECT_EQ(x, 2);
}

}  // namespace
}  // namespace palladion::kernels::test
