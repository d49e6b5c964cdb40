// cuFFT's library: transforms against their definition.
#include <cmath>
#include <complex>
#include <fstream>
#include <numbers>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {
namespace {

using Complex = std::complex<double>;
using Complex32 = std::complex<float>;
enum : int { r2c = 0x2a, c2r = 0x2c, c2c = 0x29, d2z = 0x6a, z2d = 0x6c, z2z = 0x69 };
constexpr Status invalid_plan = 1, invalid_type = 3, invalid_size = 8, fft_not_supported = 16;

class Cufft : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    library_ = dlopen((driver_folder + "/libcufft.so.12").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  // By the sum that defines it: of three indices, the last one the fastest.
  static std::vector<Complex> defined(const std::vector<Complex>& x, int n0, int n1, int n2, int sign) {
    std::vector<Complex> out(x.size());
    for (int a = 0; a < n0; ++a)
      for (int b = 0; b < n1; ++b)
        for (int c = 0; c < n2; ++c)
          for (int i = 0; i < n0; ++i)
            for (int j = 0; j < n1; ++j)
              for (int k = 0; k < n2; ++k) {
                const double turns = double(a) * i / n0 + double(b) * j / n1 + double(c) * k / n2;
                out[(a * n1 + b) * n2 + c] +=
                    x[(i * n1 + j) * n2 + k] * std::polar(1.0, sign * 2 * std::numbers::pi * turns);
              }
    return out;
  }
  static std::vector<Complex> some(size_t n) {
    std::vector<Complex> x(n);
    for (size_t i = 0; i < n; ++i) x[i] = {std::sin(1.0 + 3.0 * double(i)), std::cos(2.0 * double(i))};
    return x;
  }
  template <class T>
  static void expect_near(const std::vector<T>& got, const std::vector<T>& wanted, double bound) {
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_LE(std::abs(got[i] - wanted[i]), bound) << i;
  }
};

TEST_F(Cufft, TransformsBatchesOfOneDimension) {
  constexpr int n = 12;
  const std::vector<Complex> x = some(2 * n);
  std::vector<Complex32> stored(x.begin(), x.end()), wanted;
  for (int b = 0; b < 2; ++b)
    for (const Complex& v : defined({x.begin() + b * n, x.begin() + (b + 1) * n}, 1, 1, n, -1))
      wanted.emplace_back(v);
  const OfDevice<Complex32> in(*this, stored), out(*this, std::vector<Complex32>(2 * n));
  int plan = 0;
  ASSERT_EQ(call("cufftPlan1d", &plan, n, c2c, 2), success);
  EXPECT_EQ(call("cufftExecC2C", plan, in.pointer(), out.pointer(), -1), success);
  expect_near(out.values(), wanted, 1e-5);
  EXPECT_EQ(call("cufftExecC2C", plan, out.pointer(), out.pointer(), 1),
            success);  // in place, n times the first
  for (Complex32& v : stored) v *= n;
  expect_near(out.values(), stored, 1e-4);
  EXPECT_EQ(call("cufftExecZ2Z", plan, in.pointer(), out.pointer(), 1), invalid_type);
  EXPECT_EQ(call("cufftDestroy", plan), success);
  EXPECT_EQ(call("cufftDestroy", plan), invalid_plan);
}

// Three dimensions, odd sizes: half of the spectrum, and back.
TEST_F(Cufft, RealValuesHaveHalfASpectrum) {
  constexpr int n0 = 3, n1 = 4, n2 = 5, half = n2 / 2 + 1;
  std::vector<Complex> x = some(n0 * n1 * n2);
  std::vector<double> real;
  for (Complex& v : x) real.push_back(v.real()), v = v.real();
  const std::vector<Complex> spectrum = defined(x, n0, n1, n2, -1);
  std::vector<Complex> wanted;
  for (int row = 0; row < n0 * n1; ++row)
    wanted.insert(wanted.end(), spectrum.begin() + row * n2, spectrum.begin() + row * n2 + half);
  const OfDevice<double> in(*this, real), back(*this, std::vector<double>(real.size()));
  const OfDevice<Complex> out(*this, std::vector<Complex>(wanted.size()));
  int there = 0, home = 0;
  ASSERT_EQ(call("cufftPlan3d", &there, n0, n1, n2, d2z), success);
  ASSERT_EQ(call("cufftPlan3d", &home, n0, n1, n2, z2d), success);
  EXPECT_EQ(call("cufftExecD2Z", there, in.pointer(), out.pointer()), success);
  expect_near(out.values(), wanted, 1e-12);
  EXPECT_EQ(call("cufftExecZ2D", home, out.pointer(), back.pointer()), success);
  for (double& v : real) v *= n0 * n1 * n2;
  expect_near(back.values(), real, 1e-11);
}

// In place, rows of real values end with room for the complex ones.
TEST_F(Cufft, InPlaceRowsArePadded) {
  const std::vector<float> real = {1, 2, 3, 4, 0, 0}, wanted = {10, 0, -2, 2, -2, 0};
  const OfDevice<float> memory(*this, real);
  int there = 0, home = 0;
  ASSERT_EQ(call("cufftPlan1d", &there, 4, r2c, 1), success);
  ASSERT_EQ(call("cufftPlan1d", &home, 4, c2r, 1), success);
  EXPECT_EQ(call("cufftExecR2C", there, memory.pointer(), memory.pointer()), success);
  expect_near(memory.values(), wanted, 1e-6);
  EXPECT_EQ(call("cufftExecC2R", home, memory.pointer(), memory.pointer()), success);
  const std::vector<float> back = memory.values();
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(back[i], 4 * real[i], 1e-5);
}

// Columns of a matrix: batches side by side, elements a row apart; the result is dense.
TEST_F(Cufft, LayoutsAreThoseOfThePlan) {
  int n = 4, in_embed = 4, out_embed = 4, plan = 0;
  size_t work = 1;
  const std::vector<Complex> x = some(12);
  std::vector<Complex> wanted;
  for (int column = 0; column < 3; ++column) {
    std::vector<Complex> line;
    for (int row = 0; row < n; ++row) line.push_back(x[row * 3 + column]);
    for (const Complex& v : defined(line, 1, 1, n, 1)) wanted.push_back(v);
  }
  const OfDevice<Complex> in(*this, x), out(*this, std::vector<Complex>(12));
  ASSERT_EQ(call("cufftCreate", &plan), success);
  EXPECT_EQ(call("cufftExecZ2Z", plan, in.pointer(), out.pointer(), 1), invalid_plan) << "it is not made yet";
  ASSERT_EQ(call("cufftMakePlanMany", plan, 1, &n, &in_embed, 3, 1, &out_embed, 1, 4, z2z, 3, &work),
            success);
  EXPECT_EQ(work, 0U);
  EXPECT_EQ(call("cufftExecZ2Z", plan, in.pointer(), out.pointer(), 1), success);
  expect_near(out.values(), wanted, 1e-12);
}

TEST_F(Cufft, RefusesWhatIsNoPlan) {
  int plan = 0, version = 0;
  EXPECT_EQ(call("cufftPlan1d", &plan, 0, c2c, 1), invalid_size);
  EXPECT_EQ(call("cufftPlan1d", &plan, 8, 0x12, 1), invalid_type);
  EXPECT_EQ(call("cufftGetVersion", &version), success);
  EXPECT_EQ(version, 12000);
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cufftXtSetCallback", plan), fft_not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "palladion exec: unsupported: cufftXtSetCallback\n");
}

}  // namespace
}  // namespace palladion::cuda::driver
