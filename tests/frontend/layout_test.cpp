// The algebra of layouts: every element has a place, fragments are where the hardware wants them.
#include "frontend/core/layout.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "isa/formats/fragments.h"

namespace palladion::plgpu {
namespace {

struct Named {
  const char* name;
  Layout layout;
  Shape shape;
};

std::vector<Named> layouts() {
  return {{"WGMMA", Layout::WGMMA, {128, 32}},
          {"WGMMA_8BIT", Layout::WGMMA_8BIT, {64, 64}},
          {"WGMMA_UPCAST_2X", Layout::WGMMA_UPCAST_2X, {64, 64}},
          {"WGMMA_UPCAST_4X", Layout::WGMMA_UPCAST_4X, {128, 64}},
          {"WGMMA_TRANSPOSED", Layout::WGMMA_TRANSPOSED, {64, 32}},
          {"batched WGMMA", Layout::WGMMA, {3, 64, 16}},
          {"WG_STRIDED", Layout::WG_STRIDED({16, 64}, 4), {16, 64}},
          {"TILED", Layout::TILED({{{16, 32}, {4, 16}, {2}}}, {-5}, {-3, -2}, -1), {32, 64}}};
}

TEST(Layouts, EveryElementIsHeldOnce) {
  for (const Named& n : layouts()) {
    SCOPED_TRACE(n.name);
    std::map<Shape, int> held;
    for (int64_t t = 0; t < 128; ++t)
      for (int64_t e = 0; e < n.layout.elements(n.shape); ++e) ++held[n.layout.index(n.shape, t, e)];
    EXPECT_EQ(static_cast<int64_t>(held.size()), pl::volume(n.shape));
    for (const auto& [index, times] : held) {
      ASSERT_EQ(times, 1);
      for (size_t d = 0; d < index.size(); ++d) ASSERT_TRUE(index[d] >= 0 && index[d] < n.shape[d]);
    }
  }
}

TEST(Layouts, IndexIsLanePlusElement) {
  for (const Named& n : layouts()) {
    if (!n.layout.is_tiled()) continue;
    SCOPED_TRACE(n.name);
    for (int64_t t = 0; t < 128; t += 5) {
      for (int64_t e = 0; e < n.layout.elements(n.shape); ++e) {
        Shape sum = n.layout.element_index(n.shape, e);
        const Shape lane = n.layout.thread_index(n.shape, t);
        for (size_t d = 0; d < sum.size(); ++d) sum[d] += lane[d];
        ASSERT_EQ(n.layout.index(n.shape, t, e), sum);
      }
    }
  }
}

TEST(Layouts, WgmmaIsTheAccumulatorFragment) {
  const int64_t n = 64;
  const isa::FragmentLayout d = isa::wgmma_d(static_cast<int>(n), 32);
  for (int lane = 0; lane < 128; ++lane) {
    for (int e = 0; e < n / 2; ++e) {
      const auto there = d.element(lane, e, 0);
      ASSERT_EQ(Layout::WGMMA.index({64, n}, lane, e), (Shape{there.row, there.col}));
    }
  }
}

TEST(Layouts, RegistersOfALeftOperand) {
  const auto check = [](const Layout& layout, int bits) {
    const isa::FragmentLayout a = isa::wgmma_a(bits);
    const int64_t k = 256 / bits;
    for (int lane = 0; lane < 128; ++lane) {
      for (int reg = 0; reg < 4; ++reg) {
        for (int part = 0; part < 32 / bits; ++part) {
          const auto there = a.element(lane, reg, part);
          ASSERT_EQ(layout.index({64, k}, lane, reg * (32 / bits) + part), (Shape{there.row, there.col}));
        }
      }
    }
  };
  check(Layout::WGMMA, 16);
  check(Layout::WGMMA_8BIT, 8);
}

TEST(Layouts, ReductionsReplicate) {
  const Layout rows = Layout::WGMMA.reduce(1), columns = Layout::WGMMA.reduce(0);
  std::map<int64_t, std::set<int64_t>> row_lanes, column_lanes;
  for (int64_t t = 0; t < 128; ++t) {
    for (int64_t e = 0; e < rows.elements({128}); ++e) row_lanes[rows.index({128}, t, e)[0]].insert(t);
    for (int64_t e = 0; e < columns.elements({16}); ++e) column_lanes[columns.index({16}, t, e)[0]].insert(t);
  }
  EXPECT_EQ(row_lanes.size(), 128u);
  for (const auto& [row, lanes] : row_lanes) EXPECT_EQ(lanes.size(), 4u);  // the quad of a row
  EXPECT_EQ(column_lanes.size(), 16u);
  for (const auto& [column, lanes] : column_lanes) EXPECT_EQ(lanes.size(), 32u);  // 8 lanes of each warp
  EXPECT_EQ(Layout::WGMMA.reduce({0, 1}).parts().size(), 0u);
}

TEST(Layouts, EqualityIsOfMeaning) {
  const Layout same = Layout::TILED({{{64, 8}, {16, 8}, {8, 8}, {2}}}, {-7}, {-3, -2}, -1);
  EXPECT_EQ(same, Layout::WGMMA);
  EXPECT_EQ(to_string(same), "WGMMA");
  EXPECT_FALSE(Layout::WGMMA == Layout::WGMMA_8BIT);
  EXPECT_EQ(Layout::WG_STRIDED({256}, 2), Layout::WG_STRIDED({2, 128}, 2));
  EXPECT_EQ(Layout::WG_SPLAT({3}), Layout::WG_SPLAT());
}

TEST(Layouts, MisfitSaysWhy) {
  EXPECT_EQ(Layout::WGMMA.misfit({64, 8}), "");
  EXPECT_NE(Layout::WGMMA.misfit({32, 8}).find("[64, 8]"), std::string::npos);
  EXPECT_NE(Layout::WGMMA.misfit({64}).find("2 dimensions"), std::string::npos);
}

}  // namespace
}  // namespace palladion::plgpu
