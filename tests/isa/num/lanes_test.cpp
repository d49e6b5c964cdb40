#include "isa/num/lanes.h"

#include <gtest/gtest.h>

#include "tests/isa/num/samples.h"

namespace palladion::isa::num {
namespace {

using lanes::HalfOp;

template <class F, HalfOp O, ArithMods M>
void check_against_scalar(const std::vector<std::uint16_t>& a, const std::vector<std::uint16_t>& b,
                          const std::vector<std::uint16_t>& c) {
  std::vector<std::uint16_t> d(a.size());
  lanes::half_op<F, O, M>(a.data(), b.data(), c.data(), d.data(), static_cast<int>(a.size()));
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(d[i], (lanes::detail::scalar_op<O, F, M>(a[i], b[i], c[i])))
        << std::hex << a[i] << ' ' << b[i] << ' ' << c[i] << " op " << static_cast<int>(O);
  }
}

template <class F, ArithMods M>
void check_all_ops() {
  std::vector<std::uint16_t> a, b, c;
  const auto edge = test::corners<F>();
  for (const auto x : edge) {
    for (const auto y : edge) {
      for (const auto z : edge) a.push_back(x), b.push_back(y), c.push_back(z);
    }
  }
  std::mt19937_64 rng(17);
  for (int i = 0; i < 400000; ++i) {  // calm stretches too, so that the fast path of bf16 is reached
    const bool calm = (i >> 8 & 1) != 0;
    a.push_back(calm ? test::neighbour<F>(F::one, rng, 6) : static_cast<std::uint16_t>(rng()));
    b.push_back(calm ? test::neighbour<F>(F::one, rng, 6) : static_cast<std::uint16_t>(rng()));
    c.push_back(calm ? test::neighbour<F>(F::one, rng, 14) : static_cast<std::uint16_t>(rng()));
  }
  const std::size_t whole = a.size() / 8 * 8;
  a.resize(whole), b.resize(whole), c.resize(whole);
  check_against_scalar<F, HalfOp::add, M>(a, b, c);
  check_against_scalar<F, HalfOp::sub, M>(a, b, c);
  check_against_scalar<F, HalfOp::mul, M>(a, b, c);
  check_against_scalar<F, HalfOp::fma, M>(a, b, c);
}

TEST(Lanes, F16EqualsTheScalarForms) {
  check_all_ops<F16, ArithMods{}>();
  check_all_ops<F16, ArithMods{.ftz = true}>();
  check_all_ops<F16, ArithMods{.ftz = true, .sat = true}>();
  check_all_ops<F16, ArithMods{.relu = true}>();
}

TEST(Lanes, Bf16EqualsTheScalarForms) {
  check_all_ops<Bf16, ArithMods{}>();
  check_all_ops<Bf16, ArithMods{.relu = true}>();
}

TEST(Lanes, ConversionsEqualTheScalarForms) {
  std::vector<std::uint16_t> halves(65536 + 3);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  std::vector<std::uint32_t> wide(halves.size());
  lanes::to_f32<F16>(halves.data(), wide.data(), wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) ASSERT_EQ(wide[i], to_f32_bits<F16>(halves[i]));
  lanes::to_f32<Bf16>(halves.data(), wide.data(), wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) ASSERT_EQ(wide[i], to_f32_bits<Bf16>(halves[i]));
  const auto inputs = test::stratified<F32>(10000);
  std::vector<std::uint16_t> out(inputs.size());
  lanes::from_f32<F16, Rounding::rz>(inputs.data(), out.data(), out.size());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], (encode_f32<F16, Rounding::rz>(inputs[i])));
  lanes::from_f32<Bf16>(inputs.data(), out.data(), out.size());
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], (encode_f32<Bf16>(inputs[i])));
}

}  // namespace
}  // namespace palladion::isa::num
