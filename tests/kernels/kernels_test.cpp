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

INSTANTIATE_TEST_SUITE_P(
    Memory, KernelTest,
    testing::Values(
        Case{"stream_copy", {{"n", "24576"}}, {{"tile", "8"}, {"ctas", "3"}, {"stages", "3"}}},
        Case{"stream_copy", {{"n", "8192"}}, {{"ctas", "2"}, {"stages", "2"}}},
        Case{"stream_copy", {{"n", "4096"}}, {{"tile", "1"}, {"ctas", "5"}}},
        Case{"stream_copy", {{"n", "24576"}}, {{"variant", "plain"}, {"ctas", "0"}}},
        Case{"stream_copy", {{"n", "24576"}}, {{"variant", "plain"}, {"tile", "4"}, {"ctas", "5"}}},
        Case{"reduce_sum", {{"n", "65536"}}, {{"ctas", "3"}}},
        Case{"reduce_sum", {{"n", "2048"}}, {{"dtype", "s32"}, {"tile", "256"}}},
        Case{"histogram", {{"n", "16384"}}, {{"ctas", "3"}}},
        Case{"histogram", {{"n", "8192"}}, {{"dtype", "f32"}, {"bins", "1024"}, {"tile", "256"}}},
        Case{"softmax", {{"m", "6"}, {"n", "256"}}, {}},
        Case{"softmax", {{"m", "8"}, {"n", "1024"}}, {{"dtype", "f16"}, {"rows", "4"}}},
        Case{"softmax", {{"m", "2"}, {"n", "8192"}}, {{"dtype", "bf16"}}},
        Case{"rms_norm", {{"m", "11"}, {"n", "512"}}, {{"ctas", "3"}, {"stages", "2"}}},
        Case{"rms_norm", {{"m", "5"}, {"n", "1024"}}, {{"dtype", "f32"}, {"ctas", "2"}}},
        Case{"softmax", {{"m", "3"}, {"n", "257"}}, {{"dtype", "bf16"}}},
        Case{"softmax", {{"m", "3"}, {"n", "1"}}, {}},
        Case{"rms_norm", {{"m", "3"}, {"n", "128"}}, {{"dtype", "f16"}, {"ctas", "264"}}},
        Case{"rms_norm", {{"m", "3"}, {"n", "128"}}, {{"dtype", "f16"}}},
        Case{"rms_norm", {{"m", "3"}, {"n", "1"}}, {{"dtype", "f32"}}},
        Case{"rms_norm", {{"m", "5"}, {"n", "2051"}}, {}}),
    name_of_param);

INSTANTIATE_TEST_SUITE_P(
    Cooperation, KernelTest,
    testing::Values(
        Case{"cluster_exchange", {{"clusters", "3"}, {"n", "256"}}, {{"rounds", "3"}}},
        Case{"cluster_exchange", {{"clusters", "2"}, {"n", "128"}}, {{"cluster", "4"}, {"rounds", "2"}}},
        Case{"cluster_exchange",
             {{"clusters", "2"}, {"n", "512"}},
             {{"variant", "store"}, {"cluster", "4"}, {"rounds", "3"}}},
        Case{"cluster_exchange", {{"clusters", "1"}, {"n", "128"}}, {{"variant", "store"}, {"rounds", "4"}}},
        Case{"matmul_split_k", {{"m", "128"}, {"n", "256"}, {"k", "1024"}}, {{"splits", "4"}}},
        Case{"matmul_split_k",
             {{"m", "128"}, {"n", "128"}, {"k", "768"}},
             {{"splits", "3"}, {"tile_m", "64"}, {"tile_n", "64"}, {"stages", "2"}, {"ctas", "5"}}},
        Case{"matmul_split_k",
             {{"m", "64"}, {"n", "64"}, {"k", "256"}},
             {{"splits", "1"}, {"dtype", "bf16"}, {"tile_m", "64"}, {"tile_n", "64"}}},
        Case{"matmul_ws",
             {{"m", "256"}, {"n", "256"}, {"k", "512"}},
             {{"dtype", "s8"}, {"out_dtype", "s32"}, {"tile_m", "128"}, {"stages", "3"}}}),
    name_of_param);

