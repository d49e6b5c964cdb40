// An error in a carry names the carry, the loop, and the line that computed the value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <source_location>

#include "frontend/plgpu.h"

namespace palladion::test {
namespace {

using testing::HasSubstr;

isa::Diagnostic refused(const std::function<void(const plgpu::Ref&)>& body) {
  try {
    plgpu::kernel([&](const plgpu::Ref& out) { body(out); }, {.out_type = {pl::f32, {128}}});
  } catch (const isa::Error& e) {
    return e.diagnostics().front();
  }
  return {};
}

TEST(Carry, AnErrorNamesTheCarryAndItsLine) {
  uint32_t value = 0;
  const isa::Diagnostic d = refused([&](const plgpu::Ref&) {
    pl::fori_loop(
        0, 9,
        [&](pl::Index i, pl::Scalar a, pl::Scalar b) {
          value = std::source_location::current().line() + 1;
          const pl::Scalar wide = (b * i).astype(pl::f32);
          const pl::Scalar other = a * i;
          return std::tuple{other, wide};
        },
        pl::Scalar(1), pl::Scalar(2));
  });
  EXPECT_EQ(d.code, "PLD2601");
  EXPECT_EQ(d.loc.line, value);
  EXPECT_THAT(d.message, HasSubstr("carry 2 of 2 starts as a s32 number and continues as a f32 number"));
  EXPECT_THAT(d.message, HasSubstr("fori_loop (carry_test.cpp:"));
}

TEST(Carry, ANumberOfTheHostHasTheLineOfTheLastVerb) {
  uint32_t last = 0;
  const isa::Diagnostic d = refused([&](const plgpu::Ref& out) {
    pl::fori_loop(
        0, 9,
        [&](pl::Index, pl::Scalar) {
          last = std::source_location::current().line() + 1;
          out.store(0.0F);
          return pl::Scalar(0.5F);
        },
        pl::Scalar(1));
  });
  EXPECT_EQ(d.loc.line, last);
  EXPECT_THAT(d.message, HasSubstr("the carry starts as"));
}

TEST(SharedMemory, TooMuchIsShownAsATable) {
  isa::Diagnostic d;
  try {
    plgpu::kernel([](const plgpu::Ref&, plgpu::Scratch&) {},
                  {.out_type = {pl::f32, {1}},
                   .scratch_types = {{"small", plgpu::SMEM({64, 64}, pl::f16)},
                                     {"large", plgpu::SMEM({256, 256}, pl::f32)},
                                     {"full", plgpu::Barrier()}}});
  } catch (const isa::Error& e) {
    d = e.diagnostics().front();
  }
  EXPECT_EQ(d.code, "PLD2504");
  EXPECT_THAT(d.help, HasSubstr("\n      262144 bytes at     8192  large: f32"));
  EXPECT_LT(d.help.find("large: "), d.help.find("small: "));
  EXPECT_LT(d.help.find("small: "), d.help.find("full: mbarrier"));
}

}  // namespace
}  // namespace palladion::test
