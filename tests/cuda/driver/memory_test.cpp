// Memory through the driver API: virtual memory, pools, managed memory, allocations of graphs.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

constexpr size_t mega = 1 << 20;

class Memory : public Driver {
 protected:
  Status fill(Pointer p, unsigned value, size_t words) { return call("cuMemsetD32_v2", p, value, words); }
  uint32_t word(Pointer p) {
    uint32_t value = 0;
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), p, size_t{4}), success);
    return value;
  }
  void* created(size_t bytes) {
    void* handle = nullptr;
    EXPECT_EQ(call("cuMemCreate", &handle, bytes, &properties_, uint64_t{0}), success);
    return handle;
  }
  Status access(Pointer p, size_t bytes, int flags) {
    const AccessDescriptor a{{1, 0}, flags};
    return call("cuMemSetAccess", p, bytes, &a, size_t{1});
  }
  size_t free_bytes() {
    size_t free = 0, total = 0;
    EXPECT_EQ(call("cuMemGetInfo_v2", &free, &total), success);
    return free;
  }
  const AllocationProperties properties_{
      .type = 1, .handle_types = 0, .location = {1, 0}, .win32 = nullptr, .flags = {}};
};

constexpr const char* store_at_the_end = R"(
.version 8.7
.target sm_90
.address_size 64
.visible .entry store(.param .u64 p) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, 77;
  st.global.u32 [%rd1], %r1;
  ret;
})";

TEST_F(Memory, created_memory_is_seen_at_each_address_where_it_is_mapped) {
  size_t unit = 0;
  ASSERT_EQ(call("cuMemGetAllocationGranularity", &unit, &properties_, 0), success);
  const size_t before = free_bytes();
  Pointer p = 0;
  ASSERT_EQ(call("cuMemAddressReserve", &p, 4 * unit, size_t{0}, Pointer{0}, uint64_t{0}), success);
  void *const a = created(unit), *const b = created(unit);
  EXPECT_EQ(before - free_bytes(), 2 * unit);
  const auto map = [&](Pointer at, void* memory) {
    return call("cuMemMap", at, unit, size_t{0}, memory, uint64_t{0});
  };
  EXPECT_EQ(map(p, a), success);
  EXPECT_EQ(map(p + unit, b), success);
  EXPECT_EQ(map(p + unit, b), already_mapped);
  EXPECT_EQ(map(p + 2 * unit, a), success) << "a second time";
  EXPECT_EQ(fill(p, 1, 1), invalid_value) << "without access";
  ASSERT_EQ(access(p, 3 * unit, 3), success);
  EXPECT_EQ(fill(p, 5, 2 * unit / 4), success) << "across both";
  EXPECT_EQ(word(p + 2 * unit), 5U);

  Pointer last = p + 2 * unit - 4;
  void* params[] = {&last};
  EXPECT_EQ(launch(kernel(store_at_the_end, "store"), 1, 1, params), success);
  EXPECT_EQ(word(last), 77U);

  EXPECT_EQ(call("cuMemRelease", a), success);
  EXPECT_EQ(call("cuMemRelease", b), success);
  EXPECT_EQ(before - free_bytes(), 2 * unit) << "mappings keep it";
  EXPECT_EQ(call("cuMemAddressFree", p, 4 * unit), invalid_value) << "mapped";
  EXPECT_EQ(call("cuMemUnmap", p, 3 * unit), success);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(fill(p, 1, 1), invalid_value);
  EXPECT_EQ(call("cuMemAddressFree", p, 4 * unit), success);
}

TEST_F(Memory, a_kernel_cannot_reach_mapped_memory_without_access) {
  Pointer p = 0;
  ASSERT_EQ(call("cuMemAddressReserve", &p, 2 * mega, size_t{0}, Pointer{0}, uint64_t{0}), success);
  ASSERT_EQ(call("cuMemMap", p, 2 * mega, size_t{0}, created(2 * mega), uint64_t{0}), success);
  void* params[] = {&p};
  EXPECT_EQ(launch(kernel(store_at_the_end, "store"), 1, 1, params), success);
  EXPECT_EQ(call("cuCtxSynchronize"), illegal_address);
}

TEST_F(Memory, a_pool_counts_what_it_gives_and_keeps) {
  void* pool = nullptr;
  PoolProperties properties{};
  properties.type = 1;
  properties.location = {1, 0};
  properties.most_bytes = 3 * mega;
  ASSERT_EQ(call("cuMemPoolCreate", &pool, static_cast<const PoolProperties*>(&properties)), success);
  const auto number = [&](int attribute) {
    uint64_t value = ~0ULL;
    EXPECT_EQ(call("cuMemPoolGetAttribute", pool, attribute, static_cast<void*>(&value)), success);
    return value;
  };
  uint64_t threshold = 1 * mega;
  EXPECT_EQ(call("cuMemPoolSetAttribute", pool, 4, static_cast<void*>(&threshold)), success);
  Pointer p = 0, q = 0;
  void* const stream = nullptr;
  ASSERT_EQ(call("cuMemAllocFromPoolAsync", &p, 2 * mega, pool, stream), success);
  EXPECT_EQ(call("cuMemAllocFromPoolAsync", &q, 2 * mega, pool, stream), out_of_memory);
  EXPECT_EQ(number(7), 2 * mega);
  EXPECT_EQ(call("cuMemFreeAsync", p, stream), success);
  EXPECT_EQ(number(7), 0U);
  EXPECT_EQ(number(8), 2 * mega) << "at most";
  EXPECT_EQ(number(5), 2 * mega) << "still kept";
  EXPECT_EQ(call("cuStreamSynchronize", stream), success);
  EXPECT_EQ(number(5), 1 * mega) << "the threshold";
  EXPECT_EQ(call("cuMemPoolTrimTo", pool, size_t{0}), success);
  EXPECT_EQ(number(5), 0U);
  EXPECT_EQ(call("cuMemPoolDestroy", pool), success);
  EXPECT_EQ(call("cuMemAllocFromPoolAsync", &q, mega, pool, stream), invalid_value);
  properties.handle_types = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cuMemPoolCreate", &pool, static_cast<const PoolProperties*>(&properties)), not_supported);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("other processes"), std::string::npos);
}

