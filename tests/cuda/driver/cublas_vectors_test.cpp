// cuBLAS' functions of vectors, of a matrix and a vector, and of symmetric and triangular matrices.
#include <cmath>
#include <complex>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {
namespace {

using ComplexFloat = std::complex<float>;
using ComplexDouble = std::complex<double>;

class CublasVectors : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    library_ = dlopen((driver_folder + "/libcublas.so.13").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    ASSERT_EQ(call("cublasCreate_v2", &handle_), success);
  }
  void TearDown() override {
    if (handle_ != nullptr) {
      EXPECT_EQ(call("cublasDestroy_v2", handle_), success);
    }
    Driver::TearDown();
  }
  template <class T>
  static const void* of(const T& value) {
    return &value;
  }
  void* handle_ = nullptr;
};

TEST_F(CublasVectors, CopiesBetweenHostAndDevice) {
  const OfDevice<float> x(*this, std::vector<float>(6, 9)), y(*this, {1, 2, 3, 4, 5, 6});
  const std::vector<float> from = {1, -1, 2, -1, 3, -1};
  EXPECT_EQ(call("cublasSetVector", 3, 4, static_cast<const void*>(from.data()), 2, x.pointer(), 1), success);
  EXPECT_EQ(x.values(), (std::vector<float>{1, 2, 3, 9, 9, 9}));
  std::vector<float> into(4, 0);
  EXPECT_EQ(call("cublasGetMatrix", 2, 2, 4, static_cast<const void*>(y.pointer()), 3,
                 static_cast<void*>(into.data()), 2),
            success);
  EXPECT_EQ(into, (std::vector<float>{1, 2, 4, 5}));
  EXPECT_EQ(call("cublasSetMatrix", 2, 2, 0, static_cast<const void*>(into.data()), 2, y.pointer(), 3), 7);
}

TEST_F(CublasVectors, AddsScalesAndExchanges) {
  const OfDevice<float> x(*this, {1, 2, 3, 4}), y(*this, {10, 20, 30, 40});
  const float two = 2;
  EXPECT_EQ(call("cublasSaxpy_v2", handle_, 2, of(two), x.pointer(), 2, y.pointer(), -1), success);
  EXPECT_EQ(y.values(), (std::vector<float>{10 + 2 * 3, 20 + 2 * 1, 30, 40})) << "y from its end";
  EXPECT_EQ(call("cublasSscal_v2", handle_, 2, of(two), x.pointer(), 3), success);
  EXPECT_EQ(x.values(), (std::vector<float>{2, 2, 3, 8}));
  EXPECT_EQ(call("cublasSswap_v2", handle_, 1, x.pointer(), 1, y.pointer(), 1), success);
  EXPECT_EQ(call("cublasScopy_v2", handle_, 2, reinterpret_cast<void*>(x.at + 8), 1, y.pointer(), 2),
            success);
  EXPECT_EQ(x.values(), (std::vector<float>{16, 2, 3, 8}));
  EXPECT_EQ(y.values(), (std::vector<float>{3, 22, 8, 40}));
  const OfDevice<ComplexDouble> z(*this, {{1, 2}});
  const double half = 0.5;
  EXPECT_EQ(call("cublasZdscal_v2_64", handle_, int64_t{1}, of(half), z.pointer(), int64_t{1}), success);
  EXPECT_EQ(z.values(), (std::vector<ComplexDouble>{{0.5, 1}}));
}

