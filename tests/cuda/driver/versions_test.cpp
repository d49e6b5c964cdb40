// Functions by name, in the version that the program was built with.
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

struct Row {
  std::string_view name;
  std::array<int, 4> since;
};
constexpr Row rows[] = {
#include "cuda/driver/modules/entry_versions.inc"
};

class Versions : public Driver {
 protected:
  void* function(const std::string& name, int version, int expected = 0) {
    void* f = nullptr;
    int status = -1;
    EXPECT_EQ(call("cuGetProcAddress_v2", name.c_str(), &f, version, uint64_t{0}, &status), success) << name;
    EXPECT_EQ(status, expected) << name << " " << version;
    return f;
  }
};

TEST_F(Versions, a_program_gets_the_function_of_its_toolkit) {
  for (const auto& [name, since] : rows) {
    constexpr int insufficient = 2;
    EXPECT_EQ(function(std::string(name), since[0] - 1, insufficient), nullptr) << name;
    for (size_t i = 0; i < since.size() && since[i] != 0; ++i) {
      const std::string exported = std::string(name) + (i != 0 ? "_v" + std::to_string(i + 1) : "");
      void* const ours = dlsym(library_, exported.c_str());
      EXPECT_NE(ours, nullptr) << exported;
      EXPECT_EQ(function(std::string(name), since[i]), ours) << exported;
      const bool last = i + 1 == since.size() || since[i + 1] == 0;
      EXPECT_EQ(function(std::string(name), last ? 13020 : since[i + 1] - 1), ours) << exported;
    }
  }
}

TEST_F(Versions, are_those_of_the_toolkit) {
  if (toolkit().empty()) GTEST_SKIP() << "NOT TESTED: no CUDA toolkit on this host";
  std::stringstream text;
  text << std::ifstream(toolkit() + "/include/cudaTypedefs.h").rdbuf();
  const std::string header = text.str();
  std::map<std::string, std::set<int>, std::less<>> theirs;
  // Of the functions for per-thread streams, the version is their own.
  const std::regex type(R"(\*PFN_(cu\w+?)_v(\d+)\))");
  for (std::sregex_iterator at(header.begin(), header.end(), type), end; at != end; ++at)
    theirs[(*at)[1]].insert(std::stoi((*at)[2]));
  std::erase_if(theirs, [](const auto& t) { return t.second.size() < 2; });
  for (const auto& [name, since] : rows) {
    const auto known = theirs.find(name);
    if (known == theirs.end()) continue;  // of an older toolkit
    const std::set<int> ours(since.begin(), std::ranges::find(since, 0));
    EXPECT_TRUE(std::ranges::includes(ours, known->second)) << name;
    theirs.erase(known);
  }
  for (const auto& [name, versions] : theirs)
    EXPECT_GT(*versions.rbegin(), 13000) << name << ": not in entry_versions.inc";
}

// What bindings call that ask for each function as it was first.
TEST_F(Versions, first_versions_do_what_those_of_today_do) {
  Pointer p = 0;
  ASSERT_EQ(call("cuMemAllocManaged", &p, size_t{4096}, 1U), success);
  EXPECT_EQ(call("cuMemAdvise", p, size_t{4096}, 3, -1), success) << "the host is preferred";
  EXPECT_EQ(call("cuMemPrefetchAsync", p, size_t{4096}, 0, static_cast<void*>(nullptr)), success);
  EXPECT_EQ(call("cuMemPrefetchAsync", p, size_t{4096}, 7, static_cast<void*>(nullptr)), invalid_device);
  int preferred = 7, prefetched = 7;
  for (auto [out, attribute] : {std::pair{&preferred, 2}, {&prefetched, 4}})
    EXPECT_EQ(
        call("cuMemRangeGetAttribute", static_cast<void*>(out), sizeof *out, attribute, p, size_t{4096}),
        success);
  EXPECT_EQ(preferred, -1);
  EXPECT_EQ(prefetched, 0);

  int device = -1;
  EXPECT_EQ(call("cuCtxGetDevice", &device), success);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(call("cuCtxSynchronize"), success);
}

TEST_F(Versions, kernel_nodes_without_a_kernel_handle_are_taken) {
  struct First {
    void* function;
    uint32_t grid[3], block[3], shared;
    void **params, **extra;
  };
  const std::string ptx = head + R"(
.visible .entry k(.param .u64 p) {
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [p];
  red.global.add.u32 [%rd1], 1;
  ret;
})";
  Pointer p = memory(4);
  ASSERT_EQ(call("cuMemsetD32_v2", p, 0U, size_t{1}), success);
  void *graph = nullptr, *node = nullptr, *exec = nullptr, *failed = nullptr;
  void* params[] = {&p};
  const First first{kernel(ptx.c_str(), "k"), {2, 1, 1}, {32, 1, 1}, 0, params, nullptr};
  ASSERT_EQ(call("cuGraphCreate", &graph, 0U), success);
  void** const none = nullptr;
  ASSERT_EQ(call("cuGraphAddKernelNode", &node, graph, none, size_t{0}, &first), success);
  First got{};
  EXPECT_EQ(call("cuGraphKernelNodeGetParams", node, &got), success);
  EXPECT_EQ(got.grid[0], 2U);
  size_t count = 7;
  EXPECT_EQ(call("cuGraphGetEdges", graph, none, none, &count), success);
  EXPECT_EQ(count, 0U);
  char log[8] = "before";
  ASSERT_EQ(call("cuGraphInstantiate_v2", &exec, graph, &failed, static_cast<char*>(log), sizeof log),
            success);
  EXPECT_EQ(log[0], '\0');
  EXPECT_EQ(call("cuGraphLaunch", exec, static_cast<void*>(nullptr)), success);
  uint32_t value = 0;
  EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), p, size_t{4}), success);
  EXPECT_EQ(value, 64U);
  EXPECT_EQ(call("cuGraphExecDestroy", exec), success);
  EXPECT_EQ(call("cuGraphDestroy", graph), success);
}

}  // namespace
