// Machine code that carries its PTX, and PTX for newer chips.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "cuda/cubin/carried_ptx.h"
#include "tests/cuda/cubin/elf.h"
#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;
using palladion::cuda::cubin::carry;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Stores `%1`, after it has executed `%2`.
std::string stores(const std::string& target, const std::string& value, const std::string& more = "") {
  return ".version 9.0\n.target " + target + "\n.address_size 64\n.visible .entry k(.param .u64 p) {\n" +
         "  .reg .b64 %d<2>; .reg .b32 %r<4>;\n  ld.param.u64 %d1, [p];\n" + more + "  mov.b32 %r1, " +
         value + ";\n  st.global.u32 [%d1], %r1;\n  ret;\n}\n";
}

// A fatbin of one PTX entry.
std::string fatbin_of(uint32_t arch, const std::string& text) {
  std::string out;
  const auto put = [&](auto value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(uint32_t{0xBA55ED50}), put(uint16_t{1}), put(uint16_t{16}), put(uint64_t{64 + text.size()});
  put(uint16_t{1}), put(uint16_t{0x101}), put(uint32_t{64}), put(uint64_t{text.size()}), put(uint32_t{0});
  put(uint32_t{0}), put(uint16_t{0}), put(uint16_t{9}), put(arch), put(uint64_t{0}), put(uint64_t{0x11});
  put(uint64_t{0}), put(uint64_t{0});
  return out + text;
}

// The same with machine code that notes this many registers a thread of `k`, and carries no PTX.
std::string fatbin_with_code(uint32_t arch, const std::string& text, uint32_t registers) {
  using palladion::cuda::cubin::put;
  std::string symbols(24, '\0'), info, out = fatbin_of(arch, text);
  put<uint32_t>(symbols, 1);
  symbols.resize(48);
  put<uint32_t>(info, 0x0008'2f04);
  put<uint32_t>(info, 1);
  put(info, registers);
  const std::string code = palladion::cuda::cubin::elf_of(
      {{".nv.info", info}, {".symtab", symbols}, {".strtab", std::string("\0k\0", 3)}});
  std::string entry = fatbin_of(arch, code).substr(16);
  entry[0] = 2;  // machine code
  out += entry;
  const uint64_t bytes = out.size() - 16;
  out.replace(8, sizeof bytes, reinterpret_cast<const char*>(&bytes), sizeof bytes);
  return out;
}

class Cubins : public Driver {
 protected:
  uint32_t result_of(void* function) {
    Pointer p = memory(4);
    void* params[] = {&p};
    EXPECT_EQ(launch(function, 1, 1, params), success);
    uint32_t value = 0;
    EXPECT_EQ(call("cuMemcpyDtoH_v2", static_cast<void*>(&value), p, size_t{4}), success);
    return value;
  }
  Status load(const std::string& image) {
    void* module = nullptr;
    return call("cuModuleLoadData", &module, static_cast<const void*>(image.data()));
  }
  int attribute(void* function, int which) {
    int value = 0;
    EXPECT_EQ(call("cuFuncGetAttribute", &value, which, function), success);
    return value;
  }
  int ptx_version(void* function) { return attribute(function, 5); }
};

TEST_F(Cubins, OneThatCarriesItsPtxRuns) {
  EXPECT_EQ(result_of(kernel(carry(stores("sm_90a", "7")).c_str(), "k")), 7U);
}

TEST_F(Cubins, OneWithoutPtxIsNamedWithItsKernels) {
  std::string bare = carry(stores("sm_90a", "7"));
  bare.replace(bare.find(".nv_debug_ptx_txt"), 17, std::string(".text.only_code\0\0", 17));
  testing::internal::CaptureStderr();
  EXPECT_EQ(load(bare), no_binary_for_gpu);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("a module without PTX: machine code without its PTX: `only_code`"));
}

TEST_F(Cubins, BrokenOnesAreRefused) {
  const std::string whole = carry(stores("sm_90a", "7"));
  for (const size_t bytes : {size_t{64}, size_t{100}, whole.size() / 2}) {
    std::string cut = whole.substr(0, bytes);
    cut.resize(whole.size());  // what follows in memory
    testing::internal::CaptureStderr();
    EXPECT_EQ(load(cut), no_binary_for_gpu) << bytes;
    EXPECT_THAT(testing::internal::GetCapturedStderr(), AnyOf(HasSubstr("broken machine code"), "")) << bytes;
  }
}

// The header says that the file goes on where no memory is.
TEST_F(Cubins, OneThatEndsWithItsMemoryIsRefused) {
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  auto* const pages = static_cast<char*>(
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(pages + page, page, PROT_NONE), 0);
  std::string forged = carry(stores("sm_90a", "7"));
  for (const uint64_t sections : {uint64_t{5000}, uint64_t{1} << 40, ~uint64_t{0} - 100}) {
    std::memcpy(forged.data() + 40, &sections, sizeof sections);
    char* const image = pages + page - forged.size();
    std::memcpy(image, forged.data(), forged.size());
    void* module = nullptr;
    EXPECT_EQ(call("cuModuleLoadData", &module, static_cast<const void*>(image)), no_binary_for_gpu)
        << sections;
  }
}

TEST_F(Cubins, PtxOfANewerChipRunsWhereItUsesNothingNewer) {
  void* const k = kernel(fatbin_of(120, stores("sm_120", "9")).c_str(), "k");
  EXPECT_EQ(ptx_version(k), 120);
  EXPECT_EQ(result_of(k), 9U);
  const char* const newer = "  { .reg .b64 %w<3>; mov.b64 %w1, 0; add.rn.f32x2 %w2, %w1, %w1; }\n";
  testing::internal::CaptureStderr();
  EXPECT_EQ(load(fatbin_of(120, stores("sm_120", "9", newer))), invalid_ptx);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("`add` needs `.target sm_100`"));
  EXPECT_NE(load(fatbin_of(120, stores("sm_120a", "9"))), success) << "for one chip alone";
  EXPECT_EQ(load(stores("sm_120", "9")), invalid_ptx)
      << "what a program asks for by itself is as a driver has it";
}

