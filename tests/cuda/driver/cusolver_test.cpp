// cuSOLVER's library: factors, solutions and spectra are computed on the host, the rest answers by name.
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {
namespace {

constexpr int lower_triangle = 0, upper_triangle = 1;
constexpr Status solver_not_supported = 9;

class Cusolver : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    library_ = dlopen((driver_folder + "/libcusolver.so.12").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    ASSERT_EQ(call("cusolverDnCreate", &handle_), success);
    owned(handle_, "cusolverDnDestroy");
  }
  void* handle_ = nullptr;
};

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<T>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_LT(std::abs(got[i] - wanted[i]), 1e-5) << i << ": " << got[i];
}

// A = L L^T with L = (2; 1 3); the other triangle stays.
TEST_F(Cusolver, FactorsAndSolvesByCholesky) {
  const OfDevice<float> a(*this, {4, 2, -7, 10}), b(*this, {8, 24});
  const OfDevice<int> info(*this, {-1});
  int room = -1;
  EXPECT_EQ(call("cusolverDnSpotrf_bufferSize", handle_, lower_triangle, 2, a.pointer(), 2, &room), success);
  EXPECT_EQ(room, 0);
  EXPECT_EQ(call("cusolverDnSpotrf", handle_, lower_triangle, 2, a.pointer(), 2, static_cast<void*>(nullptr),
                 0, info.pointer()),
            success);
  expect_near(a.values(), {2, 1, -7, 3});
  EXPECT_EQ(info.values(), std::vector<int>{0});
  EXPECT_EQ(
      call("cusolverDnSpotrs", handle_, lower_triangle, 2, 1, a.pointer(), 2, b.pointer(), 2, info.pointer()),
      success);
  expect_near(b.values(), {8.0F / 9, 20.0F / 9});  // 4 x + 2 y = 8, 2 x + 10 y = 24
  const OfDevice<double> no(*this, {1, 0, 3, 4});  // 4 < 3 * 3
  EXPECT_EQ(call("cusolverDnDpotrf", handle_, upper_triangle, 2, no.pointer(), 2, static_cast<void*>(nullptr),
                 0, info.pointer()),
            success);
  EXPECT_EQ(info.values(), std::vector<int>{2});
}

// (4 2; 2 10) and one that is not positive; by arrays of addresses.
TEST_F(Cusolver, FactorsAndSolvesBatches) {
  const OfDevice<float> a(*this, {4, 2, -7, 10}), no(*this, {1, 3, -7, 4}), b(*this, {8, 24});
  const OfDevice<Pointer> both(*this, {a.at, no.at}), sides(*this, {b.at});
  const OfDevice<int> info(*this, {-1, -1});
  EXPECT_EQ(call("cusolverDnSpotrfBatched", handle_, lower_triangle, 2, both.pointer(), 2, info.pointer(), 2),
            success);
  EXPECT_EQ(info.values(), (std::vector<int>{0, 2}));
  expect_near(a.values(), {2, 1, -7, 3});
  EXPECT_EQ(call("cusolverDnSpotrsBatched", handle_, lower_triangle, 2, 1, both.pointer(), 2, sides.pointer(),
                 2, info.pointer(), 1),
            success);
  expect_near(b.values(), {8.0F / 9, 20.0F / 9});
}

// A rotation has the eigenvalues i and -i; the vectors of the pair are a real and an imaginary column.
TEST_F(Cusolver, FindsEigenvaluesOfAnyMatrix) {
  constexpr int f64 = 1, c64 = 5;
  const OfDevice<double> a(*this, {0, -1, 1, 0}), v(*this, {0, 0, 0, 0});
  const OfDevice<std::complex<double>> w(*this, {{0, 0}, {0, 0}});
  const OfDevice<int> info(*this, {-1});
  void* const none = nullptr;
  const auto solve = [&](int left) {
    return call("cusolverDnXgeev", handle_, none, left, 1, int64_t{2}, f64, a.pointer(), int64_t{2}, c64,
                w.pointer(), f64, none, int64_t{2}, f64, v.pointer(), int64_t{2}, f64, none, size_t{0}, none,
                size_t{0}, info.pointer());
  };
  EXPECT_EQ(solve(0), success);
  expect_near(w.values(), {{0, 1}, {0, -1}});
  EXPECT_EQ(info.values(), std::vector<int>{0});
  const std::vector<double> columns = v.values();
  const std::complex<double> x(columns[0], columns[2]), y(columns[1], columns[3]), i(0, 1);
  EXPECT_LT(std::abs(y - i * x), 1e-12);
  EXPECT_NEAR(std::norm(x) + std::norm(y), 1, 1e-12);
  EXPECT_EQ(solve(1), solver_not_supported);
}

