// The host uses addresses of device memory: named, and a segmentation fault as beside a GPU. Memory that the
// host shares with the device is its own.
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tests/cuda/driver/order_program.h"

namespace palladion::cuda::driver {
namespace {

using P = OrderProgram;

struct Fault {
  const char* name;
  const char* says;  // of the wrong twin; the right one uses memory that it shares
  void (*program)(P&);
};

Pointer device_or_pinned(P& p) { return p.wrong ? p.memory() : reinterpret_cast<Pointer>(p.pinned()); }
volatile uint32_t& word(Pointer p, size_t index = 0) {
  return reinterpret_cast<volatile uint32_t*>(p)[index];
}

const Fault faults[] = {
    {"Reads", "the host reads `device memory` byte 12", [](P& p) { p.see(word(device_or_pinned(p), 3), 0); }},
    {"Writes", "the host writes `device memory` byte 0", [](P& p) { word(device_or_pinned(p)) = 1; }},
    {"CopiesByTheCLibrary", "the host reads `device memory` byte ",
     [](P& p) {
       std::array<char, P::bytes> here{};
       std::memcpy(here.data(), reinterpret_cast<const void*>(device_or_pinned(p)), here.size());
       p.see(static_cast<uint32_t>(here[7]), 0);
     }},
    {"ReadsMemoryOfAPool", "the host reads `memory of a pool` byte 0",
     [](P& p) {
       Pointer a = reinterpret_cast<Pointer>(p.managed());
       if (p.wrong) p.call("cuMemAllocAsync", &a, P::bytes, p.stream());
       p.synchronize();
       p.see(word(a), 0);
     }},
    {"ReadsFreedMemory", "which was freed",
     [](P& p) {
       const Pointer a = device_or_pinned(p);
       if (p.wrong) p.call("cuMemFree_v2", a);
       p.see(word(a), 0);
     }},
    {"ReadsPastAnAllocation", "bytes past the end of `device memory`",
     [](P& p) { p.see(word(device_or_pinned(p), p.wrong ? 1024 : 63), 0); }},
    {"ReadsMappedMemory", "the host reads `mapped memory` byte 4",
     [](P& p) {
       constexpr size_t bytes = 2 << 20;
       const AllocationProperties properties{
           .type = 1, .handle_types = 0, .location = {1, 0}, .win32 = nullptr, .flags = {}};
       const AccessDescriptor access{{1, 0}, 3};
       void* memory = nullptr;
       Pointer a = 0;
       p.call("cuMemCreate", &memory, bytes, &properties, uint64_t{0});
       p.call("cuMemAddressReserve", &a, bytes, size_t{0}, Pointer{0}, uint64_t{0});
       p.call("cuMemMap", a, bytes, size_t{0}, memory, uint64_t{0});
       p.call("cuMemSetAccess", a, bytes, &access, size_t{1});
       p.fill(a, 7, nullptr);
       uint32_t seen = 0;
       p.call("cuMemcpyDtoH_v2", static_cast<void*>(&seen), a + 4, sizeof seen);
       p.see(p.wrong ? word(a, 1) : seen, 7);
     }},
    {"WritesRegisteredMemoryThatIsUnregistered", "",
     [](P& p) {
       alignas(4096) static std::array<uint32_t, 1024> mine{};
       p.call("cuMemHostRegister_v2", static_cast<void*>(mine.data()), sizeof mine, 0U);
       mine[5] = 1;
       p.call("cuMemHostUnregister", static_cast<void*>(mine.data()));
       mine[6] = 1;
     }},
};

std::string name_of_fault(const ::testing::TestParamInfo<Fault>& info) { return info.param.name; }

class HostFault : public ::testing::TestWithParam<Fault> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
      GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  }
};

TEST_P(HostFault, IsRight) {
  for (const char* settings : {"v1;quiet=1", "v1;check=race;quiet=1"})
    EXPECT_EQ(output_of(GetParam().program, false, settings), "") << settings;
}

TEST_P(HostFault, IsWrong) {
  if (*GetParam().says == '\0') return;  // has no wrong twin
  for (const char* settings : {"v1;quiet=1", "v1;check=race;quiet=1"}) {
    const std::string text = output_of(GetParam().program, true, settings);
    EXPECT_NE(text.find("error[PLD7009]"), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().says), std::string::npos) << text;
    EXPECT_NE(text.find("the host's access: called at "), std::string::npos) << text;
    EXPECT_NE(text.find("the program ended with status "), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, HostFault, ::testing::ValuesIn(faults), name_of_fault);

}  // namespace
}  // namespace palladion::cuda::driver
