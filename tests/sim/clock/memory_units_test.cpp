// When would a load or a store be served within an SM?
#include <gtest/gtest.h>

#include "sim/clock/sm/cas_loops.h"
#include "sim/clock/sm/l1.h"
#include "sim/clock/sm/load_store.h"
#include "sim/clock/sm/smem_port.h"
#include "tests/sim/clock/parameters.h"

namespace palladion::sim::hardware {
namespace {

TEST(LoadStoreUnit, OneInstructionAfterTheOther) {
  LoadStoreUnit lsu(round_numbers());
  EXPECT_EQ(lsu.take(10, 4), 10);
  EXPECT_EQ(lsu.take(11, 1), 14);
  EXPECT_EQ(lsu.take(30, 1), 30);
}

TEST(LoadStoreUnit, WarpsWaitWhenSixteenCyclesAreQueued) {
  LoadStoreUnit lsu(round_numbers());
  lsu.take(0, 20);
  EXPECT_EQ(lsu.opens(0), 4);
  EXPECT_EQ(lsu.opens(4), 0);  // room by then
}

TEST(LoadStoreUnit, LoadsWaitForStoresThatTheNetworkHasNotTaken) {
  LoadStoreUnit lsu(round_numbers());
  lsu.store_waits(50);
  EXPECT_EQ(lsu.take(10, 1), 10);
  EXPECT_EQ(lsu.take_behind_stores(12, 1), 50);
}

TEST(StorePath, PartsOfSectorsSayWhichBytes) {
  StorePath path(round_numbers());
  const LineAccess whole{.line = 1, .sectors = 0b0011, .words = 0xFFFF};
  const LineAccess part{.line = 2, .sectors = 0b0001, .words = 0x000F};
  EXPECT_EQ(path.take(std::array{whole}, false, 100), 102);       // two sectors
  EXPECT_EQ(path.take(std::array{part}, false, 100), 104);        // one, and its mask
  EXPECT_EQ(path.take(std::array{whole, part}, true, 200), 205);  // atomics: 3 + 2
  EXPECT_EQ(path.holds_until(), 205 - 64);
}

TEST(SmemPort, ALineACycle) {
  const isa::ClockParameters p = round_numbers();
  const TensorCore idle(p);
  SmemPort port(p);
  EXPECT_EQ(port.take(10, 2, idle), 10);
  EXPECT_EQ(port.take(10, 1, idle), 12);
  EXPECT_EQ(port.opens(), 13);
}

TEST(SmemPort, BesideTheTensorCoreAPassTakesLonger) {
  const isa::ClockParameters p = round_numbers();
  TensorCore tensor(p);
  // m64n128k16: 64 cycles of products; 16 of A and 32 of B are read in 48 of them. A quarter is left.
  tensor.take(0, {.rows = 64, .columns = 128}, 0);
  SmemPort port(p);
  EXPECT_EQ(port.take(10, 2, tensor), 10);
  EXPECT_EQ(port.opens(), 18);
}

TEST(CasLoops, LanesOfABankGoRoundOneAfterTheOther) {
  CasLoops loops(round_numbers());
  uint64_t addresses[32] = {0, 128, 4};  // two of bank 0, one of bank 1
  EXPECT_EQ(loops.done(0, addresses, 0b111, 100, 1000), 1200);
}

TEST(CasLoops, AWordThatAnotherWarpHasJustChangedTakesAnotherRound) {
  CasLoops loops(round_numbers());
  uint64_t addresses[32] = {0};
  EXPECT_EQ(loops.done(0, addresses, 1, 100, 1000), 1100);
  EXPECT_EQ(loops.done(0, addresses, 1, 100, 1050), 1250);           // begins again at 1150
  EXPECT_EQ(loops.done(1ULL << 40, addresses, 1, 100, 1050), 1150);  // another CTA's word
}

// L2 has answered so many requests of the quantum, all at `time`.
void answer(L1& l1, size_t requests, Cycle time) {
  Batch batch;
  batch.requests.resize(requests, {.done = time});
  l1.answered(batch);
}

std::vector<LineAccess> one_line(uint64_t line, uint8_t sectors) {
  return {{.line = line, .sectors = sectors}};
}

TEST(L1, AMissIsAskedForOnceAndFilledByItsRequest) {
  L1 l1(round_numbers(), 64 << 10);
  auto lines = one_line(5, 0b1111);
  EXPECT_EQ(l1.load(lines, 0, 0, 100, false).also, no_request);
  EXPECT_EQ(lines.size(), 1U);
  lines = one_line(5, 0b0001);  // while it is under way
  EXPECT_EQ(l1.load(lines, 0, 1, 101, false).also, 0U);
  EXPECT_TRUE(lines.empty());
  answer(l1, 1, Cycle(400));
  lines = one_line(5, 0b0001);
  EXPECT_EQ(l1.load(lines, 0, 2, 200, false).ready, 400);
  lines = one_line(5, 0b0001);
  EXPECT_EQ(l1.load(lines, 0, 2, 500, false).ready, 534);  // a hit
}

TEST(L1, MissingSectorsAreAskedFor) {
  L1 l1(round_numbers(), 64 << 10);
  auto lines = one_line(5, 0b0011);
  l1.load(lines, 0, 0, 100, false);
  lines = one_line(5, 0b0110);
  l1.load(lines, 0, 1, 101, false);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].sectors, 0b0100);
}

TEST(L1, DropsAndInvalidates) {
  L1 l1(round_numbers(), 64 << 10);
  auto lines = one_line(5, 0b0001);
  l1.load(lines, 0, 0, 100, false);
  answer(l1, 1, Cycle(400));
  l1.invalidate({.line = 5, .sectors = 0b0001});
  lines = one_line(5, 0b0001);
  l1.load(lines, 0, 1, 500, false);
  EXPECT_EQ(lines.size(), 1U);
  answer(l1, 2, Cycle(800));
  l1.drop();
  lines = one_line(5, 0b0001);
  l1.load(lines, 0, 2, 900, false);
  EXPECT_EQ(lines.size(), 1U);
}

TEST(L1, GivesALineACycle) {
  L1 l1(round_numbers(), 64 << 10);
  std::vector<LineAccess> lines{{.line = 1, .sectors = 15}, {.line = 2, .sectors = 15}};
  const L1::Served s = l1.load(lines, 0, 0, 100, true);
  EXPECT_EQ(s.cycles, 2);
  EXPECT_EQ(s.ready, 135);  // 100 + 2 + 34 - 1
  EXPECT_EQ(lines.size(), 2U);
}

}  // namespace
}  // namespace palladion::sim::hardware