// Blackwell's matmul, step by step: square, and with sizes of which no two are equal.
INSTANTIATE_TEST_SUITE_P(
    Blackwell, KernelTest,
    testing::Values(
        Case{"blackwell_matmul_basic", {{"m", "256"}, {"n", "128"}, {"k", "192"}}, {}},
        Case{"blackwell_matmul_basic",
             {{"m", "128"}, {"n", "64"}, {"k", "64"}},
             {{"tile_m", "64"}, {"tile_n", "64"}, {"stages", "2"}, {"dtype", "bf16"}, {"out_dtype", "f32"}}},
        Case{"blackwell_matmul_warp_specialized", {{"m", "128"}, {"n", "256"}, {"k", "448"}}, {}},
        Case{
            "blackwell_matmul_tiled_epilogue", {{"m", "128"}, {"n", "256"}, {"k", "320"}}, {{"stages", "3"}}},
        Case{"blackwell_matmul_two_cta", {{"m", "512"}, {"n", "256"}, {"k", "320"}}, {{"out_dtype", "bf16"}}},
        Case{"blackwell_matmul_persistent", {{"m", "512"}, {"n", "768"}, {"k", "192"}}, {{"clusters", "2"}}},
        Case{"blackwell_matmul_epilogue_warpgroup",
             {{"m", "512"}, {"n", "768"}, {"k", "192"}},
             {{"clusters", "1"}}},
        Case{"blackwell_matmul_grid_tiling",
             {{"m", "768"}, {"n", "512"}, {"k", "128"}},
             {{"clusters", "2"}, {"minor_dim", "1"}, {"tile_width", "2"}, {"stages", "2"}}},
        Case{"blackwell_ragged_dot",
             {{"m", "512"}, {"n", "512"}, {"k", "128"}, {"groups", "3"}},
             {{"clusters", "2"}}},
        Case{"blackwell_ragged_dot",
             {{"m", "768"}, {"n", "256"}, {"k", "192"}, {"groups", "7"}},
             {{"clusters", "3"}, {"stages", "3"}, {"dtype", "bf16"}, {"out_dtype", "f32"}}},
        Case{"blackwell_ragged_dot",
             {{"m", "256"}, {"n", "256"}, {"k", "64"}, {"groups", "1"}},
             {{"clusters", "1"}, {"stages", "2"}}},
        Case{"blackwell_matmul_dynamic",
             {{"m", "768"}, {"n", "768"}, {"k", "128"}},
             {{"tile_width", "2"}, {"stages", "3"}}},
        Case{"blackwell_matmul_fp8", {{"m", "512"}, {"n", "512"}, {"k", "512"}}, {}},
        Case{"blackwell_matmul_fp8",
             {{"m", "768"}, {"n", "512"}, {"k", "384"}},
             {{"dtype", "e5m2"}, {"out_dtype", "f32"}, {"clusters", "2"}, {"stages", "2"}}},
        Case{"blackwell_matmul_int8", {{"m", "512"}, {"n", "512"}, {"k", "512"}}, {}},
        Case{"blackwell_matmul_int8",
             {{"m", "768"}, {"n", "512"}, {"k", "384"}},
             {{"dtype", "u8"}, {"clusters", "2"}, {"minor_dim", "1"}, {"stages", "3"}}}),
    name_of_param);

// Rows that tiles do not divide, shared heads of K and V, each number of consumers; a row that sees one
// column.
INSTANTIATE_TEST_SUITE_P(
    AttentionOnHopper, KernelTest,
    testing::Values(
        Case{"flash_attention", {{"heads", "2"}, {"kv_heads", "1"}, {"q", "136"}, {"kv", "360"}}, {}},
        Case{"flash_attention",
             {{"batch", "2"}, {"heads", "2"}, {"kv_heads", "2"}, {"q", "264"}, {"kv", "328"}},
             {{"causal", "1"}, {"dtype", "bf16"}}},
        Case{"flash_attention",
             {{"heads", "1"}, {"kv_heads", "1"}, {"q", "8"}, {"kv", "8"}},
             {{"causal", "1"}}},
        Case{"flash_attention",
             {{"heads", "1"}, {"kv_heads", "1"}, {"q", "200"}, {"kv", "400"}, {"head_dim", "64"}},
             {}},
        Case{"flash_attention",
             {{"heads", "3"}, {"kv_heads", "1"}, {"q", "192"}, {"kv", "192"}, {"head_dim", "64"}},
             {{"causal", "1"}, {"consumers", "3"}, {"block_kv", "112"}, {"stages", "3"}}},
        Case{"flash_attention",
             {{"heads", "1"}, {"kv_heads", "1"}, {"q", "128"}, {"kv", "168"}, {"head_dim", "256"}},
             {{"causal", "1"}}},
        Case{"flash_attention",
             {{"heads", "1"}, {"kv_heads", "1"}, {"q", "64"}, {"kv", "200"}},
             {{"consumers", "1"}, {"stages", "1"}, {"block_kv", "48"}}}),
    name_of_param);

