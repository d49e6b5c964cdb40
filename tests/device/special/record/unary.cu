// Records the hashes of one-operand instructions over all 2^32 inputs, and of the approximate divisions.
//   nvcc -std=c++17 -O2 -gencode=arch=compute_90a,code=sm_90a -o unary unary.cu && DRIVER=... ./unary DATE special.csv cvt.csv
#include "hash.cuh"

#define UNARY(id, text, type, reg, from)                                                   \
  struct id {                                                                              \
    static constexpr const char* name = text;                                              \
    __device__ static U64 term(U32 i) {                                                    \
      type r;                                                                              \
      asm volatile(text " %0, %1;" : reg(r) : "f"(__uint_as_float(i)));                    \
      return mix64(U64{i} << 32 | from(r));                                                \
    }                                                                                      \
  };
#define APPROX(id, text) UNARY(id, text, float, "=f", __float_as_uint)
#define TO_32(id, text) UNARY(id, text, U32, "=r", U32)
#define TO_16(id, text) UNARY(id, text, U16, "=h", U32)

// The 8-bit forms take two operands: zero for the high half, the input for the low one.
#define TO_8X2(id, text)                                                                   \
  struct id {                                                                              \
    static constexpr const char* name = text;                                              \
    __device__ static U64 term(U32 i) {                                                    \
      U16 r;                                                                               \
      asm volatile(text " %0, %2, %1;" : "=h"(r) : "f"(__uint_as_float(i)), "f"(0.f));     \
      return mix64(U64{i} << 32 | r);                                                      \
    }                                                                                      \
  };

// f64: the input is the high word, the low one is 0; so is the result's.
#define HIGH_WORD(id, text)                                                                \
  struct id {                                                                              \
    static constexpr const char* name = text;                                              \
    __device__ static U64 term(U32 i) {                                                    \
      double r;                                                                            \
      asm volatile(text " %0, %1;" : "=d"(r) : "d"(__longlong_as_double(U64{i} << 32)));   \
      return mix64(U64{i} << 32 | static_cast<U64>(__double_as_longlong(r)) >> 32);        \
    }                                                                                      \
  };

#define QUOTIENT(id, text)                                                                 \
  struct id {                                                                              \
    static constexpr const char* name = text;                                              \
    __device__ static U64 term(U32 i) {                                                    \
      const U64 pair = mix64(i);                                                           \
      const float a = __uint_as_float(pair >> 32), b = __uint_as_float(pair);              \
      float r;                                                                             \
      asm volatile(text " %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));                        \
      return mix64(U64{i} << 32 | __float_as_uint(r));                                     \
    }                                                                                      \
  };

APPROX(RcpFtz, "rcp.approx.ftz.f32") APPROX(Rcp, "rcp.approx.f32")
APPROX(RsqrtFtz, "rsqrt.approx.ftz.f32") APPROX(Rsqrt, "rsqrt.approx.f32")
APPROX(SqrtFtz, "sqrt.approx.ftz.f32") APPROX(Sqrt, "sqrt.approx.f32")
APPROX(Ex2Ftz, "ex2.approx.ftz.f32") APPROX(Ex2, "ex2.approx.f32")
APPROX(Lg2Ftz, "lg2.approx.ftz.f32") APPROX(Lg2, "lg2.approx.f32")
APPROX(SinFtz, "sin.approx.ftz.f32") APPROX(Sin, "sin.approx.f32")
APPROX(CosFtz, "cos.approx.ftz.f32") APPROX(Cos, "cos.approx.f32")
APPROX(Tanh, "tanh.approx.f32")
HIGH_WORD(RcpF64, "rcp.approx.ftz.f64") HIGH_WORD(RsqrtF64, "rsqrt.approx.ftz.f64")
QUOTIENT(Div, "div.approx.f32") QUOTIENT(DivFtz, "div.approx.ftz.f32")
QUOTIENT(DivFull, "div.full.f32") QUOTIENT(DivFullFtz, "div.full.ftz.f32")

TO_32(RnaTf32, "cvt.rna.tf32.f32") TO_32(RnTf32, "cvt.rn.tf32.f32") TO_32(RzTf32, "cvt.rz.tf32.f32")
TO_16(RnF16, "cvt.rn.f16.f32") TO_16(RzF16, "cvt.rz.f16.f32")
TO_16(RnBf16, "cvt.rn.bf16.f32") TO_16(RzBf16, "cvt.rz.bf16.f32")
TO_8X2(E4m3, "cvt.rn.satfinite.e4m3x2.f32") TO_8X2(E5m2, "cvt.rn.satfinite.e5m2x2.f32")

template <class... F>
void record(const char* date, const char* path) {
  std::FILE* file = std::fopen(path, "w");
  write_provenance(file, date);
  write_columns(file, {hash_column<F>(512, 23)...});
  std::fclose(file);
}

int main(int count, char** argument) {
  if (count != 4) return 2;
  record<RcpFtz, Rcp, RsqrtFtz, Rsqrt, SqrtFtz, Sqrt, Ex2Ftz, Ex2, Lg2Ftz, Lg2, SinFtz, Sin, CosFtz, Cos, Tanh, RcpF64,
         RsqrtF64, Div, DivFtz, DivFull, DivFullFtz>(argument[1], argument[2]);
  record<RnaTf32, RnTf32, RzTf32, RnF16, RzF16, RnBf16, RzBf16, E4m3, E5m2>(argument[1], argument[3]);
}
