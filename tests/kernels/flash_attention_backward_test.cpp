// Gradients of attention: rows that no tile divides, heads that share K and V, both kinds of CTAs, under a
// mask; the host's own gradients against differences of its outputs.
#include <cmath>
#include <numeric>

#include "kernels/frame/attention_gradients.h"
#include "kernels/frame/reference.h"
#include "kernels/hopper/flash_attention.h"
#include "kernels/hopper/flash_attention_backward.h"
#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

Case gradients(std::map<std::string, std::string> sizes, std::map<std::string, std::string> settings = {}) {
  for (const char* const heads : {"heads", "kv_heads"}) sizes.try_emplace(heads, "1");
  return {"flash_attention_backward", std::move(sizes), std::move(settings)};
}

class AttentionBackward : public testing::TestWithParam<Case> {};
TEST_P(AttentionBackward, AgreesWithItsReferenceUnderEverySchedule) { run_everywhere(GetParam()); }
TEST_P(AttentionBackward, IsDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, AttentionBackward,
    testing::Values(
        gradients({{"heads", "2"}, {"q", "264"}, {"kv", "200"}}),
        gradients({{"batch", "2"}, {"q", "136"}, {"kv", "328"}}, {{"causal", "1"}, {"dtype", "bf16"}}),
        gradients({{"q", "200"}, {"kv", "400"}, {"head_dim", "64"}}, {{"dtype", "bf16"}}),
        gradients({{"heads", "3"}, {"q", "320"}, {"kv", "320"}, {"head_dim", "64"}}, {{"causal", "1"}}),
        // One row that sees all but seven; steps shorter than what a CTA holds.
        gradients({{"q", "8"}, {"kv", "8"}}, {{"causal", "1"}}),
        gradients({{"q", "256"}, {"kv", "256"}},
                  {{"causal", "1"}, {"stages", "3"}, {"block_q", "16"}, {"block_kv", "48"}})),
    name_of_param);