INSTANTIATE_TEST_SUITE_P(
    Attention, KernelTest,
    testing::Values(Case{"blackwell_flash_attention",
                         {{"batch", "1"}, {"heads", "1"}, {"kv_heads", "1"}, {"q", "256"}, {"kv", "128"}},
                         {}},
                    Case{"blackwell_flash_attention",
                         {{"batch", "2"}, {"heads", "2"}, {"kv_heads", "2"}, {"q", "256"}, {"kv", "256"}},
                         {}},
                    Case{"blackwell_flash_attention",
                         {{"batch", "1"}, {"heads", "1"}, {"kv_heads", "1"}, {"q", "256"}, {"kv", "896"}},
                         {{"dtype", "bf16"}}},
                    Case{"blackwell_flash_attention",
                         {{"batch", "2"}, {"heads", "2"}, {"kv_heads", "1"}, {"q", "256"}, {"kv", "640"}},
                         {{"head_dim", "64"}, {"dtype", "bf16"}, {"stages", "3"}}},
                    Case{"blackwell_flash_attention",
                         {{"batch", "1"}, {"heads", "2"}, {"kv_heads", "2"}, {"q", "512"}, {"kv", "512"}},
                         {{"causal", "1"}}},
                    Case{"blackwell_flash_attention",
                         {{"batch", "1"}, {"heads", "3"}, {"kv_heads", "1"}, {"q", "256"}, {"kv", "384"}},
                         {{"causal", "1"}, {"head_dim", "64"}, {"dtype", "bf16"}}}),
    name_of_param);

INSTANTIATE_TEST_SUITE_P(
    AttentionBackward, KernelTest,
    testing::Values(Case{"blackwell_flash_attention_backward",
                         {{"batch", "1"}, {"heads", "1"}, {"kv_heads", "1"}, {"q", "128"}, {"kv", "128"}},
                         {}},
                    Case{"blackwell_flash_attention_backward",
                         {{"batch", "2"}, {"heads", "2"}, {"kv_heads", "1"}, {"q", "128"}, {"kv", "384"}},
                         {{"head_dim", "64"}, {"dtype", "bf16"}, {"stages", "3"}}},
                    Case{"blackwell_flash_attention_backward",
                         {{"batch", "2"}, {"heads", "2"}, {"kv_heads", "2"}, {"q", "384"}, {"kv", "384"}},
                         {{"causal", "1"}}},
                    Case{"blackwell_flash_attention_backward",
                         {{"batch", "1"}, {"heads", "3"}, {"kv_heads", "1"}, {"q", "256"}, {"kv", "512"}},
                         {{"causal", "1"}, {"head_dim", "64"}, {"dtype", "bf16"}}}),
    name_of_param);

// Scales of blocks, a sparse operand: one CTA and pairs, several tiles of unequal numbers.
INSTANTIATE_TEST_SUITE_P(
    BlackwellSideOperands, KernelTest,
    testing::Values(
        Case{"blackwell_matmul_mxfp8", {{"m", "512"}, {"n", "512"}, {"k", "512"}}, {}},
        Case{"blackwell_matmul_mxfp8",
             {{"m", "256"}, {"n", "384"}, {"k", "640"}},
             {{"ctas", "1"}, {"a_dtype", "e5m2"}, {"stages", "3"}, {"out_dtype", "f32"}}},
        Case{"blackwell_matmul_nvfp4", {{"m", "512"}, {"n", "256"}, {"k", "1536"}}, {{"stages", "2"}}},
        Case{"blackwell_matmul_nvfp4",
             {{"m", "128"}, {"n", "512"}, {"k", "768"}},
             {{"ctas", "1"}, {"tile_n", "256"}, {"stages", "2"}, {"out_dtype", "f16"}}},
        Case{"blackwell_matmul_sparse", {{"m", "512"}, {"n", "512"}, {"k", "512"}}, {}},
        Case{"blackwell_matmul_sparse",
             {{"m", "256"}, {"n", "192"}, {"k", "640"}},
             {{"ctas", "1"}, {"tile_n", "64"}, {"dtype", "bf16"}, {"stages", "2"}}},
        Case{"blackwell_matmul_sparse",
             {{"m", "256"}, {"n", "256"}, {"k", "768"}},
             {{"dtype", "e4m3"}, {"tile_k", "256"}, {"out_dtype", "f32"}}}),
    name_of_param);