TEST_F(Cubins, ThePtxVersionIsThatOfThePtx) {
  EXPECT_EQ(ptx_version(kernel(fatbin_of(75, stores("sm_75", "1")).c_str(), "k")), 75);
  EXPECT_EQ(ptx_version(kernel(carry(stores("sm_90a", "1")).c_str(), "k")), 90);
}

TEST_F(Cubins, RegistersThatPtxasCountedDecideWhatALaunchMayAsk) {
  void* const k = kernel(fatbin_with_code(90, stores("sm_90", "3"), 100).c_str(), "k");
  EXPECT_EQ(attribute(k, 4), 100);
  EXPECT_EQ(attribute(k, 0), 608) << "104 registers each, of 65,536";
  Pointer p = memory(4);
  void* params[] = {&p};
  EXPECT_EQ(launch(k, 1, 608, params), success);
  EXPECT_EQ(launch(k, 1, 640, params), launch_out_of_resources);
  EXPECT_LT(attribute(kernel(fatbin_with_code(80, stores("sm_80", "3"), 100).c_str(), "k"), 4), 100)
      << "machine code for another chip";
}

TEST_F(Cubins, TheLinkerTakesThemAndGivesOne) {
  const std::string user =
                        carry(head +
                              ".extern .global .align 4 .u32 base;\n.visible .entry k(.param .u64 p) {\n"
                              ".reg .b64 %d; .reg .b32 %r; ld.param.u64 %d, [p]; ld.global.u32 %r, [base];\n"
                              "st.global.u32 [%d], %r; ret; }\n"),
                    owner = carry(head + ".visible .global .align 4 .u32 base = 100;\n");
  void *link = nullptr, *image = nullptr;
  ASSERT_EQ(call("cuLinkCreate_v2", 0U, static_cast<int*>(nullptr), static_cast<void**>(nullptr), &link),
            success);
  for (const std::string& part : {user, owner})
    EXPECT_EQ(call("cuLinkAddData_v2", link, 0, const_cast<void*>(static_cast<const void*>(part.data())),
                   part.size(), "part", 0U, static_cast<int*>(nullptr), static_cast<void**>(nullptr)),
              success);
  size_t bytes = 0;
  ASSERT_EQ(call("cuLinkComplete", link, &image, &bytes), success);
  const std::string whole(static_cast<const char*>(image), bytes);
  EXPECT_THAT(whole, StartsWith("\177ELF"));
  EXPECT_EQ(call("cuLinkDestroy", link), success);
  EXPECT_EQ(result_of(kernel(whole.c_str(), "k")), 100U);
}

}  // namespace
