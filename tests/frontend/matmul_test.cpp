// The warp-specialised matrix product runs and is right, alone and in clusters, under hostile schedules.
#include "tests/frontend/run_in_sim.h"
#include "tests/frontend/ws_matmul.h"

namespace palladion::test {
namespace {

Values product(const Values& a, const Values& b, int64_t m, int64_t n, int64_t k) {
  Values c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t l = 0; l < k; ++l)
      for (int64_t j = 0; j < n; ++j)
        c[static_cast<size_t>(i * n + j)] +=
            a[static_cast<size_t>(i * k + l)] * b[static_cast<size_t>(l * n + j)];
  return c;
}

void check(const MatmulShape& s, const sim::Schedule& schedule = {}) {
  const auto kernel = ws_matmul(s);
  const Values a = small_integers(s.m * s.k, 1, -2, 2), b = small_integers(s.k * s.n, 2, -2, 2);
  const Ran ran = run(kernel, {a, b}, schedule);
  ASSERT_EQ(ran.outputs.size(), 1u);
  const Values expected = product(a, b, s.m, s.n, s.k);
  int64_t wrong = 0, first = -1, last = -1;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (ran.outputs[0][i] == expected[i]) continue;
    ++wrong;
    if (first < 0) first = static_cast<int64_t>(i);
    last = static_cast<int64_t>(i);
  }
  EXPECT_EQ(wrong, 0) << "first at (" << first / s.n << ", " << first % s.n << "), last at (" << last / s.n
                      << ", " << last % s.n << ")";
}

TEST(Matmul, WarpSpecialised) { check({}); }
TEST(Matmul, ClusterMulticast) { check({.cluster = 2}); }
TEST(Matmul, LateCopies) {
  for (int64_t cluster : {1, 2}) {
    SCOPED_TRACE(cluster);
    check({.cluster = cluster}, {sim::Schedule::Kind::latest});
    check({.cluster = cluster}, {sim::Schedule::Kind::earliest});
    check({.cluster = cluster}, {sim::Schedule::Kind::seeded, 3});
  }
}
TEST(Matmul, WideTile) { check({.m = 128, .n = 512, .tile_n = 256}); }

}  // namespace
}  // namespace palladion::test