class AssemblyTest : public testing::TestWithParam<Case> {};
TEST_P(AssemblyTest, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, AssemblyTest,
    testing::Values(
        Case{"vector_add", {}, {}}, Case{"iota", {}, {}}, Case{"transpose", {}, {}},
        Case{"transpose", {}, {{"variant", "plain"}}}, Case{"transpose", {}, {{"variant", "swizzled"}}},
        Case{"transpose", {}, {{"ctas", "264"}, {"stages", "2"}}}, Case{"matmul_pipelined", {}, {}},
        Case{"matmul_pipelined", {}, {{"dtype", "bf16"}, {"out_dtype", "f32"}, {"tile_m", "64"}}},
        Case{"matmul_blockspec", {}, {}},
        Case{"matmul_blockspec", {}, {{"activation", "gelu"}, {"tile_n", "64"}}}, Case{"stream_copy", {}, {}},
        Case{"stream_copy", {}, {{"variant", "plain"}}}, Case{"reduce_sum", {}, {}},
        Case{"histogram", {}, {}}, Case{"softmax", {}, {}},
        Case{"softmax", {{"n", "8192"}}, {{"dtype", "f16"}}}, Case{"rms_norm", {}, {}},
        Case{"rms_norm", {}, {{"ctas", "264"}}}, Case{"cluster_exchange", {}, {}},
        Case{"cluster_exchange", {}, {{"variant", "store"}, {"cluster", "4"}}},
        Case{"matmul_split_k", {}, {}},
        Case{"matmul_ws", {}, {{"dtype", "s8"}, {"out_dtype", "s32"}, {"stages", "3"}}},
        Case{"flash_attention", {}, {}}, Case{"flash_attention", {}, {{"causal", "1"}}},
        Case{"flash_attention", {}, {{"dtype", "bf16"}, {"causal", "1"}}},
        Case{"flash_attention", {{"head_dim", "64"}}, {}},
        Case{"flash_attention", {{"head_dim", "64"}}, {{"causal", "1"}}},
        Case{"flash_attention", {{"head_dim", "256"}}, {}},
        Case{"flash_attention", {{"head_dim", "256"}}, {{"causal", "1"}}},
        Case{"blackwell_matmul_basic", {}, {}}, Case{"blackwell_matmul_warp_specialized", {}, {}},
        Case{"blackwell_matmul_tiled_epilogue", {}, {}}, Case{"blackwell_matmul_two_cta", {}, {}},
        Case{"blackwell_matmul_persistent", {}, {}}, Case{"blackwell_matmul_epilogue_warpgroup", {}, {}},
        Case{"blackwell_matmul_grid_tiling", {}, {}}, Case{"blackwell_matmul_dynamic", {}, {}},
        Case{"blackwell_ragged_dot", {}, {}}, Case{"blackwell_matmul_fp8", {}, {}},
        Case{"blackwell_matmul_fp8", {}, {{"dtype", "e5m2"}, {"out_dtype", "f32"}}},
        Case{"blackwell_matmul_int8", {}, {}}, Case{"blackwell_flash_attention", {}, {}},
        Case{"blackwell_flash_attention", {}, {{"causal", "1"}, {"dtype", "bf16"}}},
        Case{"blackwell_flash_attention", {}, {{"head_dim", "64"}, {"causal", "1"}}},
        Case{"blackwell_flash_attention_backward", {}, {}},
        Case{"blackwell_flash_attention_backward", {}, {{"causal", "1"}, {"dtype", "bf16"}}},
        Case{"blackwell_flash_attention_backward", {}, {{"head_dim", "64"}, {"causal", "1"}}},
        Case{"blackwell_matmul_mxfp8", {}, {}},
        Case{"blackwell_matmul_mxfp8", {}, {{"ctas", "1"}, {"a_dtype", "e5m2"}}},
        Case{"blackwell_matmul_nvfp4", {}, {}}, Case{"blackwell_matmul_nvfp4", {}, {{"ctas", "1"}}},
        Case{"blackwell_matmul_sparse", {}, {}},
        Case{"blackwell_matmul_sparse", {}, {{"ctas", "1"}, {"dtype", "e4m3"}}}),
    name_of_param);

