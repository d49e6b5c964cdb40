#include "sim/numerics/tcgen05.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cassert>

#include "sim/numerics/tcgen05_kernels.h"
#include "sim/numerics/tcgen05_reference.h"
#include "sim/numerics/tensor_core_kernels.h"

namespace palladion::sim::numerics::tcgen05 {
namespace {

bool has(const std::uint64_t* mask, int bit) { return (mask[bit / 64] >> bit % 64) & 1; }

int group_sum(const PackedJob& job, int row, int column, int group) {
  int sum = static_cast<std::int16_t>(job.b->offset[group][column]);
  for (int w = group * job.words; w < (group + 1) * job.words; ++w) {
    const std::uint32_t a = job.a->word[row][w], b = job.b->word[w][column];
    for (int i = 0; i < 32; i += 8)
      sum += static_cast<std::uint8_t>(a >> i) * static_cast<std::int8_t>(b >> i);
  }
  return sum;
}

std::uint32_t packed_output(const PackedJob& job, int row, int column, std::uint32_t c) {
  if (has(job.a->nan_rows, row) || has(job.b->nan_columns, column)) return 0x7FFFFFFFu;
  const auto& a = job.a->group;
  const auto& b = job.b->group;
  GroupTerm terms[groups];
  for (int g = 0; g < groups; ++g) {
    const float significand =
        std::bit_cast<float>(a.significand[row][g]) * std::bit_cast<float>(b.significand[g][column]);
    terms[g] = {.sum = group_sum(job, row, column, g),
                .significand = static_cast<std::int32_t>(significand),
                .exponent = static_cast<std::int32_t>(a.exponent[row][g] + b.exponent[g][column]) - 127,
                .any_product = (a.nonzero[row][g] & b.nonzero[g][column]) != 0};
  }
  return grouped_add(terms, tc::unpack_c(Result::f32, c));
}

// The kernels' D of one part: words as they are, or a packed copy of f16.
class PartOfD {
 public:
  PartOfD(Result type, std::uint32_t* d, std::ptrdiff_t stride, int m, int n)
      : half_(type == Result::f16), d_(d), stride_(stride), m_(m), n_(n) {}

  void* data() { return half_ ? static_cast<void*>(packed_) : d_; }
  std::ptrdiff_t stride() const { return half_ ? n_ : stride_; }

  bool is_half() const { return half_; }

  void load() {
    const __m256i low_half = _mm256_set1_epi32(0xFFFF);
    for_each_eight([&](std::uint32_t* words, std::uint16_t* halves) {
      const __m256i x =
          _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)), low_half);
      const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(halves), packed);
    });
  }
  void store() {
    for_each_eight([](std::uint32_t* words, const std::uint16_t* halves) {
      const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(halves));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), _mm256_cvtepu16_epi32(packed));
    });
  }

 private:
  template <class Visit>
  void for_each_eight(Visit visit) {
    if (!half_) return;
    for (int m = 0; m < m_; ++m) {
      for (int n = 0; n < n_; n += 8) visit(d_ + m * stride_ + n, packed_ + m * n_ + n);
    }
  }

  bool half_;
  std::uint32_t* d_;
  std::ptrdiff_t stride_;
  int m_, n_;
  std::uint16_t packed_[tc::max_m * max_n];
};

