// Streams, events and the host: what is over when an operation begins.
#include <gtest/gtest.h>

#include <utility>

#include "cuda/order/in_flight.h"

namespace palladion::cuda::order {
namespace {

Touched reads(uint64_t begin, uint64_t end) {
  Touched t;
  t.read.add(begin, end);
  return t;
}
Touched writes(uint64_t begin, uint64_t end) {
  Touched t;
  t.written.add(begin, end);
  return t;
}
bool comes_after(const Place& later, const Place& earlier) {
  return later.before.of(earlier.line) >= earlier.number;
}

TEST(Ranges, OverlapsAndNeighboursBecomeOne) {
  Ranges r;
  for (const auto& [begin, end] : {std::pair{40, 50}, {10, 20}, {20, 30}, {45, 60}, {5, 5}})
    r.add(static_cast<uint64_t>(begin), static_cast<uint64_t>(end));
  r.unite();
  EXPECT_EQ(r.all(), (std::vector<Range>{{10, 30}, {40, 60}}));
  EXPECT_TRUE(r.contains(29));
  EXPECT_FALSE(r.contains(30));
  Ranges other;
  other.add(30, 41);
  EXPECT_EQ(r.common(other), (Range{40, 41}));
}

TEST(Ranges, MillionsOfPiecesOfOneArrayAreOneRange) {
  Ranges r;
  for (uint64_t i = 0; i < 1'000'000; ++i) r.add(i * 7919 % 1'000'000 * 4, i * 7919 % 1'000'000 * 4 + 4);
  r.unite();
  EXPECT_EQ(r.all(), (std::vector<Range>{{0, 4'000'000}}));
}

TEST(Meeting, ReadsMayOverlapAndWritesMayNot) {
  EXPECT_FALSE(meeting(reads(0, 8), reads(0, 8)));
  EXPECT_FALSE(meeting(writes(0, 8), writes(8, 16)));
  const auto m = meeting(writes(0, 8), reads(4, 16));
  ASSERT_TRUE(m);
  EXPECT_EQ(m->bytes, (Range{4, 8}));
  EXPECT_TRUE(m->first_writes);
  EXPECT_FALSE(m->second_writes);
}

TEST(Meeting, StrongAccessesMayOverlapAndOrderTheRestByReleaseAndAcquire) {
  Touched a, b;
  a.strong_written.add(0, 4);
  b.strong_read.add(0, 4);
  EXPECT_FALSE(meeting(a, b));
  EXPECT_TRUE(meeting(a, reads(0, 4)));
  a.written.add(64, 128);
  b.read.add(64, 128);
  EXPECT_TRUE(meeting(a, b));
  a.released.add(0, 4);
  EXPECT_TRUE(meeting(a, b));
  b.acquired.add(0, 4);
  EXPECT_FALSE(meeting(a, b));
}

TEST(Streams, AStreamIsInOrderAndTwoAreNot) {
  Streams s;
  const Line a = s.add(Kind::non_blocking), b = s.add(Kind::non_blocking);
  const Place first = s.put(a), second = s.put(a), other = s.put(b);
  EXPECT_TRUE(comes_after(second, first));
  EXPECT_FALSE(comes_after(other, first));
}

TEST(Streams, TheLegacyStreamWaitsForBlockingOnesAndTheyForIt) {
  Streams s;
  const Line legacy = s.add(Kind::legacy), a = s.add(Kind::blocking), b = s.add(Kind::blocking),
             free = s.add(Kind::non_blocking);
  const Place in_a = s.put(a), in_free = s.put(free), in_legacy = s.put(legacy), in_b = s.put(b),
              later_free = s.put(free);
  EXPECT_TRUE(comes_after(in_legacy, in_a));
  EXPECT_FALSE(comes_after(in_legacy, in_free));
  EXPECT_TRUE(comes_after(in_b, in_legacy));
  EXPECT_TRUE(comes_after(in_b, in_a));
  EXPECT_FALSE(comes_after(later_free, in_legacy));
}

TEST(Streams, TheLegacyStreamWaitsForWhatADestroyedBlockingStreamDoes) {
  Streams s;
  const Line legacy = s.add(Kind::legacy), a = s.add(Kind::blocking);
  const Place in_a = s.put(a);
  s.remove(a);
  EXPECT_TRUE(comes_after(s.put(legacy), in_a));
}

TEST(Streams, AnEventOrdersWhatIsBehindTheWaitAfterWhatIsBeforeTheRecord) {
  Streams s;
  const Line a = s.add(Kind::non_blocking), b = s.add(Kind::non_blocking);
  const Place before = s.put(a);
  const Mark mark = s.record(a);
  const Place behind = s.put(a), unaware = s.put(b);
  s.wait(b, mark);
  const Place aware = s.put(b);
  EXPECT_FALSE(comes_after(unaware, before));
  EXPECT_TRUE(comes_after(aware, before));
  EXPECT_FALSE(comes_after(aware, behind));
}

TEST(Streams, WhatTheHostHasWaitedForIsOverForAllThatItAsksForLater) {
  Streams s;
  const Line a = s.add(Kind::non_blocking), b = s.add(Kind::non_blocking);
  const Place first = s.put(a);
  s.host_waits(s.of(a));
  EXPECT_TRUE(comes_after(s.put(b), first));
  EXPECT_TRUE(comes_after(s.put(s.add(Kind::non_blocking)), first));
}

TEST(Streams, AProgrammaticKernelBeginsWhenTheOneInFrontHasBegun) {
  Streams s;
  const Line a = s.add(Kind::non_blocking);
  const Place copy = s.put(a), first = s.put(a, true), second = s.put(a, true, true);
  EXPECT_TRUE(second.programmatic);
  EXPECT_TRUE(comes_after(second, first));
  EXPECT_GE(second.early.of(copy.line), copy.number);
  EXPECT_LT(second.early.of(first.line), first.number);
}

TEST(Streams, AProgrammaticKernelIsOrdinaryBehindACopy) {
  Streams s;
  const Line a = s.add(Kind::non_blocking);
  s.put(a, true);
  s.put(a);
  EXPECT_FALSE(s.put(a, true, true).programmatic);
}

// The second lets the third begin before it has waited for the first.
TEST(Streams, AChainOfProgrammaticKernelsThatTriggerBeforeTheyWait) {
  Streams s;
  const Line a = s.add(Kind::non_blocking);
  const Place first = s.put(a, true), second = s.put(a, true, true);
  s.triggers_early(second);
  const Place third = s.put(a, true, true);
  EXPECT_LT(third.early.of(first.line), first.number);
  EXPECT_TRUE(comes_after(third, first));
}

TEST(InFlight, TellsWhatIsNotOver) {
  Streams s;
  InFlight in_flight;
  const Line a = s.add(Kind::non_blocking), b = s.add(Kind::non_blocking);
  const auto operation = std::make_shared<Operation>();
  in_flight.keep(operation, s.put(a), writes(0, 256));
  const Place reader = s.put(b);
  const auto found = in_flight.meetings(reader, reader.before, reads(128, 512));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().bytes, (Range{128, 256}));
  const Place next = s.put(a);
  EXPECT_TRUE(in_flight.meetings(next, next.before, reads(0, 256)).empty());
  s.host_waits(s.of(a));
  in_flight.forget(s.host());
  EXPECT_TRUE(in_flight.meetings(reader, reader.before, reads(0, 256)).empty());
}

// Kernels that a kernel launches have its place.
TEST(InFlight, PartsOfOneOperationDoNotMeet) {
  Streams s;
  InFlight in_flight;
  const Place kernel = s.put(s.add(Kind::non_blocking));
  in_flight.keep(std::make_shared<Operation>(), kernel, writes(0, 256));
  EXPECT_TRUE(in_flight.meetings(kernel, kernel.before, writes(0, 256)).empty());
}

TEST(InFlight, TheHostMustWaitForWeakStoresAndLearnsFromStrongOnes) {
  Streams s;
  InFlight in_flight;
  Touched t = writes(0, 64);
  t.strong_written.add(64, 68);
  const Place kernel = s.put(s.add(Kind::non_blocking));
  in_flight.keep(std::make_shared<Operation>(), kernel, t);
  Clock over;
  EXPECT_TRUE(in_flight.host_meets(0, false, s.host(), over));
  EXPECT_FALSE(in_flight.host_meets(64, false, s.host(), over));
  EXPECT_EQ(over.of(kernel.line), kernel.number);
  EXPECT_FALSE(in_flight.host_meets(0, false, over, over));
}

}  // namespace
}  // namespace palladion::cuda::order
