// The machine's state is made of values: asynchronous operations, clusters, images of GMEM.
#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "sim/machine/state/cluster.h"
#include "sim/machine/state/global_memory.h"

namespace palladion::sim {
namespace {

static_assert(std::is_copy_constructible_v<AsyncOp> && std::is_copy_assignable_v<AsyncOp>);
static_assert(std::is_copy_constructible_v<ClusterState> && std::is_copy_assignable_v<ClusterState>);
static_assert(std::is_copy_constructible_v<MemoryImage> && std::is_copy_assignable_v<MemoryImage>);

AsyncOp operation(AsyncPayloads payload, uint16_t cta_rank, uint16_t warp) {
  AsyncOp op;
  op.payload = std::move(payload);
  op.cta_rank = CtaRank(cta_rank);
  op.warp = WarpOfCta(warp);
  return op;
}

LinearCopy linear(isa::Space from, isa::Space to) {
  LinearCopy copy;
  copy.source = {from, 0x1000};
  copy.target = {to, 0x2000};
  copy.bytes = 256;
  return copy;
}

TEST(AsyncOp, ProductsOfOneWarpgroupRunInOrder) {
  const AsyncOp first = operation(WarpgroupProduct{}, 0, 0), second = operation(WarpgroupProduct{}, 0, 3);
  EXPECT_TRUE(run_in_order(first, second, 4));
  EXPECT_FALSE(run_in_order(first, operation(WarpgroupProduct{}, 0, 4), 4));
  EXPECT_FALSE(run_in_order(first, operation(WarpgroupProduct{}, 1, 0), 4));
  EXPECT_FALSE(run_in_order(first, operation(LaneCopies{}, 0, 0), 4));
  EXPECT_FALSE(run_in_order(operation(LaneCopies{}, 0, 0), operation(LaneCopies{}, 0, 0), 4));
}

TEST(AsyncOp, TrafficIsToldByTheSpacesBetweenWhichItMoves) {
  using enum isa::Space;
  const Traffic load = operation(linear(global, shared_cta), 0, 0).traffic();
  EXPECT_TRUE(load.from_global());
  ASSERT_EQ(load.global.size(), 1u);
  EXPECT_EQ(load.global.front().address, 0x1000u);
  const Traffic store = operation(linear(shared_cta, global), 0, 0).traffic();
  EXPECT_TRUE(store.to_global());
  EXPECT_EQ(store.global.front().address, 0x2000u);
  const Traffic between = operation(linear(shared_cta, shared_cluster), 0, 0).traffic();
  EXPECT_TRUE(!between.from_global() && !between.to_global() && between.global.empty());
  WarpgroupProduct product;
  product.a_in_registers = true;
  EXPECT_TRUE(operation(product, 0, 0).traffic().from_registers());
}

TEST(AsyncOp, OnlyReductionsIntoGmemLandAtTheBoundary) {
  using enum isa::Space;
  LinearCopy copy = linear(shared_cta, global);
  EXPECT_FALSE(operation(copy, 0, 0).lands_at_boundary());
  copy.reduce = [](uint8_t*, const uint8_t*, size_t) {};
  EXPECT_TRUE(operation(copy, 0, 0).lands_at_boundary());
  copy.target.space = shared_cluster;
  EXPECT_FALSE(operation(copy, 0, 0).lands_at_boundary());
}

// What runs on does not change a copy: nothing in it refers to the original.
TEST(ClusterState, CopiesShareNothing) {
  ClusterState cluster;
  cluster.ctas.resize(1);
  cluster.ctas[0].warps.resize(1);
  cluster.ctas[0].warps[0].registers.assign(128, 1);
  cluster.pending.push_back(operation(linear(isa::Space::global, isa::Space::shared_cta), 0, 0));
  const ClusterState copy = cluster;
  cluster.ctas[0].warps[0].registers[5] = 9;
  std::get<LinearCopy>(cluster.pending.front().payload).bytes = 1;
  EXPECT_EQ(copy.ctas[0].warps[0].registers[5], 1);
  EXPECT_EQ(std::get<LinearCopy>(copy.pending.front().payload).bytes, 256u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(copy.ctas[0].warps[0].registers.data()) % 64, 0u);
}

TEST(GlobalMemory, BindsBytesAtAChosenAddress) {
  GlobalMemory memory;
  std::vector<uint8_t> low(4096, 1), high(4096, 2);
  const Address first = memory.allocate(4096, "first");
  ASSERT_TRUE(memory.bind_at(Address(0x7000'0000'0000), low, "low"));
  ASSERT_TRUE(memory.bind_at(first + (3 << 16), high, "high"));
  EXPECT_EQ(*memory.find(Address(0x7000'0000'0fff), 1), 1);
  EXPECT_EQ(*memory.find(first + (3 << 16), 1), 2);
  // Not where something is, not across it, not around the end of the address space.
  EXPECT_FALSE(memory.bind_at(Address(0x7000'0000'0fff), high, "overlaps"));
  EXPECT_FALSE(memory.bind_at(Address(0x6fff'ffff'f001), high, "overlaps"));
  EXPECT_FALSE(memory.bind_at(Address(~uint64_t{0} - 100), high, "wraps"));
  // Later allocations keep clear of it, with a guard gap on both sides.
  const Address large = memory.allocate(8 << 16, "large");
  EXPECT_GE(large, first + (3 << 16) + high.size() + (1 << 16));
  EXPECT_TRUE(memory.find(large, 8 << 16) != nullptr);
  memory.release(Address(0x7000'0000'0000));
  EXPECT_EQ(memory.find(Address(0x7000'0000'0000), 1), nullptr);
  EXPECT_TRUE(memory.bind_at(Address(0x7000'0000'0000), high, "again"));
}

TEST(MemoryImage, BringsAllBytesBack) {
  GlobalMemory memory;
  std::vector<uint8_t> own(10'000, 7);
  const Address a = memory.bind(own, "own"), b = memory.allocate(1 << 20, "sparse");
  *memory.find(b + 123'456, 1) = 42;
  const MemoryImage image = memory.image();
  own[0] = own[9'999] = 1;
  *memory.find(b + 123'456, 1) = 0;
  *memory.find(b, 1) = 5;
  EXPECT_FALSE(memory.image() == image);
  memory.restore(image);
  EXPECT_TRUE(memory.image() == image);
  EXPECT_EQ(own, std::vector<uint8_t>(10'000, 7));
  EXPECT_EQ(*memory.find(a, 1), 7);
  EXPECT_EQ(*memory.find(b, 1), 0);
  EXPECT_EQ(*memory.find(b + 123'456, 1), 42);
}

}  // namespace
}  // namespace palladion::sim