// Blackwell's other chip.
class AssemblyForB300 : public testing::TestWithParam<Case> {};
TEST_P(AssemblyForB300, NeedsNoSpills) { assemble_without_spills(GetParam(), "b300"); }
INSTANTIATE_TEST_SUITE_P(Kernels, AssemblyForB300,
                         testing::Values(Case{"blackwell_matmul_grid_tiling", {}, {}},
                                         Case{"blackwell_matmul_fp8", {}, {}},
                                         Case{"blackwell_flash_attention", {}, {{"causal", "1"}}},
                                         Case{"blackwell_matmul_mxfp8", {}, {}},
                                         Case{"blackwell_matmul_nvfp4", {}, {}},
                                         Case{"blackwell_matmul_sparse", {}, {}}),
                         name_of_param);

// Sizes that a kernel cannot take are errors with the rule, while it is recorded.
TEST(FlashAttentionOnHopper, ImpossibleSizesAreRefused) {
  const KernelSpec& spec = *find_kernel("flash_attention");
  const auto refusal = [&](const std::map<std::string, std::string>& sizes,
                           const std::map<std::string, std::string>& settings) -> std::string {
    try {
      spec.build(choose(spec, sizes, settings));
    } catch (const isa::Error& e) {
      return e.diagnostics().front().message;
    }
    return "";
  };
  EXPECT_EQ(refusal({{"head_dim", "192"}}, {}), "flash_attention: head_dim=192 must be 64, 128 or 256");
  EXPECT_EQ(refusal({{"heads", "3"}, {"kv_heads", "2"}}, {}),
            "flash_attention: kv_heads=2 does not divide heads=3");
  EXPECT_EQ(refusal({{"q", "256"}, {"kv", "128"}}, {{"causal", "1"}}),
            "flash_attention: causal with q=256 rows needs as many of kv=128");
  EXPECT_EQ(refusal({{"kv", "20"}}, {}), "size `kv` cannot be 20; it can be multiples of 8");
  EXPECT_EQ(refusal({}, {{"consumers", "4"}}),
            "flash_attention: consumers=4 must be 1, 2 or 3: an SM has registers for three");
  EXPECT_EQ(refusal({}, {{"stages", "0"}}), "flash_attention: stages must be at least 1");
}

TEST(FlashAttentionBackward, ImpossibleSizesAreRefused) {
  const KernelSpec& spec = *find_kernel("blackwell_flash_attention_backward");
  const auto refusal = [&](const std::map<std::string, std::string>& sizes,
                           const std::map<std::string, std::string>& settings) -> std::string {
    try {
      spec.build(choose(spec, sizes, settings));
    } catch (const isa::Error& e) {
      return e.diagnostics().front().message;
    }
    return "";
  };
  const std::string name = "blackwell_flash_attention_backward: ";
  EXPECT_EQ(refusal({}, {{"head_dim", "96"}}), name + "head_dim=96 must be 64 or 128");
  EXPECT_EQ(refusal({{"heads", "3"}, {"kv_heads", "2"}}, {}),
            name + "heads=3 must be a multiple of kv_heads=2");
  EXPECT_EQ(refusal({{"q", "192"}}, {}), name + "q=192 must be a multiple of a tile=128");
  EXPECT_EQ(refusal({{"kv", "64"}}, {}), name + "kv=64 must be a multiple of a tile=128");
  EXPECT_EQ(refusal({{"q", "256"}, {"kv", "128"}}, {{"causal", "1"}}),
            name + "causal with q=256 rows needs as many of kv=128");
  EXPECT_EQ(refusal({}, {{"stages", "1"}}), name + "stages must be at least 2");
}

TEST(Int8, IsRefusedOnAB300) {
  const KernelSpec& spec = *find_kernel("blackwell_matmul_int8");
  try {
    spec.build(choose(spec, {}, {}, isa::find_arch("b300")));
    FAIL() << "no Error";
  } catch (const isa::Error& e) {
    EXPECT_THAT(e.what(), testing::HasSubstr("b300 (sm_103a) has no products of integers"));
  }
}

}  // namespace
}  // namespace palladion::kernels::test
