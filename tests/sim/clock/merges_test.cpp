// Requests of a GPC that are one for L2; which lines of a box lie far apart.
#include "sim/clock/memory/merges.h"

#include <gtest/gtest.h>

namespace palladion::sim::hardware {
namespace {

TEST(Merges, AreKeptWhileManyLinesAreOnTheirWay) {
  Merges merges(*isa::find_clock("h200"), 2);
  constexpr uint64_t first = 1 << 20, lines = 8192;  // neighbours have places of their own
  for (uint64_t l = first; l < first + lines; ++l)
    merges.of(1, l) = {.line = l, .until = 100, .sms = 1, .sectors = 0xF};
  for (uint64_t l = first; l < first + lines; ++l) {
    const LineAccess access{.line = l, .sectors = 0xF};
    EXPECT_TRUE(merges.takes(merges.of(1, l), access, 2, 99)) << l;
    EXPECT_FALSE(merges.takes(merges.of(0, l), access, 2, 99)) << "another GPC's";
  }
}

TEST(Merges, TakeEachSmOnceAndOnlyInTime) {
  Merges merges(*isa::find_clock("h200"), 1);
  Merge& m = merges.of(0, 7) = {.line = 7, .until = 100, .sms = 1, .sectors = 0x3};
  const LineAccess access{.line = 7, .sectors = 0x3};
  EXPECT_TRUE(merges.takes(m, access, 2, 99));
  EXPECT_FALSE(merges.takes(m, access, 1, 99)) << "the same SM";
  EXPECT_FALSE(merges.takes(m, access, 2, 100)) << "too late";
  EXPECT_FALSE(merges.takes(m, {.line = 7, .sectors = 0x4}, 2, 99)) << "another sector";
  m.sms = 0b11101;  // four others
  EXPECT_FALSE(merges.takes(m, access, 2, 99)) << "full";
}

TEST(Lines, AreScatteredOverMoreThan128KiBInAnyOrder) {
  const auto lines = [](std::initializer_list<uint64_t> addresses) {
    std::vector<LineAccess> all;
    for (const uint64_t a : addresses) all.push_back({.line = a / line_bytes, .sectors = 0xF});
    return all;
  };
  EXPECT_FALSE(are_scattered({}));
  EXPECT_FALSE(are_scattered(lines({0, 128 << 10})));
  EXPECT_TRUE(are_scattered(lines({0, (128 << 10) + 128})));
  EXPECT_FALSE(are_scattered(lines({64 << 10, 0})));
  EXPECT_TRUE(are_scattered(lines({256 << 10, 0})));
}

}  // namespace
}  // namespace palladion::sim::hardware
