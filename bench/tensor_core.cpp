// Speed of the simulated tensor core on one core: billions of multiply-adds per second, decode of both
// operands included (as the machine does for each wgmma) and for the multiply alone.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "sim/numerics/tcgen05.h"
#include "sim/numerics/tensor_core.h"
#include "sim/numerics/tensor_core_mma_sync.h"

namespace {

using namespace palladion::sim::numerics::tc;

struct Case {
  const char* name;
  Element a;
  Result d;
};

constexpr Case cases[] = {
    {"f16.f32", Element::f16, Result::f32},   {"bf16.f32", Element::bf16, Result::f32},
    {"tf32.f32", Element::tf32, Result::f32}, {"e4m3.f32", Element::e4m3, Result::f32},
    {"e5m2.f32", Element::e5m2, Result::f32}, {"f16.f16", Element::f16, Result::f16},
    {"e4m3.f16", Element::e4m3, Result::f16}, {"s8.s32", Element::s8, Result::s32},
    {"u8.s32", Element::u8, Result::s32},     {"b1.s32", Element::b1, Result::s32},
};

// Elements of about a normal distribution, as raw bytes: signs and exponents around 1, random fractions.
std::vector<std::uint8_t> random_elements(Element type, std::size_t bytes, std::uint32_t seed) {
  std::mt19937 rng(seed);
  std::vector<std::uint8_t> out(bytes);
  for (auto& byte : out) byte = static_cast<std::uint8_t>(rng());
  const auto exponent = [&](int bias, int spread) { return bias - static_cast<int>(rng() % spread); };
  const std::size_t size = static_cast<std::size_t>(element_bits(type)) / 8;
  for (std::size_t i = 0; size && i + size <= bytes; i += size) {
    std::uint8_t* top = out.data() + i + size - 1;
    switch (type) {
      case Element::f16:
      case Element::e5m2:
        *top = static_cast<std::uint8_t>((*top & 0x83) | exponent(15, 6) << 2);
        break;
      case Element::e4m3:
        *top = static_cast<std::uint8_t>((*top & 0x87) | exponent(7, 6) << 3);
        break;
      case Element::bf16:
      case Element::tf32: {
        const int e = exponent(127, 8);
        *top = static_cast<std::uint8_t>((*top & 0x80) | e >> 1);
        top[-1] = static_cast<std::uint8_t>((top[-1] & 0x7F) | (e & 1) << 7);
        break;
      }
      default:
        break;
    }
  }
  return out;
}

struct Tile {
  alignas(64) std::uint32_t word[max_m * max_n] = {};
};

// The best of many short trials: on a shared machine some of them run undisturbed.
template <class Work>
double seconds_each(Work work) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int trial = 0; trial < 60; ++trial) {
    const int repeats = 5;
    const auto start = Clock::now();
    for (int i = 0; i < repeats; ++i) work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count() / repeats);
  }
  return best;
}

void multiply_into(const AOperand& a, const BOperand& b, Result type, void* d, int n,
                   const MultiplyOptions& o) {
  switch (type) {
    case Result::f32:
      return multiply(a, b, static_cast<float*>(d), n, o);
    case Result::f16:
      return multiply(a, b, static_cast<std::uint16_t*>(d), n, o);
    default:
      return multiply(a, b, static_cast<std::int32_t*>(d), n, o);
  }
}

void measure(const Case& c, SimdLevel level, int n) {
  const int k = 256 / element_bits(c.a);
  const auto a_bytes = random_elements(c.a, 64 * 32, 1);
  const auto b_bytes = random_elements(c.a, static_cast<std::size_t>(n) * 32, 2);
  const auto a = std::make_unique<AOperand>();
  const auto b = std::make_unique<BOperand>();
  const auto d = std::make_unique<Tile>();
  const MultiplyOptions options{.level = level};
  const MultiplyOptions first{.zero_c = true, .level = level};
  int step = 0;
  const auto once = [&] { multiply_into(*a, *b, c.d, d->word, n, step++ % 16 ? options : first); };
  const auto decode = [&] {
    decode_a(*a, c.a, 64, k, {a_bytes.data(), 32});
    decode_b(*b, c.a, n, k, {b_bytes.data(), 32});
  };
  decode();
  const double multiply_only = seconds_each(once);
  const double whole = seconds_each([&] { decode(), once(); });
  const double macs = 64.0 * n * k;
  fmt::print("{:<9} n={:<4} {:<7} {:>8.2f} {:>12.2f} {:>14.2f}\n", c.name, n,
             level == SimdLevel::avx2 ? "avx2" : "avx512", whole * 1e6, macs / whole * 1e-9,
             macs / multiply_only * 1e-9);
}

void measure_mma_sync(const char* name, const MmaSync& op) {
  const auto a = random_elements(op.a, static_cast<std::size_t>(op.m * op.k * element_bits(op.a) / 8), 3);
  const auto b = random_elements(op.b, static_cast<std::size_t>(op.n * op.k * element_bits(op.b) / 8), 4);
  const auto d = std::make_unique<Tile>();
  const double each = seconds_each([&] { mma_sync(op, a.data(), b.data(), d->word, d->word); });
  fmt::print("{:<28} {:>8.3f} us {:>8.2f} GMAC/s\n", name, each * 1e6, op.m * op.n * op.k / each * 1e-9);
}

