// Records the hashes of the IEEE arithmetic over 2^24 operand triples an instruction (operands.h), and of the two-operand
// f16 and bf16 instructions over all 2^32 pairs.
//   nvcc -std=c++17 -O2 -gencode=arch=compute_90a,code=sm_90a -o arithmetic arithmetic.cu && ./arithmetic DATE triples.csv pairs.csv [FOLDER]
// With FOLDER the first 2^21 results of each instruction are left there, 8 bytes each.
#include "hash.cuh"
#include "operands.h"

// Registers by type, and the bits they hold.
struct F32 {
  static constexpr int exponent = 8, mantissa = 23;
  using Reg = float;
  __device__ static Reg in(U64 x) { return __uint_as_float(static_cast<U32>(x)); }
  __device__ static U64 out(Reg x) { return __float_as_uint(x); }
};
struct F64 {
  static constexpr int exponent = 11, mantissa = 52;
  using Reg = double;
  __device__ static Reg in(U64 x) { return __longlong_as_double(x); }
  __device__ static U64 out(Reg x) { return static_cast<U64>(__double_as_longlong(x)); }
};
struct F16 {
  static constexpr int exponent = 5, mantissa = 10;
  using Reg = U16;
  __device__ static Reg in(U64 x) { return static_cast<U16>(x); }
  __device__ static U64 out(Reg x) { return x; }
};
struct Bf16 : F16 {
  static constexpr int exponent = 8, mantissa = 7;
};
struct B32 {
  using Reg = U32;
  __device__ static U64 out(Reg x) { return x; }
};
struct B64 {
  using Reg = U64;
  __device__ static U64 out(Reg x) { return x; }
};

struct Recorder {
  Column (*hash)(int buckets, int bits);
  void (*dump)(U32 count, const std::string& folder);
};
std::vector<Recorder>& over_triples() {
  static std::vector<Recorder> list;
  return list;
}
std::vector<Recorder>& over_pairs() {
  static std::vector<Recorder> list;
  return list;
}

// One instruction a line: the line names its type.
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define ID JOIN(Instruction, __LINE__)
#define ENROL(list) \
  static const bool JOIN(enrolled, __LINE__) = (list().push_back({hash_column<ID>, write_results<ID>}), true);

#define INSTRUCTION(text, To, From, ...)                                                     \
  struct ID {                                                                                \
    static constexpr const char* name = text;                                                \
    __device__ static U64 result(U32 i) {                                                    \
      const operands::Triple x = operands::triple(From::exponent, From::mantissa, i);        \
      To::Reg r;                                                                             \
      asm volatile(text __VA_ARGS__);                                                        \
      return To::out(r);                                                                     \
    }                                                                                        \
    __device__ static U64 term(U32 i) { return mix64(U64{i} ^ mix64(result(i))); }           \
  };                                                                                         \
  ENROL(over_triples)
#define OP1(text, To, to, From, from) INSTRUCTION(text, To, From, " %0, %1;" : to(r) : from(From::in(x.a)))
#define OP2(text, T, to, from) INSTRUCTION(text, T, T, " %0, %1, %2;" : to(r) : from(T::in(x.a)), from(T::in(x.b)))
#define OP3(text, T, to, from) \
  INSTRUCTION(text, T, T, " %0, %1, %2, %3;" : to(r) : from(T::in(x.a)), from(T::in(x.b)), from(T::in(x.c)))