class AttentionBackwardAssembly : public testing::TestWithParam<Case> {};
TEST_P(AttentionBackwardAssembly, NeedsNoSpills) { assemble_without_spills(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Kernels, AttentionBackwardAssembly,
                         testing::Values(gradients({}), gradients({}, {{"causal", "1"}}),
                                         gradients({{"head_dim", "64"}}, {{"dtype", "bf16"}}),
                                         gradients({{"head_dim", "64"}}, {{"causal", "1"}}),
                                         gradients({{"heads", "4"}}, {{"causal", "1"}, {"dtype", "bf16"}})),
                         name_of_param);

TEST(AttentionBackward, SaysWhichSizesItCannotTake) {
  const auto rule = [](const FlashAttentionBackward& c) {
    return broken_rule([&] { return flash_attention_backward(c); });
  };
  EXPECT_EQ(rule({.batch = 0}), "flash_attention_backward: batch must be at least 1");
  EXPECT_EQ(rule({.kv_heads = 3}), "flash_attention_backward: kv_heads=3 does not divide heads=16");
  EXPECT_EQ(rule({.head_dim = 256}), "flash_attention_backward: head_dim=256 must be 64 or 128");
  EXPECT_EQ(rule({.q = 100}),
            "flash_attention_backward: q=100 and kv=4096 must be multiples of 8: rows of a tile in shared "
            "memory");
  EXPECT_EQ(rule({.q = 256, .kv = 128, .causal = true}),
            "flash_attention_backward: causal with q=256 rows needs as many of kv=128");
  EXPECT_EQ(rule({.block_q = 24}), "flash_attention_backward: block_q=24 must be a multiple of 16 up to 256");
  EXPECT_EQ(rule({.block_kv = 272}),
            "flash_attention_backward: block_kv=272 must be a multiple of 16 up to 256");
  EXPECT_EQ(rule({.stages = 1}), "flash_attention_backward: stages must be at least 2");
}

// Scores of zero: every weight is 1 / kv, so that each row of dV is the sum of dO over kv, and without a
// difference between dP and its mean dQ and dK are zero.
TEST(AttentionBackward, SharesGradientsOfEqualWeights) {
  const FlashAttentionBackward c{.heads = 1, .kv_heads = 1, .q = 16, .kv = 32, .head_dim = 64};
  const std::vector<double> zeros(size_t(32 * 64)), ones(size_t(32 * 64), 1);
  std::vector<double> d_out(size_t(16 * 64));
  for (size_t i = 0; i < d_out.size(); ++i) d_out[i] = static_cast<double>(i % 64) / 8;
  double row_sum = 0;  // of dO times O, which is 1 everywhere
  for (size_t j = 0; j < 64; ++j) row_sum += d_out[j];
  const SimOutcome out =
      run_clean(flash_attention_backward(c),
                {array_of(c.q_type(), {zeros.begin(), zeros.begin() + 16 * 64}), array_of(c.kv_type(), zeros),
                 array_of(c.kv_type(), ones), array_of(c.q_type(), d_out),
                 array_of(c.row_type(), std::vector<double>(16, std::log(32))),
                 array_of(c.row_type(), std::vector<double>(16, row_sum))});
  const std::vector<double> dv = to_doubles(out.outputs[2]);
  for (size_t i = 0; i < dv.size(); ++i) EXPECT_NEAR(dv[i], d_out[i % 64] / 2, 0.005) << i;
  for (const size_t which : {0, 1})
    for (const double x : to_doubles(out.outputs[which])) EXPECT_EQ(x, 0);
}

// What the gradients need of the forward pass, of rows that see one column and of rows behind the last tile.
TEST(AttentionForward, GivesTheLogSumExpOfEachRow) {
  for (const bool causal : {false, true}) {
    const FlashAttention c{.batch = 2, .heads = 2, .kv_heads = 1, .q = 136, .kv = 136, .causal = causal};
    const std::vector<Array> in = normal_inputs({c.q_type(), c.kv_type(), c.kv_type()}, 7);
    FlashAttention with_lse = c;
    with_lse.lse = true;
    const SimOutcome out = run_clean(flash_attention(with_lse), in);
    const std::vector<double> lse = to_doubles(out.outputs.at(1)),
                              wanted =
                                  to_doubles(attention_rows(in[0], in[1], in[2], in[0], causal, true).lse);
    ASSERT_EQ(lse.size(), wanted.size());
    for (size_t i = 0; i < lse.size(); ++i) EXPECT_NEAR(lse[i], wanted[i], 1e-5) << i;
    EXPECT_TRUE(compare(out.outputs[0], run_clean(flash_attention(c), in).outputs[0]).bits_equal);
  }
}

// d(sum of dO * O) / dx, of an element of Q, of K and of V.
void expect_differences_of_outputs(bool causal, bool heads_first) {
  SCOPED_TRACE(causal ? "causal" : "not causal");
  SCOPED_TRACE(heads_first ? "heads before rows" : "rows before heads");
  const auto type = [&](int64_t heads, int64_t rows) {
    return pl::ShapeDtype{pl::f32, heads_first ? pl::Shape{2, heads, rows, 8} : pl::Shape{2, rows, heads, 8}};
  };
  std::vector<Array> in = attention_gradient_inputs(type(4, 24), type(2, 40), causal, heads_first, 5);
  const std::vector<Array> gradients = attention_gradients(in, causal, heads_first);
  const auto loss = [&] {
    const std::vector<double> o = to_doubles(attention_reference(in[0], in[1], in[2], causal, heads_first)),
                              d_out = to_doubles(in[3]);
    return std::inner_product(o.begin(), o.end(), d_out.begin(), 0.0);
  };
  for (size_t which = 0; which < 3; ++which) {
    for (const size_t i : {0, 77, 501}) {
      std::vector<double> values = to_doubles(in[which]);
      const double x = values[i], step = 1.0 / 64;
      const auto at = [&](double value) {
        values[i] = value;
        in[which] = array_of(in[which].type, values);
        return loss();
      };
      const double slope = (at(x + step) - at(x - step)) / (2 * step);
      at(x);
      EXPECT_NEAR(to_doubles(gradients[which])[i], slope, 2e-3) << which << " " << i;
    }
  }
}
TEST(AttentionGradients, AreDifferencesOfOutputs) {
  for (const bool causal : {false, true})
    for (const bool heads_first : {false, true}) expect_differences_of_outputs(causal, heads_first);
}

}  // namespace
}  // namespace palladion::kernels::test
