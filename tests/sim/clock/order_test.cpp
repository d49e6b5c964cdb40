// In which order would L2 get the lines of a quantum's requests?
#include "sim/clock/memory/order.h"

#include <gmock/gmock.h>

namespace palladion::sim::hardware {
namespace {

std::vector<uint64_t> lines_of(std::span<const LineOrder::Entry> entries) {
  std::vector<uint64_t> out;
  for (const LineOrder::Entry& e : entries) out.push_back(e.line.line);
  return out;
}

TEST(LineOrder, ByTimeOverAllSmsAndAsTheyWereAskedFor) {
  Batch a, b;
  a.lines = {{.line = 1}, {.line = 2}, {.line = 3}};
  a.requests.push_back({.time = Cycle(100), .step = 2, .first = 0, .lines = 3});  // at 100, 102, 104
  b.lines = {{.line = 4}, {.line = 5}};
  b.requests.push_back({.time = Cycle(9000), .first = 0, .lines = 1});
  b.requests.push_back({.time = Cycle(102), .first = 1, .lines = 1});
  LineOrder order;
  const auto entries = order.of(std::vector{&a, &b});
  EXPECT_THAT(lines_of(entries), testing::ElementsAre(1, 2, 5, 3, 4));
  EXPECT_EQ(entries[3].time, 104);
  EXPECT_EQ(entries[3].request, a.requests.data());
}

TEST(LineOrder, PartsOfACycleCount) {
  Batch a;
  a.lines = {{.line = 1}, {.line = 2}, {.line = 3}};
  a.requests.push_back({.time = Cycle(100), .first = 0, .lines = 1});
  a.requests.push_back({.time = Cycle(99), .step = 0.99, .first = 1, .lines = 2});  // at 99 and 99.99
  LineOrder order;
  EXPECT_THAT(lines_of(order.of(std::vector{&a})), testing::ElementsAre(2, 3, 1));
}

}  // namespace
}  // namespace palladion::sim::hardware
