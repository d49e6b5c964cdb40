// What a view says that it would learn, against what joining changes.
#include "sim/check/order/view.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace palladion::sim::check {
namespace {

constexpr uint32_t warps = 3, clusters = 3, lanes = 4, latest = 6;

View random_view(std::mt19937& random) {
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const auto times = [&] {
    Times t{};
    for (size_t r = 0; r < common_visibilities; ++r) t[r] = below(latest);
    return t;
  };
  View v(ClusterOfGrid(below(clusters)), warps);
  for (uint32_t n = below(3); n > 0; --n) v.learn(WarpOfCluster(below(warps)), times());
  for (uint32_t n = below(3); n > 0; --n) v.learn(WarpOfCluster(below(warps)), Lane(below(lanes)), times());
  if (below(2) == 0) {
    View other(ClusterOfGrid(below(clusters)), warps);
    other.learn(WarpOfCluster(below(warps)), times());
    other.learn(WarpOfCluster(below(warps)), Lane(below(lanes)), times());
    v.join(other);
  }
  return v;
}

// Up to which time each lane is known, as the view answers.
std::vector<uint32_t> answers(const View& v) {
  std::vector<uint32_t> out;
  for (size_t r = 0; r < common_visibilities; ++r)
    for (uint32_t c = 0; c < clusters; ++c)
      for (uint32_t w = 0; w < warps; ++w)
        for (uint32_t l = 0; l <= lanes; ++l) {  // the last: a lane of which nothing is known alone
          const auto visibility = static_cast<Visibility>(r);
          uint32_t t = 0;
          while (t < latest && v.knows(visibility, ClusterOfGrid(c), WarpOfCluster(w), Lane(l), t + 1)) ++t;
          EXPECT_EQ(v.known(visibility, ClusterOfGrid(c), WarpOfCluster(w), Lane(l)), t);
          out.push_back(t);
        }
  return out;
}

TEST(View, AJoinChangesItExactlyWhenItWouldLearn) {
  std::mt19937 random(5);
  int learns = 0;
  for (int n = 0; n < 20000; ++n) {
    const View a = random_view(random), b = random_view(random);
    const bool strict = n % 2 == 0;
    View joined = a;
    joined.join(b, strict);
    const bool changes = answers(joined) != answers(a);
    // A row for a lane may say what a row for all lanes of another cluster's warp says already.
    ASSERT_TRUE(!changes || a.would_learn(b, strict)) << n;
    ASSERT_FALSE(joined.would_learn(b, strict)) << n;
    learns += a.would_learn(b, strict) ? 1 : 0;
  }
  EXPECT_GT(learns, 1000);
  EXPECT_LT(learns, 19500);
}

TEST(View, AViewThatOthersShareIsReplaced) {
  View what(ClusterOfGrid(0), warps);
  what.learn(WarpOfCluster(1), Times{2, 2, 2, 2});
  ViewRef mine = std::make_shared<View>(ClusterOfGrid(0), warps);
  const ViewRef kept = mine;
  join(mine, what);
  EXPECT_EQ(kept->time(Visibility::generic, WarpOfCluster(1)), 0u);
  EXPECT_EQ(mine->time(Visibility::generic, WarpOfCluster(1)), 2u);
}

}  // namespace
}  // namespace palladion::sim::check
