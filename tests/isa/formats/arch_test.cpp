#include "isa/arch/arch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "isa/arch/target.h"
#include "tests/support/small_chip.h"

namespace palladion::isa {
namespace {

const ArchSpec& h200() { return *find_arch("h200"); }

TEST(Arch, IsFoundByName) {
  ASSERT_NE(find_arch("h100"), nullptr);
  EXPECT_EQ(h200().sm_count, 132);
  EXPECT_EQ(h200().max_shared_bytes_per_cta, 232448);
  EXPECT_EQ(find_arch("h300"), nullptr);
  for (const ArchSpec& a : architectures())
    for (const ArchFact& f : facts(a)) {
      EXPECT_FALSE(f.value.empty()) << f.name;
      EXPECT_FALSE(f.source.empty()) << f.name;
    }
}

TEST(Arch, NumbersOfAChipFitEachOther) {
  std::vector<ArchSpec> all(architectures().begin(), architectures().end());
  all.push_back(test::small_chip());
  for (const ArchSpec& a : all) {
    const int tpcs = std::accumulate(a.gpc_tpcs.begin(), a.gpc_tpcs.end(), 0);
    EXPECT_EQ(tpcs * a.sms_per_tpc, a.sm_count) << a.name;
    EXPECT_EQ(a.sms_per_cpc % a.sms_per_tpc, 0) << a.name;
    EXPECT_EQ(a.l2_partitions & (a.l2_partitions - 1), 0) << a.name;
    EXPECT_LE(a.max_cluster, *std::ranges::min_element(a.gpc_tpcs) * a.sms_per_tpc) << a.name;
    EXPECT_LE(a.max_shared_bytes_per_cta + a.reserved_shared_bytes_per_cta, a.shared_bytes_per_sm) << a.name;
    EXPECT_LE(a.max_accumulators, a.max_registers_per_thread) << a.name;
    EXPECT_EQ(a.max_setmaxnreg % a.register_unit_per_thread, 0) << a.name;
    EXPECT_EQ(parse_target(a.ptx_target).number, a.sm) << a.name;
  }
}

TEST(Target, WhatRunsWhere) {
  const std::pair<std::string_view, std::string_view> runs[] = {
      {"sm_90a", "sm_90a"},   {"sm_90a", "sm_90"},    {"sm_90a", "sm_80"},   {"sm_100a", "sm_90"},
      {"sm_103a", "sm_100f"}, {"sm_100a", "sm_100f"}, {"sm_121a", "sm_120f"}};
  for (const auto& [have, need] : runs) EXPECT_TRUE(provides(have, need)) << need << " on " << have;
  const std::pair<std::string_view, std::string_view> fails[] = {
      {"sm_100a", "sm_90a"},  {"sm_90a", "sm_100"},   {"sm_90", "sm_90a"},  {"sm_100a", "sm_103f"},
      {"sm_120a", "sm_100f"}, {"sm_103a", "sm_100a"}, {"sm_90a", "sm_100f"}};
  for (const auto& [have, need] : fails) EXPECT_FALSE(provides(have, need)) << need << " on " << have;
  EXPECT_EQ(parse_target("compute_90").number, 0);
  EXPECT_EQ(parse_target("sm_100f").suffix, "f");
  EXPECT_EQ(ptx_version_of("sm_90a"), 87);
  EXPECT_EQ(ptx_version_of("sm_103a"), 88);
}

// Expected counts: what cuda_occupancy.h of CUDA 13.0 answers for compute capability 9.0.
struct Case {
  CtaResources cta;
  int ctas;
  OccupancyLimit limit;
};

TEST(Occupancy, CountsResidentCtas) {
  const Case cases[] = {
      {{.threads = 32, .registers_per_thread = 16}, 32, OccupancyLimit::ctas},
      {{.threads = 256, .registers_per_thread = 32}, 8, OccupancyLimit::warps},
      {{.threads = 128, .registers_per_thread = 168}, 3, OccupancyLimit::registers},
      {{.threads = 384, .registers_per_thread = 168}, 1, OccupancyLimit::registers},
      {{.threads = 128, .registers_per_thread = 33}, 12, OccupancyLimit::registers},
      {{.threads = 128, .registers_per_thread = 32, .shared_bytes = 227 * 1024}, 1, OccupancyLimit::shared},
      {{.threads = 128, .registers_per_thread = 32, .shared_bytes = 113 * 1024}, 2, OccupancyLimit::shared},
      {{.threads = 128, .registers_per_thread = 32, .shared_bytes = 113 * 1024 + 1},
       1,
       OccupancyLimit::shared},
      {{.threads = 64, .registers_per_thread = 16, .barriers = 16}, 4, OccupancyLimit::barriers},
  };
  for (const Case& c : cases) {
    const Occupancy o = occupancy(h200(), c.cta);
    EXPECT_EQ(o.ctas_per_sm, c.ctas) << c.cta.threads << " threads, " << c.cta.registers_per_thread
                                     << " registers, " << c.cta.shared_bytes << " bytes";
    EXPECT_EQ(name(o.limit), name(c.limit));
    EXPECT_TRUE(o.reason.empty());
  }
}

TEST(Occupancy, SaysWhyNothingFits) {
  using ::testing::HasSubstr;
  const auto reason = [](CtaResources cta) {
    const Occupancy o = occupancy(h200(), cta);
    EXPECT_EQ(o.ctas_per_sm, 0);
    return o.reason;
  };
  EXPECT_THAT(reason({.threads = 1025}), HasSubstr("1025 threads in a CTA, h200 allows 1 to 1024"));
  EXPECT_THAT(reason({.threads = 32, .registers_per_thread = 256}), HasSubstr("256 registers per thread"));
  EXPECT_THAT(reason({.threads = 1024, .registers_per_thread = 65}), HasSubstr("an SM of h200 has 65536"));
  EXPECT_THAT(reason({.threads = 32, .shared_bytes = 227 * 1024 + 1}),
              HasSubstr("232449 bytes of shared memory"));
  EXPECT_THAT(reason({.threads = 32, .barriers = 17}), HasSubstr("17 named barriers"));
}

}  // namespace
}  // namespace palladion::isa
