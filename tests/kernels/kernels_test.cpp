// The kernels in the machine: small shapes, several settings, every schedule; and in ptxas at their defaults.
#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

class KernelTest : public testing::TestWithParam<Case> {};
TEST_P(KernelTest, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, KernelTest,
    testing::Values(
        Case{"vector_add", {{"n", "4096"}}, {}},
        Case{"vector_add", {{"n", "2048"}}, {{"dtype", "bf16"}, {"tile", "256"}}},
        Case{"vector_add", {{"n", "1280"}}, {{"dtype", "s32"}, {"tile", "128"}}},
        Case{"iota", {{"n", "4096"}}, {}}, Case{"iota", {{"n", "1536"}}, {{"dtype", "f32"}, {"tile", "384"}}},
        Case{"iota", {{"n", "40"}}, {{"tile", "1"}}},
        Case{"iota", {{"n", "512"}}, {{"dtype", "f16"}, {"tile", "128"}}},
        Case{"transpose",
             {{"m", "128"}, {"n", "192"}},
             {{"variant", "plain"}, {"tile_m", "32"}, {"tile_n", "32"}}},
        Case{"transpose", {{"m", "64"}, {"n", "128"}}, {{"variant", "plain"}}},
        Case{"transpose", {{"m", "96"}, {"n", "160"}}, {{"variant", "plain"}}},
        Case{"transpose",
             {{"m", "128"}, {"n", "192"}},
             {{"variant", "swizzled"}, {"tile_m", "32"}, {"tile_n", "32"}}},
        Case{"transpose", {{"m", "128"}, {"n", "192"}}, {{"variant", "swizzled"}}},
        Case{"transpose",
             {{"m", "96"}, {"n", "160"}},
             {{"variant", "swizzled"}, {"tile_m", "64"}, {"tile_n", "128"}}},
        Case{"transpose", {{"m", "128"}, {"n", "192"}}, {}},
        Case{"transpose", {{"m", "96"}, {"n", "160"}}, {{"tile_m", "64"}, {"tile_n", "128"}}},
        Case{"transpose", {{"m", "256"}, {"n", "320"}}, {{"ctas", "3"}, {"stages", "2"}, {"band", "2"}}},
        Case{"transpose",
             {{"m", "256"}, {"n", "64"}},
             {{"tile_m", "32"}, {"tile_n", "32"}, {"ctas", "5"}, {"stages", "3"}}},
        Case{"matmul_pipelined", {{"m", "128"}, {"n", "128"}, {"k", "512"}}, {}},
        Case{"matmul_pipelined",
             {{"m", "192"}, {"n", "256"}, {"k", "192"}},
             {{"tile_m", "64"}, {"stages", "3"}, {"dtype", "bf16"}, {"out_dtype", "bf16"}}},
        Case{"matmul_pipelined",
             {{"m", "64"}, {"n", "96"}, {"k", "320"}},
             {{"tile_m", "64"}, {"tile_n", "32"}, {"tile_k", "32"}, {"stages", "2"}, {"out_dtype", "f32"}}},
        Case{"matmul_pipelined", {{"m", "128"}, {"n", "64"}, {"k", "64"}}, {{"tile_n", "64"}}},
        Case{"matmul_blockspec", {{"m", "128"}, {"n", "128"}, {"k", "512"}}, {}},
        Case{"matmul_blockspec",
             {{"m", "192"}, {"n", "256"}, {"k", "192"}},
             {{"tile_m", "64"},
              {"stages", "3"},
              {"dtype", "bf16"},
              {"out_dtype", "bf16"},
              {"activation", "relu"}}},
        Case{"matmul_blockspec",
             {{"m", "64"}, {"n", "96"}, {"k", "320"}},
             {{"tile_m", "64"},
              {"tile_n", "32"},
              {"tile_k", "32"},
              {"stages", "2"},
              {"out_dtype", "f32"},
              {"activation", "gelu"}}},
        Case{"matmul_blockspec", {{"m", "128"}, {"n", "64"}, {"k", "64"}}, {{"tile_n", "64"}}}),
    name_of_param);

class AssemblyTest : public testing::TestWithParam<Case> {};
TEST_P(AssemblyTest, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, AssemblyTest,
    testing::Values(Case{"vector_add", {}, {}}, Case{"iota", {}, {}}, Case{"transpose", {}, {}},
                    Case{"transpose", {}, {{"variant", "plain"}}},
                    Case{"transpose", {}, {{"variant", "swizzled"}}},
                    Case{"transpose", {}, {{"ctas", "264"}, {"stages", "2"}}},
                    Case{"matmul_pipelined", {}, {}},
                    Case{"matmul_pipelined", {}, {{"dtype", "bf16"}, {"out_dtype", "f32"}, {"tile_m", "64"}}},
                    Case{"matmul_blockspec", {}, {}},
                    Case{"matmul_blockspec", {}, {{"activation", "gelu"}, {"tile_n", "64"}}}),
    name_of_param);

}  // namespace
}  // namespace palladion::kernels::test