TEST_F(Memory, advice_is_told_for_the_range_that_has_it) {
  Pointer p = 0;
  ASSERT_EQ(call("cuMemAllocManaged", &p, 4 * mega, 1U), success);
  const auto asked = [&](int attribute, Pointer at, size_t bytes) {
    int value = 99;
    EXPECT_EQ(call("cuMemRangeGetAttribute", static_cast<void*>(&value), sizeof value, attribute, at, bytes),
              success);
    return value;
  };
  EXPECT_EQ(asked(2, p, 4 * mega), -2) << "no preferred location";
  EXPECT_EQ(call("cuMemAdvise_v2", p, mega, 1, MemLocation{1, 0}), success);
  EXPECT_EQ(asked(1, p, mega), 1);
  EXPECT_EQ(asked(1, p, 2 * mega), 0) << "not all of it";
  EXPECT_EQ(call("cuMemAdvise_v2", p, 4 * mega, 3, MemLocation{2, 0}), success);
  EXPECT_EQ(asked(2, p + mega, mega), -1) << "the host";
  EXPECT_EQ(call("cuMemPrefetchAsync_v2", p, 4 * mega, MemLocation{1, 0}, 0U, static_cast<void*>(nullptr)),
            success);
  EXPECT_EQ(asked(4, p, 4 * mega), 0) << "the device";
  EXPECT_EQ(call("cuMemPrefetchAsync_v2", p, 5 * mega, MemLocation{1, 0}, 0U, static_cast<void*>(nullptr)),
            invalid_value);
  EXPECT_EQ(call("cuMemAdvise_v2", memory(64), size_t{64}, 1, MemLocation{1, 0}), invalid_value)
      << "not managed";
}

TEST_F(Memory, the_host_reaches_a_managed_variable_at_the_devices_address) {
  const char* const text =
      ".version 8.7\n.target sm_90\n.address_size 64\n"
      ".global .attribute(.managed) .align 4 .u32 shared = 5;\n.global .u32 own;\n";
  void* library = nullptr;
  int* const none = nullptr;
  void** const nothing = nullptr;
  ASSERT_EQ(call("cuLibraryLoadData", &library, static_cast<const void*>(text), none, nothing, 0U,
                 static_cast<void*>(nullptr), nothing, 0U),
            success);
  Pointer p = 0, again = 0;
  size_t bytes = 0;
  ASSERT_EQ(call("cuLibraryGetManaged", &p, &bytes, library, "shared"), success);
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(p), 5U);
  EXPECT_EQ(call("cuLibraryGetGlobal", &again, &bytes, library, "shared"), success);
  EXPECT_EQ(p, again);
  EXPECT_EQ(call("cuLibraryGetManaged", &p, &bytes, library, "own"), not_found);
}

TEST_F(Memory, a_graphs_allocation_lives_from_its_node_to_its_free) {
  void *graph = nullptr, *exec = nullptr, *alloc = nullptr, *set = nullptr, *free = nullptr;
  ASSERT_EQ(call("cuGraphCreate", &graph, 0U), success);
  MemAllocNode a{};
  a.pool.type = 1;
  a.pool.location = {1, 0};
  a.bytes = mega;
  void** const none = nullptr;
  ASSERT_EQ(call("cuGraphAddMemAllocNode", &alloc, graph, none, size_t{0}, &a), success);
  ASSERT_NE(a.address, 0U);
  EXPECT_EQ(fill(a.address, 1, 1), invalid_value) << "not launched yet";
  const MemsetNode m{
      .dst = a.address, .pitch = 0, .value = 9, .element_bytes = 4, .width = mega / 4, .height = 1};
  ASSERT_EQ(call("cuGraphAddMemsetNode", &set, graph, &alloc, size_t{1}, &m, static_cast<void*>(nullptr)),
            success);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0}), success);
  void* const stream = nullptr;
  EXPECT_EQ(call("cuGraphLaunch", exec, stream), success);
  EXPECT_EQ(word(a.address), 9U) << "it outlives the launch";
  EXPECT_EQ(call("cuGraphLaunch", exec, stream), invalid_value) << "not freed";
  EXPECT_EQ(call("cuMemFree_v2", a.address), success);
  EXPECT_EQ(call("cuGraphExecDestroy", exec), success);
  ASSERT_EQ(call("cuGraphAddMemFreeNode", &free, graph, &set, size_t{1}, a.address), success);
  ASSERT_EQ(call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0}), success);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(call("cuGraphLaunch", exec, stream), success);
  EXPECT_EQ(fill(a.address, 1, 1), invalid_value) << "freed by the graph";
  uint64_t high = 0, used = 1;
  EXPECT_EQ(call("cuDeviceGetGraphMemAttribute", 0, 1, static_cast<void*>(&high)), success);
  EXPECT_EQ(call("cuDeviceGetGraphMemAttribute", 0, 0, static_cast<void*>(&used)), success);
  EXPECT_EQ(high, mega);
  EXPECT_EQ(used, 0U);
  EXPECT_EQ(call("cuGraphExecDestroy", exec), success);
  EXPECT_EQ(call("cuGraphDestroy", graph), success);
}

}  // namespace
