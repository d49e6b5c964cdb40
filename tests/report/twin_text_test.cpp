#include "report/explain/twin_text.h"

#include <gtest/gtest.h>

namespace palladion::report {
namespace {

TEST(TwinText, ShowsTheLinesAroundWhatDiffers) {
  const TwinText twins = where_apart("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nfence\nd\ne\nf\ng\n");
  EXPECT_EQ(twins.wrong, "  b\n  c\n  d\n  e\n");
  EXPECT_EQ(twins.right, "  b\n  c\n> fence\n  d\n  e\n");
}

TEST(TwinText, DistantDifferencesAreApart) {
  const TwinText twins = where_apart("x\n2\n3\n4\n5\n6\n7\nx\n", "y\n2\n3\n4\n5\n6\n7\ny\n");
  EXPECT_EQ(twins.wrong, "> x\n  2\n  3\n  ...\n  6\n  7\n> x\n");
  EXPECT_EQ(twins.right, "> y\n  2\n  3\n  ...\n  6\n  7\n> y\n");
}

// Of recorded pairs, explain prints the name where nearly all of the PTX differs.
TEST(TwinText, EveryPairInPtxShowsWhatDiffers) {
  for (const kernels::zoo::Pair& pair : kernels::zoo::all_pairs()) {
    const TwinText twins = twin_text(pair);
    if (pair.make(true).job.ptx.empty()) continue;
    EXPECT_NE(twins.wrong + twins.right, "") << pair.name;
  }
}

TEST(TwinText, LayoutSaysNothing) {
  const TwinText twins = where_apart("a\n\nb  \n", "a\nb\n");
  EXPECT_EQ(twins.wrong + twins.right, "");
}

TEST(TwinText, TextsThatDifferEverywhereAreNotShown) {
  std::string a, b;
  for (int i = 0; i < 100; ++i) a += "a" + std::to_string(i) + "\n", b += "b" + std::to_string(i) + "\n";
  EXPECT_EQ(where_apart(a, b).wrong, "");
}

}  // namespace
}  // namespace palladion::report
