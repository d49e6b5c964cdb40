// How many CTAs fit at once, and what would admit one more, by hand.
#include "sim/clock/report/residency.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "isa/text/parse.h"

namespace palladion::sim {
namespace {

isa::Module kernel(const std::string& body) {
  auto parsed = isa::parse(
      ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n" + body + "  ret;\n}\n", "");
  EXPECT_TRUE(parsed) << isa::render(parsed.error());
  return std::move(*parsed);
}

Residency residency(const isa::Module& module, ResidencyQuestion q, const char* arch = "h200") {
  q.module = &module;
  return residency_of(q, *isa::find_arch(arch), *isa::find_clock(arch));
}

TEST(Residency, ClustersOfFourFindRoomInThirtyPlaces) {
  const isa::Module m = kernel("");
  const Residency r = residency(m, {.grid = {256, 1, 1},
                                    .block = {256, 1, 1},
                                    .cluster = {4, 1, 1},
                                    .dynamic_shared = 200'000,
                                    .registers = 64});
  EXPECT_EQ(r.clusters, 64u);
  EXPECT_EQ(r.ctas_per_cluster, 4u);
  EXPECT_EQ(r.ctas_per_sm, 1u);
  EXPECT_EQ(r.at_once, 30u);
  EXPECT_EQ(r.waves(), 3u);
  EXPECT_EQ(r.last_wave(), 4u);
  EXPECT_NEAR(r.empty_share(), 26.0 / 90, 1e-9);
}

TEST(Residency, AFullLastWaveIsNotEmpty) {
  const isa::Module m = kernel("");
  const Residency r =
      residency(m, {.grid = {264, 1, 1}, .block = {1024, 1, 1}, .dynamic_shared = 200'000, .registers = 32});
  EXPECT_EQ(r.at_once, 132u);
  EXPECT_EQ(r.waves(), 2u);
  EXPECT_EQ(r.last_wave(), 132u);
  EXPECT_EQ(r.empty_share(), 0);
}

// 228 KiB an SM, of which each CTA takes 1 KiB for the system.
TEST(Residency, SharedMemoryThatAdmitsOneMore) {
  const isa::Module m = kernel("");
  const Residency r =
      residency(m, {.grid = {999, 1, 1}, .block = {128, 1, 1}, .dynamic_shared = 100'000, .registers = 32});
  EXPECT_EQ(r.ctas_per_sm, 2u);
  ASSERT_EQ(r.scarce.size(), 1u);
  EXPECT_EQ(r.scarce[0].resource, SmResource::shared);
  EXPECT_EQ(r.scarce[0].taken, 100'000u);
  EXPECT_EQ(r.scarce[0].most, 228u * 1024 / 3 / 128 * 128 - 1024);
}

// 65536 registers, four sub-cores: 8 warps of 168 registers, twice only with 128.
TEST(Residency, RegistersThatAdmitOneMore) {
  const isa::Module m = kernel("");
  const Residency r = residency(m, {.grid = {999, 1, 1}, .block = {256, 1, 1}, .registers = 168});
  EXPECT_EQ(r.ctas_per_sm, 1u);
  ASSERT_EQ(r.scarce.size(), 1u);
  EXPECT_EQ(r.scarce[0].resource, SmResource::registers);
  EXPECT_EQ(r.scarce[0].most, 128u);
}

// 64 named barriers: four CTAs with 15, five with 12.
TEST(Residency, EveryResourceThatIsInTheWayIsNamed) {
  const isa::Module m = kernel("  bar.sync 14;\n");
  const Residency r =
      residency(m, {.grid = {999, 1, 1}, .block = {256, 1, 1}, .dynamic_shared = 40'000, .registers = 32});
  EXPECT_EQ(r.ctas_per_sm, 4u);
  ASSERT_EQ(r.scarce.size(), 1u);
  EXPECT_EQ(r.scarce[0].resource, SmResource::barriers);
  EXPECT_EQ(r.scarce[0].taken, 15u);
  EXPECT_EQ(r.scarce[0].most, 12u);
  const Residency both =
      residency(m, {.grid = {999, 1, 1}, .block = {256, 1, 1}, .dynamic_shared = 200'000, .registers = 168});
  EXPECT_EQ(both.scarce.size(), 2u);
}

TEST(Residency, TensorMemoryIsInTheWay) {
  auto parsed = isa::parse(
      ".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n"
      "  .shared .align 4 .b32 at;\n"
      "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [at], 256;\n  ret;\n}\n",
      "");
  ASSERT_TRUE(parsed) << isa::render(parsed.error());
  const Residency r = residency(
      *parsed, {.grid = {999, 1, 1}, .block = {128, 1, 1}, .dynamic_shared = 100'000, .registers = 32},
      "b200");
  EXPECT_EQ(r.ctas_per_sm, 2u);
  ASSERT_EQ(r.scarce.size(), 2u);
  EXPECT_EQ(r.scarce[1].resource, SmResource::tensor_memory);
  EXPECT_EQ(r.scarce[1].taken, 256u);
  EXPECT_EQ(r.scarce[1].most, 128u);
}

TEST(Residency, ARoomierChipTakesExactlyOneMore) {
  const isa::Module m = kernel("");
  const isa::ArchSpec& h200 = *isa::find_arch("h200");
  const ResidencyQuestion q{
      .grid = {999, 1, 1}, .block = {256, 1, 1}, .dynamic_shared = 100'000, .registers = 96};
  const Residency before = residency(m, q);
  EXPECT_EQ(before.ctas_per_sm, 2u);
  ResidencyQuestion again = q;
  again.module = &m;
  EXPECT_EQ(residency_of(again, with_room_for_one_more(h200, before), *isa::find_clock("h200")).ctas_per_sm,
            3u);
}

}  // namespace
}  // namespace palladion::sim