TEST_F(CublasVectors, GivesNumbersToTheHostOrTheDevice) {
  const OfDevice<float> x(*this, {3, -4, 0}), y(*this, {1, 2, 5});
  float sum = 0, norm = 0, sizes = 0;
  int place = 0;
  EXPECT_EQ(call("cublasSdot_v2", handle_, 3, x.pointer(), 1, y.pointer(), 1, static_cast<void*>(&sum)),
            success);
  EXPECT_EQ(call("cublasSnrm2_v2", handle_, 3, x.pointer(), 1, static_cast<void*>(&norm)), success);
  EXPECT_EQ(call("cublasSasum_v2", handle_, 3, x.pointer(), 1, static_cast<void*>(&sizes)), success);
  EXPECT_EQ(call("cublasIsamax_v2", handle_, 3, x.pointer(), 1, static_cast<void*>(&place)), success);
  EXPECT_EQ(sum, -5);
  EXPECT_EQ(norm, 5);
  EXPECT_EQ(sizes, 7);
  EXPECT_EQ(place, 2);
  EXPECT_EQ(call("cublasIsamin_v2", handle_, 0, x.pointer(), 1, static_cast<void*>(&place)), success);
  EXPECT_EQ(place, 0) << "of nothing";
  const OfDevice<ComplexFloat> a(*this, {{0, 1}}), b(*this, {{0, 1}}), result(*this, {{7, 7}});
  EXPECT_EQ(call("cublasSetPointerMode_v2", handle_, 1), success);
  EXPECT_EQ(call("cublasCdotc_v2", handle_, 1, a.pointer(), 1, b.pointer(), 1, result.pointer()), success);
  EXPECT_EQ(result.values(), (std::vector<ComplexFloat>{{1, 0}}));
  EXPECT_EQ(call("cublasCdotu_v2", handle_, 1, a.pointer(), 1, b.pointer(), 1, result.pointer()), success);
  EXPECT_EQ(result.values(), (std::vector<ComplexFloat>{{-1, 0}}));
}

// (1 3; 2 4) by columns.
TEST_F(CublasVectors, MultipliesAMatrixByAVector) {
  const OfDevice<double> a(*this, {1, 2, 3, 4}), x(*this, {1, 10}), y(*this, {NAN, NAN}), z(*this, {1, 1});
  const double one = 1, two = 2, zero = 0;
  const auto gemv = [&](int op, const double& alpha, const double& beta, void* to) {
    return call("cublasDgemv_v2", handle_, op, 2, 2, of(alpha), a.pointer(), 2, x.pointer(), 1, of(beta), to,
                1);
  };
  EXPECT_EQ(gemv(0, one, zero, y.pointer()), success);
  EXPECT_EQ(y.values(), (std::vector<double>{31, 42})) << "with beta 0, y is not read";
  EXPECT_EQ(gemv(1, two, one, z.pointer()), success);
  EXPECT_EQ(z.values(), (std::vector<double>{43, 87}));
  EXPECT_EQ(call("cublasDger_v2", handle_, 2, 2, of(one), x.pointer(), 1, x.pointer(), 1, a.pointer(), 2),
            success);
  EXPECT_EQ(a.values(), (std::vector<double>{2, 12, 13, 104}));
  EXPECT_EQ(call("cublasDsymv_v2", handle_, 0, 2, of(one), a.pointer(), 2, x.pointer(), 1, of(zero),
                 y.pointer(), 1),
            success);
  EXPECT_EQ(y.values(), (std::vector<double>{122, 1052})) << "of the lower triangle";
  EXPECT_EQ(call("cublasDtrsv_v2", handle_, 1, 0, 0, 2, a.pointer(), 2, y.pointer(), 1), success);
  EXPECT_EQ(call("cublasDtrmv_v2", handle_, 1, 0, 0, 2, a.pointer(), 2, y.pointer(), 1), success);
  EXPECT_NEAR(y.values()[0], 122, 1e-9);
  const OfDevice<uint16_t> m(*this, {0x3c00, 0x4000}), v(*this, {0x4200, 0x3c00});  // 1, 2 and 3, 1
  const OfDevice<float> r(*this, {0});
  const float f = 1, g = 0;
  EXPECT_EQ(call("cublasHSSgemvStridedBatched", handle_, 1, 2, 1, of(f), m.pointer(), 2, 0LL, v.pointer(), 1,
                 0LL, of(g), r.pointer(), 1, 0LL, 1),
            success);
  EXPECT_EQ(r.values(), std::vector<float>{5});
}