namespace tcgen05 = palladion::sim::numerics::tcgen05;

struct Tcgen05Case {
  const char* name;
  tcgen05::Kind kind;
  Element type;
  Result d;
  int scales = 0;  // a row
  tcgen05::Scale scale = tcgen05::Scale::ue8m0;
};

constexpr Tcgen05Case tcgen05_cases[] = {
    {"f16.f32", tcgen05::Kind::f16, Element::f16, Result::f32},
    {"bf16.f32", tcgen05::Kind::f16, Element::bf16, Result::f32},
    {"f16.f16", tcgen05::Kind::f16, Element::f16, Result::f16},
    {"tf32.f32", tcgen05::Kind::tf32, Element::tf32, Result::f32},
    {"e4m3.f32", tcgen05::Kind::f8f6f4, Element::e4m3, Result::f32},
    {"e4m3.f16", tcgen05::Kind::f8f6f4, Element::e4m3, Result::f16},
    {"e2m1.f32", tcgen05::Kind::f8f6f4, Element::e2m1, Result::f32},
    {"s8.s32", tcgen05::Kind::i8, Element::s8, Result::s32},
    {"mxf8 e4m3", tcgen05::Kind::mxf8f6f4, Element::e4m3, Result::f32, 1},
    {"mxf4", tcgen05::Kind::mxf4, Element::e2m1, Result::f32, 2},
    {"nvf4 ue4m3", tcgen05::Kind::mxf4nvf4, Element::e2m1, Result::f32, 4, tcgen05::Scale::ue4m3}};

void measure_tcgen05(const Tcgen05Case& c, SimdLevel level, int n) {
  constexpr int m = tcgen05::max_m;
  const auto a_bytes = random_elements(c.type, m * 32, 1),
             b_bytes = random_elements(c.type, tcgen05::max_n * 32, 2);
  std::mt19937 rng(3);
  std::vector<std::uint8_t> scales(4 * tcgen05::max_n);
  for (auto& s : scales)
    s = static_cast<std::uint8_t>(c.scale == tcgen05::Scale::ue8m0 ? 127 - rng() % 8 : 0x38 + rng() % 16);
  const auto matrix = [&](const std::vector<std::uint8_t>& bytes) {
    return tcgen05::Matrix{
        .type = c.type, .rows = {bytes.data(), 32}, .scales = {c.scale, c.scales, {scales.data(), c.scales}}};
  };
  const auto a = std::make_unique<tcgen05::AOperand>();
  const auto b = std::make_unique<tcgen05::BOperand>();
  std::vector<std::uint32_t> d(m * tcgen05::max_n);
  int step = 0;
  const auto once = [&] {
    tcgen05::multiply(*a, *b, c.d, d.data(), n, {.zero_c = step++ % 16 == 0, .level = level});
  };
  const auto decode = [&] {
    decode_a(*a, c.kind, m, matrix(a_bytes));
    decode_b(*b, c.kind, n, matrix(b_bytes));
  };
  decode();
  const double multiply_only = seconds_each(once);
  const double whole = seconds_each([&] { decode(), once(); });
  const double macs = static_cast<double>(m) * n * tcgen05::k_of(c.kind);
  fmt::print("{:<10} n={:<4} {:<7} {:>8.2f} {:>12.2f} {:>14.2f}\n", c.name, n,
             level == SimdLevel::avx2 ? "avx2" : "avx512", whole * 1e6, macs / whole * 1e-9,
             macs / multiply_only * 1e-9);
}

void measure_all_tcgen05() {
  fmt::print("\ntcgen05.mma, m=128, k of one instruction, one core\n{:<10} {:<6} {:<7} {:>8} {:>12} {:>14}\n",
             "types", "", "level", "us/mma", "GMAC/s", "multiply only");
  for (const Tcgen05Case& c : tcgen05_cases) {
    for (const int n : {64, 256}) {
      measure_tcgen05(c, SimdLevel::avx2, n);
      if (best_simd_level() == SimdLevel::avx512) measure_tcgen05(c, SimdLevel::avx512, n);
    }
  }
}

}  // namespace

int main() {
  fmt::print("m=64, k of one wgmma, one core\n{:<9} {:<6} {:<7} {:>8} {:>12} {:>14}\n", "types", "", "level",
             "us/wgmma", "GMAC/s", "multiply only");
  for (const Case& c : cases) {
    for (const int n : {64, 128, 256}) {
      measure(c, SimdLevel::avx2, n);
      if (best_simd_level() == SimdLevel::avx512) measure(c, SimdLevel::avx512, n);
    }
  }
  measure_all_tcgen05();
  fmt::print("\nmma.sync, one warp's instruction\n");
  measure_mma_sync("m16n8k16.f32.f16", {Element::f16, Element::f16, Result::f32, 16, 8, 16});
  measure_mma_sync("m16n8k8.f32.tf32", {Element::tf32, Element::tf32, Result::f32, 16, 8, 8});
  measure_mma_sync("m16n8k32.f32.e4m3", {Element::e4m3, Element::e4m3, Result::f32, 16, 8, 32});
  measure_mma_sync("m16n8k32.s32.s8", {Element::s8, Element::s8, Result::s32, 16, 8, 32});
  measure_mma_sync("m16n8k16.f64", {Element::f64, Element::f64, Result::f64, 16, 8, 16});
}
