#include "sim/numerics/tensor_core.h"

#include <xmmintrin.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <optional>

#include "sim/numerics/tensor_core_kernels.h"
#include "sim/numerics/tensor_core_reference.h"

namespace palladion::sim::numerics::tc {
namespace {

bool is_half(Mode mode) { return mode == Mode::f16 || mode == Mode::f16_fp8 || mode == Mode::f16_general; }
bool is_general(Mode mode) { return mode == Mode::f32_general || mode == Mode::f16_general; }

std::uint32_t value_of_b(const BOperand& b, int k, int n) {
  const int stride = words_of_k(b.split);
  const std::uint32_t* word = b.word + (std::ptrdiff_t{n / block_n} * b.k + k) * stride + n % block_n;
  return b.split ? word[0] | word[block_n] : word[0];
}

// One output from decoded operands.
class LaneReference {
 public:
  LaneReference(const Job& job, int row)
      : b_(*job.b), min_b_(min_exponent(job.b->type)), a_(*job.a), row_(row) {
    const int min_a = min_exponent(a_.type);
    for (int k = 0; k < a_.k; ++k) {
      if (a_.sparse && !((a_.selected[row] >> k) & 1)) continue;
      index_[count_] = k;
      a_terms_[count_++] = unpack_value(a_.word[row * a_.k + k], min_a);
    }
  }

  std::uint32_t operator()(int n, const Unpacked& c, const FusedDotSpec& spec, int scale) const {
    Unpacked b_terms[max_k];
    for (int i = 0; i < count_; ++i) b_terms[i] = unpack_value(value_of_b(b_, index_[i], n), min_b_);
    const auto count = static_cast<std::size_t>(count_);
    return fused_dot_add({a_terms_, count}, {b_terms, count}, c, spec, scale);
  }

