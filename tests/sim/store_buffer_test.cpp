// What a cluster sees of GMEM while its stores wait, against a memory that is written at once.
#include <gtest/gtest.h>

#include <random>

#include "sim/machine/state/global_memory.h"
#include "sim/machine/state/store_buffer.h"

namespace palladion::sim {
namespace {

struct Fixture {
  explicit Fixture(size_t misaligned) : host(5000 + misaligned), expected(5000) {
    for (size_t i = 0; i < expected.size(); ++i)
      host[misaligned + i] = expected[i] = static_cast<uint8_t>(i * 7);
    base = gmem.bind(std::span(host).subspan(misaligned), "array");
  }
  uint8_t* at(size_t offset) { return gmem.find(base + offset, 1); }

  GlobalMemory gmem;
  std::vector<uint8_t> host, expected;
  Address base;
};

TEST(StoreBuffer, SeesItsOwnStoresAndGmemOtherwise) {
  std::mt19937 random(1);
  for (const size_t misaligned : {0, 1, 8}) {
    Fixture f(misaligned);
    const std::vector<uint8_t> before = f.host;
    StoreBuffer stores;
    for (int step = 0; step < 20'000; ++step) {
      const size_t size = 1U << random() % 6, offset = random() % (5000 / size) * size;
      uint8_t bytes[32], copy[32];
      for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
      if (random() % 4 == 0) {
        std::memcpy(stores.take(f.gmem, f.base + offset, f.at(offset), size), bytes, size);
        std::memcpy(&f.expected[offset], bytes, size);
      }
      const uint8_t* const seen = sim::seen(f.gmem, stores, f.base + offset, size, copy);
      ASSERT_EQ(std::memcmp(seen, &f.expected[offset], size), 0) << step;
    }
    EXPECT_EQ(f.host, before);
    for (size_t i = 0; i < stores.chunks(); ++i) stores.perform(i);
    EXPECT_EQ(std::memcmp(f.at(0), f.expected.data(), f.expected.size()), 0);
    stores.clear();
    EXPECT_TRUE(stores.empty());
    EXPECT_FALSE(stores.touches(f.base));
  }
}

TEST(StoreBuffer, WritesAndReadsAcrossChunks) {
  std::mt19937 random(2);
  Fixture f(3);
  StoreBuffer stores;
  for (int step = 0; step < 500; ++step) {
    const size_t offset = random() % 4000, size = 1 + random() % 1000;
    std::vector<uint8_t> bytes(size), copy(size);
    for (uint8_t& b : bytes) b = static_cast<uint8_t>(random());
    if (step % 3 == 0) {
      stores.write(f.gmem, f.base + offset, f.at(offset), bytes.data(), size);
      std::memcpy(&f.expected[offset], bytes.data(), size);
    }
    const size_t from = random() % 4000;
    const uint8_t* const seen = sim::seen(f.gmem, stores, f.base + from, size, copy.data());
    ASSERT_EQ(std::memcmp(seen, &f.expected[from], size), 0) << step;
  }
}

TEST(StoreBuffer, OtherArraysAreNotLookedAt) {
  Fixture f(0);
  const Address other = f.gmem.allocate(256, "other");
  StoreBuffer stores;
  *stores.take(f.gmem, f.base, f.at(0), 1) = 1;
  EXPECT_TRUE(stores.touches(f.base + 4999));
  EXPECT_FALSE(stores.touches(other));
  uint8_t copy[4];
  EXPECT_EQ(sim::seen(f.gmem, stores, other, 4, copy), f.gmem.find(other, 4));
  EXPECT_EQ(sim::seen(f.gmem, stores, other + 254, 4, copy), nullptr) << "out of bounds";
}

TEST(StoreBuffer, IsFullOfWhatIsCounted) {
  StoreBuffer stores;
  stores.count(StoreBuffer::most_bytes - 1);
  EXPECT_FALSE(stores.full());
  stores.count(1);
  EXPECT_TRUE(stores.full());
  EXPECT_TRUE(stores.empty()) << "a run without values takes no chunk";
  stores.clear();
  EXPECT_FALSE(stores.full());
}

}  // namespace
}  // namespace palladion::sim
