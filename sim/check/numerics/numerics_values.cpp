#include "sim/check/numerics/numerics_values.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "isa/num/formats.h"

namespace palladion::sim::check {
namespace {

using isa::Type;

// Calls visit with the format's traits; nothing for types that are no floats.
template <class Result, class Visit>
Result with_format(Type t, Visit&& visit) {
  namespace num = isa::num;
  switch (t) {
    case Type::f16:
    case Type::f16x2:
      return visit(num::F16{});
    case Type::bf16:
    case Type::bf16x2:
      return visit(num::Bf16{});
    case Type::f32:
    case Type::tf32:
      return visit(num::F32{});
    case Type::f64:
      return visit(num::F64{});
    case Type::e4m3:
      return visit(num::E4m3{});
    case Type::e5m2:
      return visit(num::E5m2{});
    default:
      return Result{};
  }
}

template <class F>
isa::num::bits_of<F> load(const uint8_t* at) {
  isa::num::bits_of<F> b;
  std::memcpy(&b, at, sizeof b);
  return b;
}

// One pass without a branch, for the compiler to vectorise.
template <class F, bool infinities>
bool any_suspicious(const uint8_t* bytes, size_t count) {
  using Bits = isa::num::bits_of<F>;
  using Signed = std::make_signed_t<Bits>;  // AVX2 compares signed integers only
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  constexpr auto limit = static_cast<Signed>(F::inf_magnitude - (infinities ? 1 : 0));
  Signed largest = 0;
  for (size_t i = 0; i < count / sizeof(Bits); ++i)
    largest =
        std::max(largest, static_cast<Signed>(load<F>(bytes + i * sizeof(Bits)) & static_cast<Bits>(~sign)));
  return largest > limit;
}

}  // namespace

uint32_t number_bytes(Type type) {
  return with_format<uint32_t>(type, [](auto f) { return uint32_t{sizeof(isa::num::bits_of<decltype(f)>)}; });
}

Special special(Type type, const uint8_t* number) {
  return with_format<Special>(type, [&](auto f) {
    using F = decltype(f);
    return Special{isa::num::is_nan<F>(load<F>(number)), isa::num::is_inf<F>(load<F>(number))};
  });
}

double value(Type type, const uint8_t* number) {
  return with_format<double>(type, [&](auto f) {
    using F = decltype(f);
    return isa::num::to_double<F>(load<F>(number));
  });
}

Special special_in(Type type, const uint8_t* bytes, size_t count) {
  Special all;
  const uint32_t step = number_bytes(type);
  for (size_t at = 0; step != 0 && at + step <= count; at += step) all |= special(type, bytes + at);
  return all;
}

bool suspicious(Type type, const uint8_t* bytes, size_t count) {
  namespace num = isa::num;
  switch (type) {
    case Type::f16:
    case Type::f16x2:
      return any_suspicious<num::F16, true>(bytes, count);
    case Type::bf16:
    case Type::bf16x2:
      return any_suspicious<num::Bf16, false>(bytes, count);
    case Type::f32:
    case Type::tf32:
      return any_suspicious<num::F32, false>(bytes, count);
    case Type::f64:
      return any_suspicious<num::F64, false>(bytes, count);
    default:
      return false;
  }
}

}  // namespace palladion::sim::check
