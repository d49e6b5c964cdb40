// Where SMs are and which of them take a cluster: an H200, and a chip of eight SMs.
#include "sim/clock/memory/sites.h"

#include <gmock/gmock.h>

#include "tests/support/small_chip.h"

namespace palladion::sim::hardware {
namespace {

using testing::ElementsAre;
using testing::Field;

std::vector<uint32_t> firsts(const std::vector<SmPlacement>& placements) {
  std::vector<uint32_t> out;
  for (const SmPlacement& p : placements) out.push_back(p.first);
  return out;
}

std::vector<uint32_t> placed(const isa::ArchSpec& arch, uint64_t clusters, uint32_t ctas,
                             double cluster_sms) {
  return firsts(placements_of(arch, sites(arch), clusters, ctas, cluster_sms));
}

TEST(Sites, OfAnH200) {
  const std::vector<Site> all = sites(isa::default_arch());
  ASSERT_EQ(all.size(), 132U);
  EXPECT_EQ(all[17].gpc, 0U);  // 18 SMs: three whole CPCs
  EXPECT_TRUE(all[17].whole_cpc);
  EXPECT_EQ(all[18].gpc, 1U);
  EXPECT_EQ(all[18].side, 1U);
  EXPECT_EQ(all[18].number, 2U);  // %smid goes round the GPCs, TPC by TPC
  EXPECT_EQ(all[36].side, 0U);
  EXPECT_TRUE(all[36].whole_cpc);
  EXPECT_FALSE(all[36 + 15].whole_cpc);  // 16 SMs: the third CPC has four
  EXPECT_EQ(all.back().cpc, 23U);
}

TEST(Sites, OfASmallChip) {
  const std::vector<Site> all = sites(test::small_chip());
  ASSERT_EQ(all.size(), 8U);
  for (const Site& site : all) {
    EXPECT_EQ(site.side, 0U);  // one partition of L2
    EXPECT_TRUE(site.whole_cpc);
  }
  EXPECT_EQ(all[4].gpc, 1U);
  EXPECT_EQ(all[4].cpc, 1U);
  EXPECT_EQ(all[4].number, 2U);
}

TEST(Sites, SmallGridsFillTheFirstTpcsAndThenSpread) {
  // All of the first TPC, then one SM of each other TPC, round the GPCs.
  EXPECT_THAT(placed(test::small_chip(), 4, 1, 8), ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(placed(isa::default_arch(), 8, 1, 120), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(placed(isa::default_arch(), 500, 1, 120).size(), 132U);
}

TEST(Sites, ClustersGoRoundTheGpcs) {
  EXPECT_THAT(placed(test::small_chip(), 9, 2, 8), ElementsAre(0, 4, 2, 6));
  EXPECT_THAT(placed(test::small_chip(), 9, 4, 8), ElementsAre(0, 4));
  EXPECT_THAT(placed(test::small_chip(), 9, 4, 4), ElementsAre(0));  // not all SMs take large clusters
  EXPECT_EQ(placed(isa::default_arch(), 99, 4, 120).size(), 30U);
}

TEST(Sites, ClustersFillCpcs) {
  const isa::ArchSpec& chip = test::small_chip();
  EXPECT_FALSE(fill_cpcs(chip, sites(chip), 2, 2));
  EXPECT_TRUE(fill_cpcs(chip, sites(chip), 3, 2));
}

}  // namespace
}  // namespace palladion::sim::hardware
