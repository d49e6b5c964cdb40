// What an address is that lies outside of all arrays.
#include "sim/machine/state/global_memory.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/launch/phrases/phrase.h"

namespace palladion::sim {
namespace {

using Where = GlobalMemory::Where;

TEST(GlobalMemory, AnAddressOutsideOfAllArraysIsKnownForWhatItIs) {
  GlobalMemory memory;
  const Address kept = memory.allocate(64, "kept"), freed = memory.allocate(4096, "freed");
  memory.release(freed);
  EXPECT_EQ(memory.where(kept + 63), Where::inside);
  EXPECT_EQ(memory.where(kept + 64), Where::near);
  EXPECT_EQ(memory.where(Address(0)), Where::null);
  EXPECT_EQ(memory.where(Address(16)), Where::null);
  EXPECT_EQ(memory.where(freed + 4095), Where::freed);
  EXPECT_EQ(memory.where(Address(0x5500'0000'0000)), Where::nowhere);
  memory.know_host([](Address address) { return address == 0x5500'0000'0000; });
  EXPECT_EQ(memory.where(Address(0x5500'0000'0000)), Where::host);
}

TEST(GlobalMemory, ARangeThatLeavesItsArrayIsNotFound) {
  GlobalMemory memory;
  const Address a = memory.allocate(256, "a");
  EXPECT_NE(memory.find(a, 256), nullptr);
  EXPECT_NE(memory.find(a + 256 - 4, 4), nullptr);
  EXPECT_NE(memory.find(a, 0), nullptr);
  constexpr uint64_t all = ~uint64_t{0};
  for (const uint64_t size : {uint64_t{257}, all, all - a, all - a + 1, all - a + 257})
    EXPECT_EQ(memory.find(a, size), nullptr) << size;
  EXPECT_EQ(memory.find(a + 16, all - 15), nullptr) << "as many bytes as there are, less 16";
  EXPECT_EQ(memory.find(a + 256, 0), nullptr);
  EXPECT_EQ(memory.find(Address(all), 8), nullptr);
}

TEST(GlobalMemory, ArraysComeAndGoInAnyOrder) {
  GlobalMemory memory;
  std::vector<uint8_t> bytes(64);
  const auto base = [](uint64_t i) { return Address(0x10000 + 64 * (i * 7919 % 1000)); };
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_TRUE(memory.bind_at(base(i), bytes, "x"));
  EXPECT_FALSE(memory.bind_at(base(5) + 63, bytes, "x"));
  for (uint64_t i = 0; i < 1000; i += 2) memory.release(base(i));
  memory.index();
  EXPECT_EQ(memory.lookup(Address(0xffff)), nullptr);
  EXPECT_EQ(memory.lookup(Address(0x10000 + 64 * 1000)), nullptr);
  EXPECT_EQ(memory.lookup(base(1))->base, base(1));
  memory.release(base(1));
  EXPECT_EQ(memory.lookup(base(1)), nullptr) << "the index is not that of before";
  ASSERT_TRUE(memory.bind_at(base(1), bytes, "x"));
  EXPECT_NE(memory.lookup(base(1)), nullptr);
  memory.index();
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(memory.lookup(base(i) + 63) != nullptr, i % 2 == 1) << i;
    EXPECT_EQ(memory.where(base(i)), i % 2 == 1 ? GlobalMemory::Where::inside : GlobalMemory::Where::freed);
  }
  Address last;
  memory.for_each([&](const Allocation& a) { EXPECT_LT(std::exchange(last, a.base), a.base); });
}

TEST(GlobalMemory, ItSaysWhatAnAddressIs) {
  GlobalMemory memory;
  const Address kept = memory.allocate(64, "kept"), freed = memory.allocate(4096, "old");
  memory.release(freed);
  EXPECT_EQ(memory.describe(Address(0)), say<Phrase::null_address>());
  EXPECT_EQ(memory.describe(Address(8)), say<Phrase::near_null>(8));
  EXPECT_EQ(memory.describe(freed + 8), say<Phrase::in_freed_array>(freed + 8, 8, "old", 4096));
  EXPECT_EQ(memory.describe(kept + 68), say<Phrase::past_array>(kept + 68, 4, "kept", 64));
  const Address nowhere(0x5500'0000'0000);
  EXPECT_EQ(memory.describe(nowhere), say<Phrase::at_no_array>(nowhere));
}

}  // namespace
}  // namespace palladion::sim
