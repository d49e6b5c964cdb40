// NVIDIA's own host emulation of the conversions, over every input that a format has.
#include <gtest/gtest.h>

#if __has_include(<cuda_fp8.h>) && __has_include(<cuda_fp4.h>)
#define PLD_HAVE_CUDA_HEADERS 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#pragma GCC diagnostic pop
#elif __has_include("/usr/local/cuda/include/cuda_fp4.h")
#define PLD_HAVE_CUDA_HEADERS 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "/usr/local/cuda/include/cuda_bf16.h"
#include "/usr/local/cuda/include/cuda_fp16.h"
#include "/usr/local/cuda/include/cuda_fp4.h"
#include "/usr/local/cuda/include/cuda_fp6.h"
#include "/usr/local/cuda/include/cuda_fp8.h"
#pragma GCC diagnostic pop
#endif

#include "isa/num/order.h"
#include "isa/num/pack.h"
#include "isa/num/storage.h"
#include "tests/isa/num/samples.h"

namespace palladion::isa::num {
namespace {

#ifndef PLD_HAVE_CUDA_HEADERS

TEST(CudaHeaders, AllConversions) { GTEST_SKIP() << "the CUDA toolkit is absent"; }

#else

__half as_half(std::uint16_t b) {
  __half_raw raw;
  raw.x = b;
  return raw;
}
__nv_bfloat16 as_bf16(std::uint16_t b) {
  __nv_bfloat16_raw raw;
  raw.x = b;
  return raw;
}
std::uint16_t bits(__half h) { return static_cast<__half_raw>(h).x; }
std::uint16_t bits(__nv_bfloat16 h) { return static_cast<__nv_bfloat16_raw>(h).x; }

template <class F, Rounding R>
std::uint16_t ours(std::uint32_t x) {
  return cvt<F, F32, R>(x, {});
}

std::vector<std::uint32_t> f32_inputs() {
  auto inputs = test::stratified<F32>(200000);
  for (std::uint32_t upper = 0; upper < 65536;
       ++upper) {  // every bf16 number and midpoint; every f16 one among them
    for (const std::uint32_t low :
         {0x0000u, 0x0001u, 0x0FFFu, 0x1000u, 0x1001u, 0x7FFFu, 0x8000u, 0x8001u, 0xF000u, 0xFFFFu})
      inputs.push_back(upper << 16 | low);
  }
  return inputs;
}

TEST(CudaHeaders, F32ToHalves) {
  for (const std::uint32_t x : f32_inputs()) {
    const auto f = std::bit_cast<float>(x);
    ASSERT_EQ((ours<F16, Rounding::rn>(x)), bits(__float2half_rn(f))) << std::hex << x;
    ASSERT_EQ((ours<F16, Rounding::rz>(x)), bits(__float2half_rz(f))) << std::hex << x;
    ASSERT_EQ((ours<F16, Rounding::rm>(x)), bits(__float2half_rd(f))) << std::hex << x;
    ASSERT_EQ((ours<F16, Rounding::rp>(x)), bits(__float2half_ru(f))) << std::hex << x;
    ASSERT_EQ((ours<Bf16, Rounding::rn>(x)), bits(__float2bfloat16_rn(f))) << std::hex << x;
    ASSERT_EQ((ours<Bf16, Rounding::rz>(x)), bits(__float2bfloat16_rz(f))) << std::hex << x;
    ASSERT_EQ((ours<Bf16, Rounding::rm>(x)), bits(__float2bfloat16_rd(f))) << std::hex << x;
    ASSERT_EQ((ours<Bf16, Rounding::rp>(x)), bits(__float2bfloat16_ru(f))) << std::hex << x;
  }
}

TEST(CudaHeaders, HalvesToF32AndIntegers) {
  for (std::uint32_t i = 0; i < 65536; ++i) {
    const auto b = static_cast<std::uint16_t>(i);
    const auto wide = std::bit_cast<std::uint32_t>(__half2float(as_half(b)));
    ASSERT_EQ((cvt<F32, F16>(b, {})), is_nan<F32>(wide) ? F32::canonical_nan : wide) << std::hex << i;
    ASSERT_EQ((cvt<F32, Bf16>(b, {})), std::bit_cast<std::uint32_t>(__bfloat162float(as_bf16(b))))
        << std::hex << i;
    const CvtMods rz{.rounding = Rounding::rz};
    ASSERT_EQ((cvt<S8, F16>(b, rz)), __half2char_rz(as_half(b))) << std::hex << i;
    ASSERT_EQ((cvt<U8, F16>(b, rz)), __half2uchar_rz(as_half(b))) << std::hex << i;
    ASSERT_EQ((cvt<S16, F16>(b, rz)), __half2short_rz(as_half(b))) << std::hex << i;
    ASSERT_EQ((cvt<U16, F16>(b, rz)), __half2ushort_rz(as_half(b))) << std::hex << i;
    ASSERT_EQ((cvt<S32, F16>(b, rz)), __half2int_rz(as_half(b))) << std::hex << i;
    ASSERT_EQ((cvt<U32, F16>(b, rz)), __half2uint_rz(as_half(b))) << std::hex << i;
    ASSERT_EQ((cvt<S64, F16>(b, rz)), __half2ll_rz(as_half(b))) << std::hex << i;
    ASSERT_EQ((cvt<U64, F16>(b, rz)), __half2ull_rz(as_half(b))) << std::hex << i;
    ASSERT_EQ((cvt<S32, Bf16>(b, rz)), __bfloat162int_rz(as_bf16(b))) << std::hex << i;
    ASSERT_EQ((cvt<S64, Bf16>(b, rz)), __bfloat162ll_rz(as_bf16(b))) << std::hex << i;
    ASSERT_EQ((cvt<U64, Bf16>(b, rz)), __bfloat162ull_rz(as_bf16(b))) << std::hex << i;
  }
}

TEST(CudaHeaders, F64AndIntegersToHalves) {
  for (const std::uint64_t b : test::stratified<F64>(50000)) {
    const auto d = std::bit_cast<double>(b);
    if (d != d) continue;  // the device keeps the payload, the headers' host code does not
    ASSERT_EQ((cvt<F16, F64>(b, {})), bits(__double2half(d))) << std::hex << b;
    ASSERT_EQ((cvt<Bf16, F64>(b, {})), bits(__double2bfloat16(d))) << std::hex << b;
  }
  std::mt19937_64 rng(9);
  for (int i = 0; i < 200000; ++i) {
    const auto wide = static_cast<std::int64_t>(rng() >> (rng() % 64));
    const auto narrow = static_cast<std::int32_t>(wide);
    ASSERT_EQ((cvt<F16, S32>(narrow, {})), bits(__int2half_rn(narrow)));
    ASSERT_EQ((cvt<F16, S32>(narrow, {.rounding = Rounding::rp})), bits(__int2half_ru(narrow)));
    ASSERT_EQ((cvt<F16, S64>(wide, {.rounding = Rounding::rz})), bits(__ll2half_rz(wide)));
    ASSERT_EQ((cvt<F16, U64>(static_cast<std::uint64_t>(wide), {.rounding = Rounding::rm})),
              bits(__ull2half_rd(static_cast<std::uint64_t>(wide))));
    ASSERT_EQ((cvt<Bf16, S32>(narrow, {})), bits(__int2bfloat16_rn(narrow)));
    ASSERT_EQ((cvt<Bf16, S64>(wide, {})), bits(__ll2bfloat16_rn(wide)));
    ASSERT_EQ((cvt<Bf16, U64>(static_cast<std::uint64_t>(wide), {})),
              bits(__ull2bfloat16_rn(static_cast<std::uint64_t>(wide))));
  }
}

template <class Source>
void check_small(std::uint32_t x_bits, Source convert_with) {
  const CvtMods sat{.satfinite = true};
  const auto theirs = convert_with;
  ASSERT_EQ((cvt<E4m3, F32>(x_bits, sat)), theirs.e4m3()) << std::hex << x_bits;
  ASSERT_EQ((cvt<E5m2, F32>(x_bits, sat)), theirs.e5m2()) << std::hex << x_bits;
  ASSERT_EQ((cvt<E2m3, F32>(x_bits, sat)), theirs.e2m3()) << std::hex << x_bits;
  ASSERT_EQ((cvt<E3m2, F32>(x_bits, sat)), theirs.e3m2()) << std::hex << x_bits;
  ASSERT_EQ((cvt<E2m1, F32>(x_bits, sat)), theirs.e2m1()) << std::hex << x_bits;
}

struct FromFloat {
  float x;
  int e4m3() const { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }
  int e5m2() const { return __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2); }
  int e2m3() const { return __nv_cvt_float_to_fp6(x, __NV_E2M3, cudaRoundNearest); }
  int e3m2() const { return __nv_cvt_float_to_fp6(x, __NV_E3M2, cudaRoundNearest); }
  int e2m1() const { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
};
struct FromHalf {
  __half_raw x;
  int e4m3() const { return __nv_cvt_halfraw_to_fp8(x, __NV_SATFINITE, __NV_E4M3); }
  int e5m2() const { return __nv_cvt_halfraw_to_fp8(x, __NV_SATFINITE, __NV_E5M2); }
  int e2m3() const { return __nv_cvt_halfraw_to_fp6(x, __NV_E2M3, cudaRoundNearest); }
  int e3m2() const { return __nv_cvt_halfraw_to_fp6(x, __NV_E3M2, cudaRoundNearest); }
  int e2m1() const { return __nv_cvt_halfraw_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
};

TEST(CudaHeaders, ToSmallFormats) {
  for (const std::uint32_t x : f32_inputs()) check_small(x, FromFloat{std::bit_cast<float>(x)});
  for (std::uint32_t i = 0; i < 65536; ++i) {
    __half_raw raw;
    raw.x = static_cast<unsigned short>(i);
    check_small(cvt<F32, F16>(raw.x, {}), FromHalf{raw});
  }
}

TEST(CudaHeaders, ToE8m0) {
  for (const std::uint32_t x : f32_inputs()) {
    const auto f = std::bit_cast<float>(x);
    for (const bool satfinite : {false, true}) {
      const auto mode = satfinite ? __NV_SATFINITE : __NV_NOSAT;
      ASSERT_EQ((cvt<Ue8m0, F32>(x, {.rounding = Rounding::rz, .satfinite = satfinite})),
                __nv_cvt_float_to_e8m0(f, mode, cudaRoundZero))
          << std::hex << x;
      ASSERT_EQ((cvt<Ue8m0, F32>(x, {.rounding = Rounding::rp, .satfinite = satfinite})),
                __nv_cvt_float_to_e8m0(f, mode, cudaRoundPosInf))
          << std::hex << x;
    }
  }
}

TEST(CudaHeaders, FromSmallFormats) {
  for (std::uint32_t i = 0; i < 256; ++i) {
    const auto b = static_cast<std::uint8_t>(i);
    ASSERT_EQ((cvt<F16, E4m3>(b, {})), __nv_cvt_fp8_to_halfraw(b, __NV_E4M3).x) << i;
    ASSERT_EQ((cvt<F16, E5m2>(b, {})), __nv_cvt_fp8_to_halfraw(b, __NV_E5M2).x) << i;
    if (i < 64) {
      ASSERT_EQ((cvt<F16, E2m3>(b, {})), __nv_cvt_fp6_to_halfraw(b, __NV_E2M3).x) << i;
      ASSERT_EQ((cvt<F16, E3m2>(b, {})), __nv_cvt_fp6_to_halfraw(b, __NV_E3M2).x) << i;
    }
    if (i < 16) {
      ASSERT_EQ((cvt<F16, E2m1>(b, {})), __nv_cvt_fp4_to_halfraw(b, __NV_E2M1).x) << i;
    }
    ASSERT_EQ((cvt<Bf16, Ue8m0>(b, {})), __nv_cvt_e8m0_to_bf16raw(b).x) << i;
  }
}

TEST(CudaHeaders, PairsPackTheSameWay) {
  const CvtMods sat{.satfinite = true};
  for (std::uint32_t i = 0; i < 65536; i += 7) {
    // NVIDIA's .x is the low half; PTX' first operand is the high half.
    __half2_raw pair;
    pair.x = static_cast<unsigned short>(i);
    pair.y = static_cast<unsigned short>(i * 40503u);
    const std::uint32_t packed = std::uint32_t{pair.y} << 16 | pair.x;
    ASSERT_EQ((cvt_pair<E4m3, F16, Rounding::rn>(packed, sat)),
              __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3));
    const auto back = __nv_cvt_fp8x2_to_halfraw2(static_cast<unsigned short>(i), __NV_E5M2);
    ASSERT_EQ((cvt_pair<F16, E5m2, Rounding::rn>(i, {})), std::uint32_t{back.y} << 16 | back.x);
    const float2 f{static_cast<float>(i) / 64, -static_cast<float>(i) / 999};
    ASSERT_EQ((cvt_pair_from_f32<E2m1, Rounding::rn>(std::bit_cast<std::uint32_t>(f.y),
                                                     std::bit_cast<std::uint32_t>(f.x), sat)),
              __nv_cvt_float2_to_fp4x2(f, __NV_E2M1, cudaRoundNearest));
  }
}

TEST(CudaHeaders, F16Arithmetic) {
  std::mt19937_64 rng(21);
  auto operands = test::corners<F16>();
  for (int i = 0; i < 500; ++i) operands.push_back(static_cast<std::uint16_t>(rng()));
  constexpr ArithMods sat{.sat = true};
  for (const auto a : operands) {
    for (const auto b : operands) {
      const __half x = as_half(a);
      const __half y = as_half(b);
      ASSERT_EQ((add<F16>(a, b)), bits(__hadd(x, y)));
      ASSERT_EQ((sub<F16>(a, b)), bits(__hsub(x, y)));
      ASSERT_EQ((mul<F16>(a, b)), bits(__hmul(x, y)));
      ASSERT_EQ((add<F16, sat>(a, b)), bits(__hadd_sat(x, y))) << std::hex << a << ' ' << b;
      ASSERT_EQ((max<F16>(a, b)), bits(__hmax(x, y))) << std::hex << a << ' ' << b;
      ASSERT_EQ((min<F16, MinMaxMods{.nan = true}>(a, b)), bits(__hmin_nan(x, y)))
          << std::hex << a << ' ' << b;
    }
    ASSERT_EQ(neg<F16>(a), bits(__hneg(as_half(a))));
    ASSERT_EQ(abs<F16>(a), bits(__habs(as_half(a))));
  }
}

/// All 2^32 inputs; minutes, so only when asked for: --gtest_also_run_disabled_tests.
TEST(CudaHeaders, DISABLED_EveryF32) {
  const CvtMods sat{.satfinite = true};
  for (std::uint64_t i = 0; i < (std::uint64_t{1} << 32); ++i) {
    const auto x = static_cast<std::uint32_t>(i);
    const auto f = std::bit_cast<float>(x);
    ASSERT_EQ((ours<F16, Rounding::rn>(x)), bits(__float2half_rn(f))) << std::hex << x;
    ASSERT_EQ((ours<Bf16, Rounding::rn>(x)), bits(__float2bfloat16_rn(f))) << std::hex << x;
    ASSERT_EQ((cvt<E4m3, F32, Rounding::rn>(x, sat)), __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3))
        << std::hex << x;
    ASSERT_EQ((cvt<E5m2, F32, Rounding::rn>(x, sat)), __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2))
        << std::hex << x;
  }
}

#endif

}  // namespace
}  // namespace palladion::isa::num
