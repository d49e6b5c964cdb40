// What an address is that lies outside of all arrays.
#include "sim/machine/state/global_memory.h"

#include <gtest/gtest.h>

namespace palladion::sim {
namespace {

using Where = GlobalMemory::Where;

TEST(GlobalMemory, AnAddressOutsideOfAllArraysIsKnownForWhatItIs) {
  GlobalMemory memory;
  const Address kept = memory.allocate(64, "kept"), freed = memory.allocate(4096, "freed");
  memory.release(freed);
  EXPECT_EQ(memory.where(kept + 63), Where::inside);
  EXPECT_EQ(memory.where(kept + 64), Where::near);
  EXPECT_EQ(memory.where(0), Where::null);
  EXPECT_EQ(memory.where(16), Where::null);
  EXPECT_EQ(memory.where(freed + 4095), Where::freed);
  EXPECT_EQ(memory.where(0x5500'0000'0000), Where::nowhere);
  memory.know_host([](Address address) { return address == 0x5500'0000'0000; });
  EXPECT_EQ(memory.where(0x5500'0000'0000), Where::host);
}

TEST(GlobalMemory, ItSaysWhatAnAddressIs) {
  GlobalMemory memory;
  const Address kept = memory.allocate(64, "kept"), freed = memory.allocate(4096, "old");
  memory.release(freed);
  EXPECT_EQ(memory.describe(0), "NULL");
  EXPECT_EQ(memory.describe(8), "NULL + 8");
  EXPECT_NE(memory.describe(freed + 8).find("byte 8 of `old` (4096 bytes), which was freed"),
            std::string::npos);
  EXPECT_NE(memory.describe(kept + 68).find("4 bytes past the end of `kept` (64 bytes)"), std::string::npos);
  EXPECT_EQ(memory.describe(0x5500'0000'0000), "0x550000000000, where no array is");
}

}  // namespace
}  // namespace palladion::sim