 private:
  const BOperand& b_;
  int min_b_;
  const AOperand& a_;
  int row_;
  int count_ = 0;
  int index_[max_k];
  Unpacked a_terms_[max_k];
};

void store_bits(const Job& job, int row, int column, std::uint32_t bits) {
  const std::ptrdiff_t at = row * job.stride + column;
  if (is_half(job.mode)) {
    static_cast<std::uint16_t*>(job.d)[at] = static_cast<std::uint16_t>(bits);
  } else {
    static_cast<std::uint32_t*>(job.d)[at] = bits;
  }
}

enum class Verdict { sound, zero, wrong };

int product_scale(const Job& job, const Suspects& s, int lane) {
  return is_general(job.mode) ? job.row_scale[s.row] + job.column_scale[s.column + lane] : 0;
}

// Whether the vector code may have hidden products that are not zero.
bool any_product(const Job& job, int row, int n) {
  if (job.mode != Mode::f32_wide && !(is_general(job.mode) && may_hide(job.a->type))) return false;
  for (int k = 0; k < job.a->k; ++k) {
    if ((job.a->word[row * job.a->k + k] << 1) && (value_of_b(*job.b, k, n) << 1)) return true;
  }
  return false;
}

// What to think of the vector code's result in a lane whose operands have no infinities and NaNs.
Verdict judge(const Job& job, const Suspects& s, int lane) {
  const std::uint32_t c = s.c[lane];
  const int largest = job.a->range.largest + job.b->range.largest - 127 + product_scale(job, s, lane);
  int product = s.exponent[lane] + largest;
  int of_c = static_cast<int>(c << 1 >> 24) + job.c_scale;
  if (is_half(job.mode)) of_c = std::max(of_c, c << 1 ? 113 + job.c_scale : 106);
  if (s.exponent[lane] == hidden_exponent) {
    const bool products = any_product(job, s.row, s.column + lane);
    if (!products && c << 1 == 0) return Verdict::zero;
    // The vector code aligned at hidden_exponent, or in general modes at C; what is hidden may lie above
    // that.
    if (is_general(job.mode)) product = of_c;
    if (of_c < (products ? largest + largest_hidden_exponent : product)) return Verdict::wrong;
  }
  const int e_max = std::max(product, of_c);
  if (e_max < lowest_safe_exponent) return Verdict::wrong;
  if (!s.sum) return e_max <= highest_safe_exponent_of_fp8 ? Verdict::sound : Verdict::wrong;
  const std::int64_t sum = s.sum[lane];
  return e_max <= highest_safe_exponent + job.c_scale && std::abs(sum) <= largest_safe_sum ? Verdict::sound
                                                                                           : Verdict::wrong;
}

Mode mode_of(const AOperand& a, const BOperand& b, bool half) {
  if (b.split) return half ? Mode::f16_fp8 : Mode::f32_13_bits;
  if (is_byte_float(a.type)) return half ? Mode::f16_general : Mode::f32_general;
  if (half) return Mode::f16;
  const int span = a.range.largest - a.range.smallest + b.range.largest - b.range.smallest;
  const int largest = a.range.largest + b.range.largest - 127;
  return span < -largest_hidden_exponent && largest + hidden_exponent < lowest_safe_exponent ? Mode::f32
                                                                                             : Mode::f32_wide;
}

}  // namespace

void repair(const Job& job, const Suspects& s) {
  const bool half = is_half(job.mode);
  const auto spec_of = is_general(job.mode) ? blackwell_tcgen05 : hopper_wgmma;
  const FusedDotSpec spec = spec_of(job.a->type, half ? Result::f16 : Result::f32);
  const bool special_row = (job.a->special_rows >> s.row) & 1;
  std::optional<LaneReference> reference;  // made when it is needed
  for (int lane = 0; lane < s.count; ++lane) {
    const int n = s.column + lane;
    const bool special = special_row || ((job.b->special_columns[n / block_n] >> n % block_n) & 1);
    const Verdict verdict = special ? Verdict::wrong : judge(job, s, lane);
    if (verdict == Verdict::sound) continue;
    if (verdict == Verdict::zero) {
      store_bits(job, s.row, n, 0);
      continue;
    }
    Unpacked c = unpack_value(s.c[lane], half ? -14 : -126);
    if (c.kind == Unpacked::Class::finite) c.exponent += job.c_scale;
    if (!reference) reference.emplace(job, s.row);
    store_bits(job, s.row, n, (*reference)(n, c, spec, product_scale(job, s, lane)));
  }
}

TruncatingMode::TruncatingMode() : saved_(_mm_getcsr()) {
  _mm_setcsr(_MM_ROUND_TOWARD_ZERO | _MM_FLUSH_ZERO_ON | _MM_MASK_MASK);
}
TruncatingMode::~TruncatingMode() { _mm_setcsr(saved_); }

void run(const Job& job, SimdLevel level) {
  assert(job.a->k == job.b->k);
  const bool wide = level == SimdLevel::avx512 && job.b->n > 8;  // half a wide vector is no gain
  const auto kernel = wide ? multiply_avx512 : multiply_avx2;
  const TruncatingMode truncating;
  kernel(job);
}

SimdLevel best_simd_level() {
  static const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
                           __builtin_cpu_supports("avx512cd");
  return wide ? SimdLevel::avx512 : SimdLevel::avx2;
}

void multiply(const AOperand& a, const BOperand& b, float* d, std::ptrdiff_t stride,
              const MultiplyOptions& o) {
  run({&a, &b, d, stride, mode_of(a, b, false), o.zero_c, false}, o.level);
}

void multiply(const AOperand& a, const BOperand& b, std::uint16_t* d, std::ptrdiff_t stride,
              const MultiplyOptions& o) {
  run({&a, &b, d, stride, mode_of(a, b, true), o.zero_c, false}, o.level);
}

void multiply(const AOperand& a, const BOperand& b, std::int32_t* d, std::ptrdiff_t stride,
              const MultiplyOptions& o) {
  run({&a, &b, d, stride, a.type == Element::b1 ? Mode::b1 : Mode::s32, o.zero_c, o.saturate}, o.level);
}

}  // namespace palladion::sim::numerics::tc
