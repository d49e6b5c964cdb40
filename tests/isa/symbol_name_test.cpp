// Symbols as people read them.
#include "isa/core/symbol_name.h"

#include <gtest/gtest.h>

namespace palladion::isa {
namespace {

TEST(symbol_name, a_symbol_of_cpp_is_its_name) {
  EXPECT_EQ(readable_name("_Z1kPfS_"), "k");
  EXPECT_EQ(readable_name("_ZN2ns4gemmIiLi3EEEvPT_"), "ns::gemm<int, 3>") << "without result and parameters";
  EXPECT_EQ(readable_name("_ZZ1kPKiiPiE4ring"), "k::ring") << "a variable of a function";
  EXPECT_EQ(readable_name("_ZN12_GLOBAL__N_11kEv"), "(anonymous namespace)::k");
  EXPECT_EQ(readable_name("_ZNK1SclEi"), "S::operator()");
  EXPECT_EQ(readable_name("_ZN1SltERKS_"), "S::operator<");
  EXPECT_EQ(readable_name("_ZZ1kPiENKUlvE_clEv"), "k::{lambda()#1}::operator()");
}

TEST(symbol_name, nvccs_namespace_of_a_file_is_left_out) {
  EXPECT_EQ(readable_name("_ZN40_INTERNAL_7cc3460c_18_09_sub_cu_5ef640883fooEv"), "foo");
}

TEST(symbol_name, long_arguments_of_templates_are_left_out) {
  EXPECT_EQ(
      readable_name("_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEEvvvEEEE"
                    "vNT_6ParamsE"),
      "cutlass::device_kernel<...>");
}

TEST(symbol_name, any_other_name_stays) {
  for (const char* name : {"", "gemm", "_Z", "_Zx", "tile_smem", "Zebra"})
    EXPECT_EQ(readable_name(name), name);
}

}  // namespace
}  // namespace palladion::isa
