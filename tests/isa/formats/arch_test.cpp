#include "isa/arch/arch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