// (0 2; 3 4), whose rows are exchanged.
TEST_F(Cusolver, FactorsAndSolvesByPivots) {
  const OfDevice<double> a(*this, {0, 3, 2, 4}), b(*this, {2, 10}), turned(*this, {3, 6});
  const OfDevice<int> info(*this, {-1}), pivots(*this, {0, 0});
  EXPECT_EQ(call("cusolverDnDgetrf", handle_, 2, 2, a.pointer(), 2, static_cast<void*>(nullptr),
                 pivots.pointer(), info.pointer()),
            success);
  expect_near(a.values(), {3, 0, 4, 2});
  EXPECT_EQ(pivots.values(), (std::vector<int>{2, 2}));
  EXPECT_EQ(call("cusolverDnDgetrs", handle_, 0, 2, 1, a.pointer(), 2, pivots.pointer(), b.pointer(), 2,
                 info.pointer()),
            success);
  expect_near(b.values(), {2, 1});  // 2 y = 2, 3 x + 4 y = 10
  EXPECT_EQ(call("cusolverDnDgetrs", handle_, 1, 2, 1, a.pointer(), 2, pivots.pointer(), turned.pointer(), 2,
                 info.pointer()),
            success);
  expect_near(turned.values(), {1, 1});  // 3 y = 3, 2 x + 4 y = 6
  const OfDevice<std::complex<float>> zero(*this, {{0, 0}});
  const OfDevice<int64_t> wide(*this, {0});
  EXPECT_EQ(call("cusolverDnXgetrf", handle_, static_cast<void*>(nullptr), int64_t{1}, int64_t{1}, 4,
                 zero.pointer(), int64_t{1}, wide.pointer(), 4, static_cast<void*>(nullptr), size_t{0},
                 static_cast<void*>(nullptr), size_t{0}, info.pointer()),
            success);
  EXPECT_EQ(info.values(), std::vector<int>{1}) << "its first pivot is zero";
  EXPECT_EQ(wide.values(), std::vector<int64_t>{1});
}

// Q R is A again: R from the upper triangle, by Q of the reflectors.
template <class T, class Test>
void factor_by_reflectors(Test& test, void* handle, const std::string& letter, const std::string& q,
                          int adjoint, const std::vector<T>& values) {
  using Array = typename Test::template OfDevice<T>;
  const Array a(test, values), tau(test, {T(0), T(0)});
  const typename Test::template OfDevice<int> info(test, {-1});
  void* const none = nullptr;
  EXPECT_EQ(test.call(("cusolverDn" + letter + "geqrf").c_str(), handle, 3, 2, a.pointer(), 3, tau.pointer(),
                      none, 0, info.pointer()),
            success);
  const auto f = a.values();
  const Array c(test, {f[0], T(0), T(0), f[3], f[4], T(0)}), copy(test, values);
  EXPECT_EQ(test.call(("cusolverDn" + letter + q + "mqr").c_str(), handle, 0, 0, 3, 2, 2, a.pointer(), 3,
                      tau.pointer(), c.pointer(), 3, none, 0, info.pointer()),
            success);
  expect_near(c.values(), values);
  EXPECT_EQ(test.call(("cusolverDn" + letter + q + "mqr").c_str(), handle, 0, adjoint, 3, 2, 2, a.pointer(),
                      3, tau.pointer(), copy.pointer(), 3, none, 0, info.pointer()),
            success);
  expect_near(copy.values(), {f[0], T(0), T(0), f[3], f[4], T(0)});
  EXPECT_EQ(test.call(("cusolverDn" + letter + q + "gqr").c_str(), handle, 3, 2, 2, a.pointer(), 3,
                      tau.pointer(), none, 0, info.pointer()),
            success);
  const auto columns = a.values();
  for (int i = 0; i < 3; ++i) EXPECT_LT(std::abs(columns[i] * f[0] - values[i]), 1e-5) << i;
}