void multiply_part(const AOperand& a, const BOperand& b, int part, PartOfD& d, const MultiplyOptions& o) {
  const bool half = d.is_half();
  const tc::MultiplyOptions options{.zero_c = o.zero_c, .saturate = o.saturate, .level = o.level};
  if (a.kind == Kind::i8)
    return tc::multiply(a.part[part], b.whole, static_cast<std::int32_t*>(d.data()), d.stride(), options);
  if (!is_block_scaled(a.kind) && !o.scale_input_d) {
    if (half)
      return tc::multiply(a.part[part], b.whole, static_cast<std::uint16_t*>(d.data()), d.stride(), options);
    return tc::multiply(a.part[part], b.whole, static_cast<float*>(d.data()), d.stride(), options);
  }
  tc::Job job{.a = &a.part[part],
              .b = &b.whole,
              .d = d.data(),
              .stride = d.stride(),
              .mode = half ? tc::Mode::f16_general : tc::Mode::f32_general,
              .zero_c = o.zero_c,
              .saturate = false,
              .c_scale = -o.scale_input_d};
  if (is_block_scaled(a.kind)) {
    job.row_scale = a.scale + part * tc::max_m;
    job.column_scale = b.scale;
  }
  tc::run(job, o.level);
}

void multiply_packed(const AOperand& a, const BOperand& b, std::uint32_t* d, std::ptrdiff_t stride,
                     const MultiplyOptions& o) {
  const PackedJob job{.a = &a.packed,
                      .b = &b.packed,
                      .m = a.m,
                      .n = b.n,
                      .words = a.k / 4 / groups,
                      .d = d,
                      .stride = stride,
                      .zero_c = o.zero_c,
                      .significands = a.scale_type == Scale::ue4m3 || b.scale_type == Scale::ue4m3};
  const bool wide = o.level == SimdLevel::avx512 && b.n > 8;
  const tc::TruncatingMode truncating;
  wide ? multiply_packed_avx512(job) : multiply_packed_avx2(job);
}

}  // namespace

void repair_packed(const PackedJob& job, int row, int column, int count, const std::uint32_t* c) {
  for (int i = 0; i < count; ++i)
    job.d[row * job.stride + column + i] = packed_output(job, row, column + i, c[i]);
}

bool accepts(Kind kind, Element a, Element b, Result d) {
  switch (kind) {
    case Kind::f16:
      return a == b && ((a == Element::f16 && (d == Result::f32 || d == Result::f16)) ||
                        (a == Element::bf16 && d == Result::f32));
    case Kind::tf32:
      return a == Element::tf32 && b == a && d == Result::f32;
    case Kind::f8f6f4:
      return tc::is_byte_float(a) && tc::is_byte_float(b) && (d == Result::f32 || d == Result::f16);
    case Kind::i8:
      return (a == Element::s8 || a == Element::u8) && (b == Element::s8 || b == Element::u8) &&
             d == Result::s32;
    case Kind::mxf8f6f4:
      return tc::is_byte_float(a) && tc::is_byte_float(b) && d == Result::f32;
    case Kind::mxf4:
    case Kind::mxf4nvf4:
      return a == Element::e2m1 && b == a && d == Result::f32;
  }
  return false;
}

bool accepts_scales(Kind kind, Scale type, int count) {
  switch (kind) {
    case Kind::mxf8f6f4:
      return type == Scale::ue8m0 && count == 1;
    case Kind::mxf4:
      return type == Scale::ue8m0 && count == 2;
    case Kind::mxf4nvf4:
      return count == 4 || (count == 2 && type == Scale::ue8m0);
    default:
      return false;
  }
}

void multiply(const AOperand& a, const BOperand& b, Result type, std::uint32_t* d, std::ptrdiff_t stride,
              const MultiplyOptions& o) {
  assert(a.kind == b.kind && a.k == b.k && accepts(a.kind, a.type, b.type, type));
  assert(!o.scale_input_d || a.kind == Kind::f16 || a.kind == Kind::tf32);
  if (is_packed(a.kind)) return multiply_packed(a, b, d, stride, o);
  for (int part = 0; part * tc::max_m < a.m; ++part) {
    PartOfD part_of_d(type, d + part * tc::max_m * stride, stride, std::min(a.m, tc::max_m), b.n);
    if (!o.zero_c) part_of_d.load();
    multiply_part(a, b, part, part_of_d, o);
    part_of_d.store();
  }
}

}  // namespace palladion::sim::numerics::tcgen05