#define PAIR(text)                                                                           \
  struct ID {                                                                                \
    static constexpr const char* name = text;                                                \
    __device__ static U64 result(U32 i) {                                                    \
      const U16 a = static_cast<U16>(i >> 16), b = static_cast<U16>(i);                      \
      U16 r;                                                                                 \
      asm volatile(text " %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b));                          \
      return r;                                                                              \
    }                                                                                        \
    __device__ static U64 term(U32 i) { return mix64(U64{i} << 32 | result(i)); }            \
  };                                                                                         \
  ENROL(over_pairs)

OP2("add.rn.f32", F32, "=f", "f")
OP2("mul.rn.f32", F32, "=f", "f")
OP3("fma.rn.f32", F32, "=f", "f")
OP2("div.rn.f32", F32, "=f", "f")
OP1("sqrt.rn.f32", F32, "=f", F32, "f")
OP1("rcp.rn.f32", F32, "=f", F32, "f")
OP2("add.rn.f64", F64, "=d", "d")
OP2("mul.rn.f64", F64, "=d", "d")
OP3("fma.rn.f64", F64, "=d", "d")
OP2("div.rn.f64", F64, "=d", "d")
OP1("sqrt.rn.f64", F64, "=d", F64, "d")
OP1("cvt.rn.f32.f64", F32, "=f", F64, "d")
OP2("add.rz.f32", F32, "=f", "f")
OP2("mul.rz.f32", F32, "=f", "f")
OP3("fma.rz.f32", F32, "=f", "f")
OP2("div.rz.f32", F32, "=f", "f")
OP1("sqrt.rz.f32", F32, "=f", F32, "f")
OP1("rcp.rz.f32", F32, "=f", F32, "f")
OP2("add.rz.f64", F64, "=d", "d")
OP2("mul.rz.f64", F64, "=d", "d")
OP3("fma.rz.f64", F64, "=d", "d")
OP2("div.rz.f64", F64, "=d", "d")
OP1("sqrt.rz.f64", F64, "=d", F64, "d")
OP1("cvt.rz.f32.f64", F32, "=f", F64, "d")
OP2("add.rm.f32", F32, "=f", "f")
OP2("mul.rm.f32", F32, "=f", "f")
OP3("fma.rm.f32", F32, "=f", "f")
OP2("div.rm.f32", F32, "=f", "f")
OP1("sqrt.rm.f32", F32, "=f", F32, "f")
OP1("rcp.rm.f32", F32, "=f", F32, "f")
OP2("add.rm.f64", F64, "=d", "d")
OP2("mul.rm.f64", F64, "=d", "d")
OP3("fma.rm.f64", F64, "=d", "d")
OP2("div.rm.f64", F64, "=d", "d")
OP1("sqrt.rm.f64", F64, "=d", F64, "d")
OP1("cvt.rm.f32.f64", F32, "=f", F64, "d")
OP2("add.rp.f32", F32, "=f", "f")
OP2("mul.rp.f32", F32, "=f", "f")
OP3("fma.rp.f32", F32, "=f", "f")
OP2("div.rp.f32", F32, "=f", "f")
OP1("sqrt.rp.f32", F32, "=f", F32, "f")
OP1("rcp.rp.f32", F32, "=f", F32, "f")
OP2("add.rp.f64", F64, "=d", "d")
OP2("mul.rp.f64", F64, "=d", "d")
OP3("fma.rp.f64", F64, "=d", "d")
OP2("div.rp.f64", F64, "=d", "d")
OP1("sqrt.rp.f64", F64, "=d", F64, "d")
OP1("cvt.rp.f32.f64", F32, "=f", F64, "d")
OP2("add.rn.ftz.f32", F32, "=f", "f")
OP2("sub.rn.ftz.f32", F32, "=f", "f")
OP2("mul.rn.ftz.f32", F32, "=f", "f")
OP2("div.rn.ftz.f32", F32, "=f", "f")
OP1("sqrt.rn.ftz.f32", F32, "=f", F32, "f")
OP1("rcp.rn.ftz.f32", F32, "=f", F32, "f")
OP3("fma.rn.ftz.f32", F32, "=f", "f")
OP3("fma.rz.ftz.f32", F32, "=f", "f")
OP3("fma.rp.ftz.f32", F32, "=f", "f")
OP3("fma.rn.sat.f32", F32, "=f", "f")
OP3("fma.rn.ftz.sat.f32", F32, "=f", "f")
OP2("mul.rp.ftz.f32", F32, "=f", "f")
OP2("add.rp.ftz.f32", F32, "=f", "f")
OP2("min.f32", F32, "=f", "f")
OP2("max.f32", F32, "=f", "f")
OP2("min.ftz.f32", F32, "=f", "f")
OP2("min.NaN.f32", F32, "=f", "f")
OP2("max.NaN.f32", F32, "=f", "f")
OP2("min.xorsign.abs.f32", F32, "=f", "f")
OP2("max.NaN.xorsign.abs.f32", F32, "=f", "f")
OP2("min.f64", F64, "=d", "d")
OP2("max.f64", F64, "=d", "d")
OP3("fma.rn.f16", F16, "=h", "h")
OP3("fma.rn.ftz.f16", F16, "=h", "h")
OP3("fma.rn.sat.f16", F16, "=h", "h")
OP3("fma.rn.relu.f16", F16, "=h", "h")
OP3("fma.rn.ftz.relu.f16", F16, "=h", "h")
OP3("fma.rn.bf16", Bf16, "=h", "h")
OP3("fma.rn.relu.bf16", Bf16, "=h", "h")
OP1("cvt.rn.ftz.f32.f64", F32, "=f", F64, "d")
OP1("cvt.rn.f16.f64", F16, "=h", F64, "d")
OP1("cvt.rn.bf16.f64", F16, "=h", F64, "d")
OP1("cvt.rni.s32.f32", B32, "=r", F32, "f")
OP1("cvt.rni.s32.f64", B32, "=r", F64, "d")
OP1("cvt.rzi.s32.f32", B32, "=r", F32, "f")
OP1("cvt.rzi.s32.f64", B32, "=r", F64, "d")
OP1("cvt.rni.u32.f32", B32, "=r", F32, "f")
OP1("cvt.rni.u32.f64", B32, "=r", F64, "d")
OP1("cvt.rzi.u32.f32", B32, "=r", F32, "f")
OP1("cvt.rzi.u32.f64", B32, "=r", F64, "d")
OP1("cvt.rni.s64.f32", B64, "=l", F32, "f")
OP1("cvt.rni.s64.f64", B64, "=l", F64, "d")
OP1("cvt.rzi.s64.f32", B64, "=l", F32, "f")
OP1("cvt.rzi.s64.f64", B64, "=l", F64, "d")
OP1("cvt.rni.u64.f32", B64, "=l", F32, "f")
OP1("cvt.rni.u64.f64", B64, "=l", F64, "d")
OP1("cvt.rzi.u64.f32", B64, "=l", F32, "f")
OP1("cvt.rzi.u64.f64", B64, "=l", F64, "d")

// Packed forms do the same in both halves: special_values_f16.csv and _bf16.csv hold some.
PAIR("add.rn.f16")
PAIR("mul.rn.f16")
PAIR("sub.rn.f16")
PAIR("add.rn.ftz.f16")
PAIR("mul.rn.ftz.f16")
PAIR("add.rn.sat.f16")
PAIR("min.f16")
PAIR("max.NaN.f16")
PAIR("add.rn.bf16")
PAIR("mul.rn.bf16")
PAIR("min.bf16")
PAIR("max.NaN.bf16")

void record(const std::vector<Recorder>& list, int buckets, int bits, const char* date, const char* path) {
  std::vector<Column> columns;
  for (const Recorder& r : list) columns.push_back(r.hash(buckets, bits));
  std::FILE* file = std::fopen(path, "w");
  write_provenance(file, date);
  write_columns(file, columns);
  std::fclose(file);
}

int main(int count, char** argument) {
  if (count < 4) return 2;
  record(over_triples(), 64, 18, argument[1], argument[2]);
  record(over_pairs(), 512, 23, argument[1], argument[3]);
  if (count == 4) return 0;
  for (const Recorder& r : over_triples()) r.dump(1u << 21, argument[4]);
  for (const Recorder& r : over_pairs()) r.dump(1u << 21, argument[4]);
}