class Reflectors : public Cusolver {
 public:
  using Driver::call, Driver::OfDevice;
  void* handle() { return handle_; }
};
TEST_F(Reflectors, GiveTheMatrixAgain) {
  factor_by_reflectors<double>(*this, handle(), "D", "or", 1, {1, 2, 2, 3, -4, 5});
  factor_by_reflectors<std::complex<float>>(*this, handle(), "C", "un", 2,
                                            {{1, 1}, {2, 0}, {0, 2}, {3, -1}, {-4, 0}, {5, 2}});
}

// (2 i; -i 2) has 1 and 3; of the real ones in a batch, (2 1; 1 2) and the diagonal (5, 4).
TEST_F(Cusolver, FindsEigenvalues) {
  using c64 = std::complex<double>;
  const OfDevice<c64> a(*this, {{2, 0}, {0, -1}, {9, 9}, {2, 0}});
  const OfDevice<double> values(*this, {0, 0});
  const OfDevice<int> info(*this, {-1, -1});
  EXPECT_EQ(call("cusolverDnZheevd", handle_, 1, lower_triangle, 2, a.pointer(), 2, values.pointer(),
                 static_cast<void*>(nullptr), 0, info.pointer()),
            success);
  expect_near(values.values(), {1, 3});
  const auto v = a.values();  // A v = 3 v
  EXPECT_LT(std::abs(2.0 * v[2] + c64(0, 1) * v[3] - 3.0 * v[2]), 1e-9);
  const OfDevice<float> batch(*this, {2, 9, 1, 2, 5, 9, 0, 4}), of_batch(*this, {0, 0, 0, 0});
  EXPECT_EQ(
      call("cusolverDnSsyevjBatched", handle_, 0, upper_triangle, 2, batch.pointer(), 2, of_batch.pointer(),
           static_cast<void*>(nullptr), 0, info.pointer(), static_cast<void*>(nullptr), 2),
      success);
  expect_near(of_batch.values(), {1, 3, 4, 5});
  EXPECT_EQ(info.values(), (std::vector<int>{0, 0}));
}

// 3 x 2: U S V^T is the matrix again.
TEST_F(Cusolver, FindsSingularValues) {
  const std::vector<double> values = {3, 0, 4, 1, 2, 0};
  const OfDevice<double> a(*this, values), s(*this, {0, 0}), u(*this, std::vector<double>(9)),
      vt(*this, std::vector<double>(4));
  const OfDevice<int> info(*this, {-1});
  void* const none = nullptr;
  const auto decompose = [&](signed char letter) {
    return call("cusolverDnDgesvd", handle_, letter, letter, 3, 2, a.pointer(), 3, s.pointer(), u.pointer(),
                3, vt.pointer(), 2, none, 0, none, info.pointer());
  };
  EXPECT_EQ(decompose('A'), success);
  const auto all = u.values(), scale = s.values(), right = vt.values();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j)
      EXPECT_NEAR(all[i] * scale[0] * right[2 * j] + all[3 + i] * scale[1] * right[2 * j + 1],
                  values[3 * j + i], 1e-9);
  EXPECT_NEAR(all[6] * all[6] + all[7] * all[7] + all[8] * all[8], 1, 1e-9) << "the third column of U";
  EXPECT_EQ(call("cusolverDnDgesvd", handle_, static_cast<signed char>('O'), static_cast<signed char>('N'), 3,
                 2, a.pointer(), 3, s.pointer(), none, 1, none, 1, none, 0, none, info.pointer()),
            success);
  expect_near(a.values(), {all[0], all[1], all[2], all[3], all[4], all[5]});
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cusolverDnSgebrd", handle_), solver_not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "palladion exec: unsupported: cusolverDnSgebrd\n");
  const OfDevice<float> b(*this, {0, 2, -5, 0}), t(*this, {0, 0}), left(*this, {0, 0, 0, 0}),
      v(*this, {0, 0, 0, 0});
  EXPECT_EQ(call("cusolverDnSgesvdj", handle_, 1, 1, 2, 2, b.pointer(), 2, t.pointer(), left.pointer(), 2,
                 v.pointer(), 2, none, 0, info.pointer(), none),
            success);
  expect_near(t.values(), {5, 2});
  EXPECT_NEAR(left.values()[0] * v.values()[1] * 5, -5, 1e-5);
}

}  // namespace
}  // namespace palladion::cuda::driver
