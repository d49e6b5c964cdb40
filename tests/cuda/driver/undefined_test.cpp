// Device memory that nothing has written: what reads it is found where a result depends on it, and its right
// twin is clean.
#include <gtest/gtest.h>

#include "tests/cuda/driver/order_program.h"

namespace palladion::cuda::driver {
namespace {

using P = OrderProgram;

// Thread i has elements i of a and b in %rd5 and %rd6.
std::string undefined_kernels() {
  const std::string load = "ld.global.u32 %r2, [%rd5];\n", store = "st.global.u32 [%rd6], %r2;\n";
  std::string text = order_kernels();
  text += order_kernel("copy", load + store);
  text += order_kernel("mask", load + "and.b32 %r2, %r2, 0;\n" + store);
  text += order_kernel("first_half", load + "setp.lt.u32 %p2, %r1, 32;\n@%p2 " + store);
  text += order_kernel(
      "scatter", load + "add.u32 %r2, %r2, %r1;\nmul.wide.u32 %rd7, %r2, 4;\nadd.u64 %rd7, %rd2, %rd7;\n" +
                     "st.global.u32 [%rd7], %r1;\n");
  text += order_kernel("vectors",  // of 16 bytes
                       "setp.gt.u32 %p2, %r1, 15;\n@%p2 bra over;\nmul.wide.u32 %rd7, %r1, 16;\n"
                       "add.u64 %rd8, %rd1, %rd7;\nadd.u64 %rd9, %rd2, %rd7;\n"
                       "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd8];\n"
                       "st.global.v4.u32 [%rd9], {%r2, %r3, %r4, %r5};\nover:");
  text += order_kernel("scratch",  // a[63 - i] behind a barrier
                       "st.global.u32 [%rd5], %r1;\nbar.sync 0;\nmul.wide.u32 %rd7, %r1, 4;\n"
                       "sub.u64 %rd7, %rd1, %rd7;\nld.global.u32 %r2, [%rd7+252];\n" +
                           store);
  text += order_kernel("lock",
                       "@%p1 bra over;\nagain:\natom.global.cas.b32 %r2, [%rd1], 0, 1;\n"
                       "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra again;\nst.global.u32 [%rd2], %r1;\nover:");
  return text;
}

Pointer raw(P& p, size_t bytes = P::bytes) {
  Pointer a = 0;
  p.call("cuMemAlloc_v2", &a, bytes);
  return a;
}
void take(P& p, Pointer from, size_t bytes = P::bytes) {
  uint32_t values[256];
  p.call("cuMemcpyDtoH_v2", static_cast<void*>(values), from, bytes);
}
void fill_all(P& p, Pointer a, size_t bytes = P::bytes) { p.fill(a, 0, nullptr, bytes); }
void run_and_take(P& p, const char* kernel, Pointer a) {
  const Pointer b = raw(p);
  fill_all(p, b);
  p.launch(kernel, nullptr, a, b);
  take(p, b);
}

struct Mistake {
  const char* name;
  const char* found;  // in the wrong twin's output
  void (*program)(P&);
};

constexpr const char *read_error = "error[PLD7007]", *copied_error = "error[PLD7008]",
                     *copied_strict = "strict[PLD7008]";

const Mistake mistakes[] = {
    {"AKernelReadsNewMemory", copied_error,
     [](P& p) {
       const Pointer a = raw(p);
       if (!p.wrong) fill_all(p, a);
       run_and_take(p, "consume", a);
     }},
    {"ElementsAreCountedAsBytes", copied_error,
     [](P& p) {
       const Pointer a = raw(p);
       uint32_t values[64] = {};
       p.call("cuMemcpyHtoD_v2", a, static_cast<const void*>(values), p.wrong ? size_t{64} : sizeof values);
       run_and_take(p, "consume", a);
     }},
    {"ACounterIsNotSetToZero", copied_error,
     [](P& p) {
       const Pointer a = raw(p, 4);
       if (!p.wrong) fill_all(p, a, 4);
       p.launch("count", nullptr, a);
       take(p, a, 4);
     }},
    {"ASumIsNotSetToZero", copied_error,
     [](P& p) {
       const Pointer a = raw(p, 4);
       if (!p.wrong) fill_all(p, a, 4);
       p.launch("count_plainly", nullptr, a);
       take(p, a, 4);
     }},
    {"ACopyTakesNewMemory", copied_error,
     [](P& p) {
       const Pointer a = raw(p);
       if (!p.wrong) p.launch("produce", nullptr, a);
       take(p, a);
     }},
    {"ACopyTakesMoreThanWasWritten", copied_strict,
     [](P& p) {
       const Pointer a = raw(p, 2 * P::bytes);
       p.launch("produce", nullptr, a);
       take(p, a, p.wrong ? 2 * P::bytes : P::bytes);
     }},
    {"ACopyOnTheDeviceWritesNothing", copied_error,
     [](P& p) {
       const Pointer a = raw(p), b = raw(p);
       if (!p.wrong) fill_all(p, a);
       p.copy(b, a, nullptr);
       take(p, b);
     }},
    {"ACopyOverwritesWithNewMemory", copied_error,
     [](P& p) {
       const Pointer a = raw(p), b = raw(p);
       fill_all(p, b);
       p.copy(p.wrong ? b : a, p.wrong ? a : b, nullptr);
       take(p, b);
     }},
    {"FreedMemoryIsAllocatedAgain", copied_error,
     [](P& p) {
       Pointer a = raw(p);
       fill_all(p, a);
       if (p.wrong) {
         p.call("cuMemFree_v2", a);
         a = raw(p);
       }
       run_and_take(p, "consume", a);
     }},
    {"MemoryOfAPool", copied_error,
     [](P& p) {
       Pointer a = 0;
       void* const s = p.stream();
       p.call("cuMemAllocAsync", &a, P::bytes, s);
       if (!p.wrong) p.fill(a, 3, s);
       p.synchronize(s);
       run_and_take(p, "consume", a);
     }},
    {"MappedMemory", copied_error,
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
       if (!p.wrong) fill_all(p, a);
       run_and_take(p, "consume", a);
     }},
    {"ARowIsNotFilled", copied_error,
     [](P& p) {
       const Pointer a = raw(p);
       p.call("cuMemsetD2D32_v2", a, size_t{32}, 0U, size_t{8}, p.wrong ? size_t{7} : size_t{8});
       run_and_take(p, "consume", a);
     }},
    {"AnIndexIsNotWritten", read_error,
     [](P& p) {
       const Pointer a = raw(p);
       if (!p.wrong) fill_all(p, a);
       run_and_take(p, "scatter", a);
     }},
    {"ALockIsNotWritten", read_error,
     [](P& p) {
       const Pointer a = raw(p);
       if (!p.wrong) fill_all(p, a);
       run_and_take(p, "lock", a);
     }},
    {"ResultsGoToPinnedMemory", read_error,
     [](P& p) {
       const Pointer a = raw(p);
       if (!p.wrong) fill_all(p, a);
       p.launch("consume", nullptr, a, reinterpret_cast<Pointer>(p.pinned()));
     }},
    {"ResultsPassThroughASecondKernel", copied_error,
     [](P& p) {
       const Pointer a = raw(p), b = raw(p);
       if (!p.wrong) fill_all(p, a);
       p.launch("consume", nullptr, a, b);
       run_and_take(p, "consume", b);
     }},
    {"TheFillOfAGraphIsMissing", copied_error,
     [](P& p) {
       void *graph = nullptr, *exec = nullptr, *const s = p.stream();
       const Pointer a = raw(p), b = raw(p);
       p.call("cuStreamBeginCapture_v2", s, 0);
       if (!p.wrong) p.fill(a, 1, s);
       p.launch("consume", s, a, b);
       p.call("cuStreamEndCapture", s, &graph);
       p.call("cuGraphInstantiateWithFlags", &exec, graph, uint64_t{0});
       p.call("cuGraphLaunch", exec, s);
       p.synchronize(s);
       take(p, b);
     }},
    // What is read, and does not matter, is in the right twins.
    {"ValuesAreMasked", copied_error, [](P& p) { run_and_take(p, p.wrong ? "consume" : "mask", raw(p)); }},
    {"ValuesAreNotStored", copied_error,
     [](P& p) {
       const Pointer a = raw(p);
       p.fill(a, 1, nullptr, P::bytes / 2);
       run_and_take(p, p.wrong ? "copy" : "first_half", a);
     }},
    {"VectorsHavePadding", copied_error,  // the last 4 bytes of 16
     [](P& p) {
       const Pointer a = raw(p), b = raw(p);
       if (!p.wrong) p.call("cuMemsetD2D32_v2", a, size_t{16}, 1U, size_t{3}, size_t{16});
       p.launch("vectors", nullptr, a, b);
       take(p, b);
     }},
    {"RowsHavePadding", copied_error,
     [](P& p) {
       const Pointer a = raw(p), b = raw(p);
       p.call("cuMemsetD2D32_v2", a, size_t{32}, 1U, p.wrong ? size_t{0} : size_t{5}, size_t{8});
       p.copy(b, a, nullptr);  // with the padding
       uint32_t here[64];
       Memcpy2D c{};
       c.src_type = 2, c.dst_type = 1;  // device, host
       c.src_device = b, c.dst_host = here;
       c.src_pitch = c.dst_pitch = 32;
       c.width = 20, c.height = 8;
       p.call("cuMemcpy2D_v2", static_cast<const Memcpy2D*>(&c));
     }},
    {"AKernelWritesBeforeItReads", copied_error,
     [](P& p) { run_and_take(p, p.wrong ? "consume" : "scratch", raw(p)); }},
    {"NobodyTakesTheResults", copied_error,
     [](P& p) {
       const Pointer a = raw(p), b = raw(p);
       p.launch("mask", nullptr, a, b);
       if (p.wrong) p.launch("copy", nullptr, a, b);
       take(p, b);
     }},
    {"TheHostWritesManagedMemory", copied_error,
     [](P& p) {
       volatile uint32_t* const shared = p.managed();
       for (int i = 0; i < 64; ++i) shared[i] = 7;
       run_and_take(p, "consume", p.wrong ? raw(p) : reinterpret_cast<Pointer>(shared));
     }},
};

std::string name_of_mistake(const ::testing::TestParamInfo<Mistake>& info) { return info.param.name; }

class Undefined : public ::testing::TestWithParam<Mistake> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(driver_folder + "/libcuda.so.1"))
      GTEST_SKIP() << "NOT TESTED: this build has no libcuda.so.1";
  }
  static std::string output(bool wrong, const char* settings) {
    const auto with_kernels = [](P& p) {
      const std::string text = undefined_kernels();
      p.call("cuModuleLoadData", &p.module, static_cast<const void*>(text.c_str()));
      GetParam().program(p);
      p.synchronize();
    };
    return output_of(with_kernels, wrong, settings);
  }
};

TEST_P(Undefined, IsRight) {
  for (const char* settings : {"v1;check=memory;quiet=1", "v1;check=memory,race;quiet=1"})
    EXPECT_EQ(output(false, settings), "") << settings;
}

TEST_P(Undefined, IsWrong) {
  const std::string text = output(true, "v1;check=memory;quiet=1");
  EXPECT_NE(text.find(GetParam().found), std::string::npos) << text;
  EXPECT_NE(text.find("called at "), std::string::npos) << text;
  EXPECT_EQ(text.find("UNEXPECTED"), std::string::npos) << text;
}

TEST_P(Undefined, IsNotLookedForWithoutTheCheckOfMemory) {
  EXPECT_EQ(output(true, "v1;quiet=1").find("PLD700"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Programs, Undefined, ::testing::ValuesIn(mistakes), name_of_mistake);

}  // namespace
}  // namespace palladion::cuda::driver
