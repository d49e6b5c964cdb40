// PTX for sm_1x runs with the meaning that it has on a later chip: product and sum rounded once, subnormal
// numbers flushed, conversions of 64 bits not (PTX 1.4).
#include <bit>
#include <cmath>

#include "tests/sim/ptx_runner.h"

namespace palladion::sim {
namespace {

// out[0] = a * b + c, out[1] = a + 0, out[2] = b * 0.5, out[3] = c as 64 bits and back
constexpr const char* old_kernel = R"(
	.version 1.4
	.target sm_13
	.reg .u32 %ra<17>;
	.shared .align 4 .b8 tile[128];
	.entry k (.param .u64 out, .param .f32 a, .param .f32 b, .param .f32 c)
	{
	.reg .u32 %r<9>; .reg .u64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<3>;
	cvt.s32.u16 %r1, %tid.x;
	mul24.lo.s32 %r2, %r1, 16;
	cvt.u64.s32 %rd1, %r2;
	ld.param.u64 %rd2, [out];
	add.u64 %rd2, %rd2, %rd1;
	ld.param.f32 %f1, [a];
	ld.param.f32 %f2, [b];
	ld.param.f32 %f3, [c];
	mad.f32 %f4, %f1, %f2, %f3;
	st.global.f32 [%rd2+0], %f4;
	mov.f32 %f5, 0f00000000;
	add.f32 %f5, %f1, %f5;
	st.global.f32 [%rd2+4], %f5;
	mul.f32 %f6, %f2, 0f3f000000;
	st.global.f32 [%rd2+8], %f6;
	cvt.f64.f32 %d1, %f3;
	cvt.rn.f32.f64 %f7, %d1;
	st.global.f32 [%rd2+12], %f7;
	exit;
	}
)";

std::vector<float> run_old(float a, float b, float c) {
  std::vector<float> out(128);
  testing::PtxRunner runner(old_kernel);
  runner.array(out).scalar(a).scalar(b).scalar(c);
  runner.run_clean();
  for (size_t lane = 1; lane < 32; ++lane)
    for (size_t k = 0; k < 4; ++k)
      EXPECT_EQ(std::bit_cast<uint32_t>(out[lane * 4 + k]), std::bit_cast<uint32_t>(out[k]));
  out.resize(4);
  return out;
}

TEST(old_text, mad_rounds_product_and_sum_once) {
  const float a = 1 + 0x1p-12f, b = 1 - 0x1p-12f;
  EXPECT_EQ(run_old(a, b, -1.0f)[0], -0x1p-24f);  // a product of 24 bits would be 1
  EXPECT_EQ(run_old(3, 5, 7)[0], 22.0f);
}

TEST(old_text, single_precision_flushes_and_conversions_of_64_bits_do_not) {
  const float tiny = 0x1p-127f;  // subnormal
  const std::vector<float> out = run_old(-tiny, 0x1p-126f, tiny);
  EXPECT_EQ(std::bit_cast<uint32_t>(out[1]), 0u);  // -0 + 0
  EXPECT_EQ(out[2], 0.0f);                         // the result would be subnormal
  EXPECT_EQ(out[3], tiny);
}

// The same text for sm_20 keeps them.
TEST(old_text, sm_20_keeps_subnormal_numbers) {
  std::string text = old_kernel;
  text.replace(text.find("1.4"), 3, "2.0").replace(text.find("sm_13"), 5, "sm_20");
  std::vector<float> out(128);
  testing::PtxRunner runner(text);
  runner.array(out).scalar(-0x1p-127f).scalar(0x1p-126f).scalar(0.0f);
  runner.run_clean();
  EXPECT_EQ(out[1], -0x1p-127f);
  EXPECT_EQ(out[2], 0x1p-127f);
}

TEST(old_text, parameters_of_the_body_arrive) {
  std::vector<uint32_t> out(32);
  testing::PtxRunner runner(R"(
	.version 1.3
	.target sm_10
	.entry k
	{
	.param .u32 n;
	.param .u64 out;
	.reg .u32 %r<4>; .reg .u64 %rd<4>; .reg .u16 %h<2>;
	ld.param.u32 %r1, [n];
	ld.param.u64 %rd1, [out];
	mov.u16 %h1, %tid.x;
	mul.wide.u16 %r2, %h1, 4;
	cvt.u64.u32 %rd2, %r2;
	add.u64 %rd1, %rd1, %rd2;
	st.global.u32 [%rd1], %r1;
	exit;
	}
)");
  runner.scalar(7u).array(out);
  runner.run_clean();
  EXPECT_EQ(out, std::vector<uint32_t>(32, 7u));
}

}  // namespace
}  // namespace palladion::sim