TEST_F(CublasVectors, KnowsSymmetricAndTriangularMatrices) {
  const OfDevice<float> a(*this, {1, 2, NAN, 3}), b(*this, {1, 1}), c(*this, {NAN, NAN}), d(*this, {1, 2});
  const float one = 1, two = 2, zero = 0;
  EXPECT_EQ(call("cublasSsymm_v2", handle_, 0, 0, 2, 1, of(one), a.pointer(), 2, b.pointer(), 2, of(zero),
                 c.pointer(), 2),
            success);
  EXPECT_EQ(c.values(), (std::vector<float>{3, 5}));
  EXPECT_EQ(call("cublasStrmm_v2", handle_, 0, 0, 0, 1, 2, 1, of(two), a.pointer(), 2, b.pointer(), 2,
                 b.pointer(), 2),
            success);
  EXPECT_EQ(b.values(), (std::vector<float>{2, 6})) << "the diagonal is of ones";
  const OfDevice<float> square(*this, {-1, -2, -3, -4});
  EXPECT_EQ(
      call("cublasSsyrk_v2", handle_, 0, 0, 2, 1, of(one), d.pointer(), 2, of(zero), square.pointer(), 2),
      success);
  EXPECT_EQ(square.values(), (std::vector<float>{1, 2, -3, 4})) << "the lower triangle alone is written";
  EXPECT_EQ(call("cublasSgeam", handle_, 1, 0, 1, 2, of(two), d.pointer(), 2, of(zero), d.pointer(), 1,
                 c.pointer(), 1),
            success);
  EXPECT_EQ(c.values(), (std::vector<float>{2, 4}));
  EXPECT_EQ(call("cublasSdgmm", handle_, 1, 2, 2, square.pointer(), 2, d.pointer(), 1, square.pointer(), 2),
            success);
  EXPECT_EQ(square.values(), (std::vector<float>{1, 2, -6, 8}));
}

// (0 2; 1 3) needs an exchange of rows; the second matrix is singular.
TEST_F(CublasVectors, FactorsBatches) {
  const OfDevice<double> a(*this, {0, 1, 2, 3}), s(*this, {1, 1, 1, 1}), x(*this, {4, 8}),
      i(*this, {0, 0, 0, 0});
  const OfDevice<Pointer> both(*this, {a.at, s.at}), one(*this, {a.at}), side(*this, {x.at}),
      to(*this, {i.at});
  const OfDevice<int> pivots(*this, {0, 0, 0, 0}), info(*this, {-1, -1});
  EXPECT_EQ(call("cublasDgetrfBatched", handle_, 2, both.pointer(), 2, pivots.pointer(), info.pointer(), 2),
            success);
  EXPECT_EQ(info.values(), (std::vector<int>{0, 2}));
  EXPECT_EQ(pivots.values(), (std::vector<int>{2, 2, 1, 2}));
  int wrong = -1;
  EXPECT_EQ(call("cublasDgetrsBatched", handle_, 0, 2, 1, one.pointer(), 2, pivots.pointer(), side.pointer(),
                 2, static_cast<void*>(&wrong), 1),
            success);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(x.values(), (std::vector<double>{2, 2}));
  EXPECT_EQ(call("cublasDgetriBatched", handle_, 2, one.pointer(), 2, pivots.pointer(), to.pointer(), 2,
                 info.pointer(), 1),
            success);
  EXPECT_EQ(i.values(), (std::vector<double>{-1.5, 0.5, 1, 0}));
}

// Two groups: a product of one element, and two of two by one.
TEST_F(CublasVectors, MultipliesGroups) {
  const OfDevice<float> a(*this, {2}), b(*this, {3}), c(*this, {0}), p(*this, {1, 2}), q(*this, {10}),
      r(*this, {1, 1}), t(*this, {1, 1});
  const OfDevice<Pointer> left(*this, {a.at, p.at, p.at}), right(*this, {b.at, q.at, b.at}),
      to(*this, {c.at, r.at, t.at});
  const std::vector<int> none = {0, 0}, m = {1, 2}, n = {1, 1}, sizes = {1, 2};
  const std::vector<float> alpha = {1, 2}, beta = {0, 1};
  EXPECT_EQ(call("cublasSgemmGroupedBatched", handle_, none.data(), none.data(), m.data(), n.data(), n.data(),
                 alpha.data(), left.pointer(), m.data(), right.pointer(), n.data(), beta.data(), to.pointer(),
                 m.data(), 2, sizes.data()),
            success);
  EXPECT_EQ(c.values(), std::vector<float>{6});
  EXPECT_EQ(r.values(), (std::vector<float>{21, 41}));
  EXPECT_EQ(t.values(), (std::vector<float>{7, 13}));
}

}  // namespace
}  // namespace palladion::cuda::driver
