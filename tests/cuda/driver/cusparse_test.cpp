// cuSPARSE's library: products, solutions, sums and conversions are computed on the host, the rest answers by
// name.
#include <complex>
#include <string>
#include <vector>

#include "tests/cuda/driver/library.h"

namespace palladion::cuda::driver {
namespace {

constexpr Status sparse_invalid_value = 3, sparse_execution_failed = 6, sparse_not_supported = 10;
constexpr int i32 = 2, f32 = 0, f64 = 1, c64 = 5;
constexpr int as_it_is = 0, transposed = 1, adjoint = 2;
constexpr int by_columns = 1;

class Cusparse : public Driver {
 protected:
  void SetUp() override {
    Driver::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    library_ = dlopen((driver_folder + "/libcusparse.so.12").c_str(), RTLD_NOW);
    ASSERT_NE(library_, nullptr) << dlerror();
    ASSERT_EQ(call("cusparseCreate", &handle_), success);
    owned(handle_, "cusparseDestroy");
  }
  struct Arrays {
    void *first, *second, *values;
  };
  void* sparse(const char* create, int64_t rows, int64_t columns, int64_t count, const Arrays& a, int type,
               int base = 0) {
    void* m = nullptr;
    EXPECT_EQ(call(create, &m, rows, columns, count, a.first, a.second, a.values, i32, i32, base, type),
              success);
    return owned(m, "cusparseDestroySpMat");
  }
  void* dense(int64_t rows, int64_t columns, void* values, int type) {
    void* m = nullptr;
    EXPECT_EQ(call("cusparseCreateDnMat", &m, rows, columns, rows, values, type, by_columns), success);
    return owned(m, "cusparseDestroyDnMat");
  }
  void* vector(int64_t size, void* values, int type) {
    void* v = nullptr;
    EXPECT_EQ(call("cusparseCreateDnVec", &v, size, values, type), success);
    return owned(v, "cusparseDestroyDnVec");
  }
  void* description() {
    void* d = nullptr;
    EXPECT_EQ(call("cusparseCreateMatDescr", &d), success);
    return owned(d, "cusparseDestroyMatDescr");
  }
  int64_t count_of(void* m) {
    int64_t rows = 0, columns = 0, count = -1;
    EXPECT_EQ(call("cusparseSpMatGetSize", m, &rows, &columns, &count), success);
    return count;
  }
  void* handle_ = nullptr;
  void* const none_ = nullptr;
};

using Ints = std::vector<int>;

// (1 0 2; 0 0 3) in one-based indices, times a vector, and its transpose. With beta 0 the result is not read.
TEST_F(Cusparse, MultipliesByAVector) {
  const OfDevice<int> offsets(*this, {1, 3, 4}), columns(*this, {1, 3, 3});
  const OfDevice<float> values(*this, {1, 2, 3}), x(*this, {1, 10, 100}), y(*this, {5, NAN});
  void* const a =
      sparse("cusparseCreateCsr", 2, 3, 3, {offsets.pointer(), columns.pointer(), values.pointer()}, f32, 1);
  void *const vx = vector(3, x.pointer(), f32), *const vy = vector(2, y.pointer(), f32);
  const float two = 2, zero = 0, one = 1;
  size_t room = 0;
  EXPECT_EQ(call("cusparseSpMV_bufferSize", handle_, as_it_is, &two, a, vx, &zero, vy, f32, 0, &room),
            success);
  EXPECT_GT(room, 0U);
  EXPECT_EQ(call("cusparseSpMV", handle_, as_it_is, &two, a, vx, &zero, vy, f32, 0, none_), success);
  EXPECT_EQ(y.values(), (std::vector<float>{402, 600}));
  EXPECT_EQ(call("cusparseSpMV", handle_, transposed, &one, a, vy, &two, vx, f32, 0, none_), success);
  EXPECT_EQ(x.values(), (std::vector<float>{404, 20, 2804}));
  EXPECT_EQ(call("cusparseSpMV", handle_, as_it_is, &one, a, vy, &two, vx, f32, 0, none_),
            sparse_invalid_value);
}

// A^H B^T of complex numbers, from coordinates; numbers of the device.
TEST_F(Cusparse, MultipliesByAMatrix) {
  using C = std::complex<double>;
  const OfDevice<int> rows(*this, {0, 1, 1}), columns(*this, {1, 0, 1});
  const OfDevice<C> values(*this, {{0, 1}, {2, 0}, {1, 1}}), b(*this, {{1, 0}, {2, 0}}),
      c(*this, {{0, 0}, {1, 0}});
  const OfDevice<C> alpha(*this, {{1, 0}}), beta(*this, {{0, 3}});
  void* a = nullptr;
  ASSERT_EQ(call("cusparseCreateCoo", &a, int64_t{2}, int64_t{2}, int64_t{3}, rows.pointer(),
                 columns.pointer(), values.pointer(), i32, 0, c64),
            success);
  owned(a, "cusparseDestroySpMat");
  void *const mb = dense(1, 2, b.pointer(), c64), *const mc = dense(2, 1, c.pointer(), c64);
  EXPECT_EQ(call("cusparseSetPointerMode", handle_, 1), success);
  EXPECT_EQ(call("cusparseSpMM", handle_, adjoint, transposed, alpha.pointer(), a, mb, beta.pointer(), mc,
                 c64, 0, none_),
            success);
  EXPECT_EQ(c.values(), (std::vector<C>{{4, 0}, {2, 0}}));  // (0 2; -i 1-i) (1; 2) = (4; 2-3i), + 3i (0; 1)
}

// (0 1; 1 0) and (2 0; 0 3), by rows 4 and 3 elements apart, times one vector each, 3 apart; the third
// product is of another batch.
TEST_F(Cusparse, MultipliesBatches) {
  const OfDevice<int> offsets(*this, {0, 1, 2, -1, 0, 1, 2}), columns(*this, {1, 0, -1, 0, 1});
  const OfDevice<float> values(*this, {1, 1, -1, 2, 3}), b(*this, {5, 7, -1, 10, 100}),
      c(*this, {0, 0, 0, 0});
  void* const a =
      sparse("cusparseCreateCsr", 2, 2, 2, {offsets.pointer(), columns.pointer(), values.pointer()}, f32);
  void *const mb = dense(2, 1, b.pointer(), f32), *const mc = dense(2, 1, c.pointer(), f32);
  const float one = 1, zero = 0;
  const auto multiply = [&] {
    return call("cusparseSpMM", handle_, as_it_is, as_it_is, &one, a, mb, &zero, mc, f32, 0, none_);
  };
  EXPECT_EQ(call("cusparseDnMatSetStridedBatch", mc, 2, int64_t{2}), success);
  EXPECT_EQ(multiply(), success);
  EXPECT_EQ(c.values(), (std::vector<float>{7, 5, 7, 5})) << "both factors belong to all";
  EXPECT_EQ(call("cusparseCsrSetStridedBatch", a, 2, int64_t{4}, int64_t{3}), success);
  EXPECT_EQ(call("cusparseDnMatSetStridedBatch", mb, 2, int64_t{3}), success);
  EXPECT_EQ(multiply(), success);
  EXPECT_EQ(c.values(), (std::vector<float>{7, 5, 20, 300}));
  EXPECT_EQ(call("cusparseDnMatSetStridedBatch", mc, 3, int64_t{0}), success);
  EXPECT_EQ(multiply(), sparse_invalid_value);
  EXPECT_EQ(call("cusparseCooSetStridedBatch", a, 2, int64_t{4}), sparse_invalid_value) << "it is by rows";
  EXPECT_EQ(call("cusparseSparseToDense", handle_, a, dense(2, 2, c.pointer(), f32), 0, none_),
            sparse_not_supported);
}

// (1 2; 0 1) times itself: the pattern first, then the values.
TEST_F(Cusparse, MultipliesSparseMatrices) {
  const OfDevice<int> offsets(*this, {0, 2, 3}), columns(*this, {1, 0, 1}), new_offsets(*this, {-1, -1, -1});
  const OfDevice<double> values(*this, {2, 1, 1});
  void* const a =
      sparse("cusparseCreateCsr", 2, 2, 3, {offsets.pointer(), columns.pointer(), values.pointer()}, f64);
  void* const c = sparse("cusparseCreateCsr", 2, 2, 0, {new_offsets.pointer(), none_, none_}, f64);
  void* plan = nullptr;
  ASSERT_EQ(call("cusparseSpGEMM_createDescr", &plan), success);
  owned(plan, "cusparseSpGEMM_destroyDescr");
  const double one = 1, zero = 0;
  size_t room = 0;
  const auto compute = [&](void* place) {
    return call("cusparseSpGEMM_compute", handle_, as_it_is, as_it_is, &one, a, a, &zero, c, f64, 0, plan,
                &room, place);
  };
  EXPECT_EQ(compute(none_), success);
  EXPECT_EQ(count_of(c), 0);
  EXPECT_EQ(compute(values.pointer()), success);
  ASSERT_EQ(count_of(c), 3);
  const OfDevice<int> new_columns(*this, {-1, -1, -1});
  const OfDevice<double> new_values(*this, {0, 0, 0});
  EXPECT_EQ(
      call("cusparseCsrSetPointers", c, new_offsets.pointer(), new_columns.pointer(), new_values.pointer()),
      success);
  EXPECT_EQ(call("cusparseSpGEMM_copy", handle_, as_it_is, as_it_is, &one, a, a, &zero, c, f64, 0, plan),
            success);
  EXPECT_EQ(new_offsets.values(), (Ints{0, 2, 3}));
  EXPECT_EQ(new_columns.values(), (Ints{0, 1, 1}));
  EXPECT_EQ(new_values.values(), (std::vector<double>{1, 4, 1}));
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cusparseSpGEMM_compute", handle_, as_it_is, as_it_is, &one, a, a, &one, c, f64, 0, plan,
                 &room, values.pointer()),
            sparse_not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "palladion exec: unsupported: cusparseSpGEMM with a beta that is not 0\n");
}

// (2 0; 1 4) and its transpose; an element of the other triangle does not count.
TEST_F(Cusparse, SolvesTriangles) {
  const OfDevice<int> offsets(*this, {0, 2, 4}), columns(*this, {0, 1, 0, 1});
  const OfDevice<float> values(*this, {2, 99, 1, 4}), b(*this, {2, 9}), y(*this, {0, 0});
  void* const a =
      sparse("cusparseCreateCsr", 2, 2, 4, {offsets.pointer(), columns.pointer(), values.pointer()}, f32);
  const int lower = 0, unit = 1;
  EXPECT_EQ(call("cusparseSpMatSetAttribute", a, 0, static_cast<const void*>(&lower), sizeof lower), success);
  void* plan = nullptr;
  ASSERT_EQ(call("cusparseSpSV_createDescr", &plan), success);
  owned(plan, "cusparseSpSV_destroyDescr");
  void *const vb = vector(2, b.pointer(), f32), *const vy = vector(2, y.pointer(), f32);
  const float one = 1, two = 2;
  EXPECT_EQ(call("cusparseSpSV_solve", handle_, as_it_is, &one, a, vb, vy, f32, 0, plan), success);
  EXPECT_EQ(y.values(), (std::vector<float>{1, 2}));
  EXPECT_EQ(call("cusparseSpSV_solve", handle_, transposed, &two, a, vb, vy, f32, 0, plan), success);
  EXPECT_EQ(y.values(), (std::vector<float>{-0.25, 4.5}));
  EXPECT_EQ(call("cusparseSpMatSetAttribute", a, 1, static_cast<const void*>(&unit), sizeof unit), success);
  void *const mb = dense(2, 1, b.pointer(), f32), *const my = dense(2, 1, y.pointer(), f32);
  EXPECT_EQ(call("cusparseSpSM_solve", handle_, as_it_is, as_it_is, &one, a, mb, my, f32, 0, plan), success);
  EXPECT_EQ(y.values(), (std::vector<float>{2, 7}));
}

// (0 1 0; 2 1 1; 0 1 3), whose first pivot is 0, with two right sides 4 apart; then a batch of two.
TEST_F(Cusparse, SolvesTridiagonalSystems) {
  const OfDevice<double> lower(*this, {0, 2, 1}), diagonal(*this, {0, 1, 3}), upper(*this, {1, 1, 0});
  const OfDevice<double> b(*this, {2, 7, 11, -1, 1, 4, 4});
  EXPECT_EQ(call("cusparseDgtsv2", handle_, 3, 2, lower.pointer(), diagonal.pointer(), upper.pointer(),
                 b.pointer(), 4, none_),
            success);
  EXPECT_EQ(b.values(), (std::vector<double>{1, 2, 3, -1, 1, 1, 1}));
  EXPECT_EQ(call("cusparseDgtsv2", handle_, 2, 2, lower.pointer(), diagonal.pointer(), upper.pointer(),
                 b.pointer(), 4, none_),
            sparse_invalid_value);
  const OfDevice<float> lowers(*this, {0, 1, 1, 0, 1, 1}), diagonals(*this, {2, 2, 2, 4, 4, 4}),
      uppers(*this, {1, 1, 0, 1, 1, 0}), x(*this, {3, 4, 3, 6, 12, 14});
  size_t room = 0;
  EXPECT_EQ(call("cusparseSgtsv2StridedBatch_bufferSizeExt", handle_, 3, lowers.pointer(),
                 diagonals.pointer(), uppers.pointer(), x.pointer(), 2, 3, &room),
            success);
  EXPECT_GT(room, 0U);
  EXPECT_EQ(call("cusparseSgtsv2StridedBatch", handle_, 3, lowers.pointer(), diagonals.pointer(),
                 uppers.pointer(), x.pointer(), 2, 3, none_),
            success);
  EXPECT_EQ(x.values(), (std::vector<float>{1, 1, 1, 1, 2, 3}));
}

// (0 5 0; 6 0 7) by columns.
TEST_F(Cusparse, ConvertsDenseMatrices) {
  const OfDevice<float> from(*this, {0, 6, 5, 0, 0, 7}), back(*this, {1, 1, 1, 1, 1, 1}),
      values(*this, {0, 0, 0});
  const OfDevice<int> offsets(*this, {-1, -1, -1, -1}), rows(*this, {-1, -1, -1});
  void* const m = sparse("cusparseCreateCsc", 2, 3, 0, {offsets.pointer(), none_, none_}, f32);
  void *const d = dense(2, 3, from.pointer(), f32), *const e = dense(2, 3, back.pointer(), f32);
  EXPECT_EQ(call("cusparseDenseToSparse_analysis", handle_, d, m, 0, none_), success);
  ASSERT_EQ(count_of(m), 3);
  EXPECT_EQ(call("cusparseCscSetPointers", m, offsets.pointer(), rows.pointer(), values.pointer()), success);
  EXPECT_EQ(call("cusparseDenseToSparse_convert", handle_, d, m, 0, none_), success);
  EXPECT_EQ(offsets.values(), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(rows.values(), (Ints{1, 0, 1}));
  EXPECT_EQ(values.values(), (std::vector<float>{6, 5, 7}));
  EXPECT_EQ(call("cusparseSparseToDense", handle_, m, e, 0, none_), success);
  EXPECT_EQ(back.values(), from.values());
}

TEST_F(Cusparse, SortsAndTransposesIndices) {
  const OfDevice<int> offsets(*this, {0, 2, 3}), columns(*this, {2, 0, 1}), order(*this, {0, 1, 2});
  EXPECT_EQ(call("cusparseXcsrsort", handle_, 2, 3, 3, description(), offsets.pointer(), columns.pointer(),
                 order.pointer(), none_),
            success);
  EXPECT_EQ(columns.values(), (Ints{0, 2, 1}));
  EXPECT_EQ(order.values(), (Ints{1, 0, 2}));
  const OfDevice<int> rows(*this, {-1, -1, -1}), again(*this, {-1, -1, -1});
  EXPECT_EQ(call("cusparseXcsr2coo", handle_, offsets.pointer(), 3, 2, rows.pointer(), 0), success);
  EXPECT_EQ(rows.values(), (Ints{0, 0, 1}));
  EXPECT_EQ(call("cusparseXcoo2csr", handle_, rows.pointer(), 3, 2, again.pointer(), 0), success);
  EXPECT_EQ(again.values(), offsets.values());
  const OfDevice<float> values(*this, {1, 2, 3}), new_values(*this, {0, 0, 0});
  const OfDevice<int> new_offsets(*this, {-1, -1, -1, -1}), new_rows(*this, {-1, -1, -1});
  EXPECT_EQ(
      call("cusparseCsr2cscEx2", handle_, 2, 3, 3, values.pointer(), offsets.pointer(), columns.pointer(),
           new_values.pointer(), new_offsets.pointer(), new_rows.pointer(), f32, 1, 0, 1, none_),
      success);
  EXPECT_EQ(new_offsets.values(), (Ints{0, 1, 2, 3}));
  EXPECT_EQ(new_rows.values(), (Ints{0, 1, 0}));
  EXPECT_EQ(new_values.values(), (std::vector<float>{1, 3, 2}));
}

// 2 (1 0; 0 3) + 1 (4 5; 0 0), where the first matrix is in one-based indices; then without what is at
// most 5.
TEST_F(Cusparse, AddsAndCompresses) {
  const OfDevice<int> offsets_a(*this, {1, 2, 3}), columns_a(*this, {1, 2}), offsets_b(*this, {0, 2, 2}),
      columns_b(*this, {0, 1}), offsets_c(*this, {-1, -1, -1});
  const OfDevice<double> a(*this, {1, 3}), b(*this, {4, 5});
  void *const one_based = description(), *const plain = description();
  EXPECT_EQ(call("cusparseSetMatIndexBase", one_based, 1), success);
  int count = -1;
  EXPECT_EQ(
      call("cusparseXcsrgeam2Nnz", handle_, 2, 2, one_based, 2, offsets_a.pointer(), columns_a.pointer(),
           plain, 2, offsets_b.pointer(), columns_b.pointer(), plain, offsets_c.pointer(), &count, none_),
      success);
  ASSERT_EQ(count, 3);
  EXPECT_EQ(offsets_c.values(), (Ints{0, 2, 3}));
  const OfDevice<int> columns_c(*this, {-1, -1, -1});
  const OfDevice<double> c(*this, {0, 0, 0});
  const double two = 2, one = 1;
  EXPECT_EQ(call("cusparseDcsrgeam2", handle_, 2, 2, &two, one_based, 2, a.pointer(), offsets_a.pointer(),
                 columns_a.pointer(), &one, plain, 2, b.pointer(), offsets_b.pointer(), columns_b.pointer(),
                 plain, c.pointer(), offsets_c.pointer(), columns_c.pointer(), none_),
            success);
  EXPECT_EQ(columns_c.values(), (Ints{0, 1, 1}));
  EXPECT_EQ(c.values(), (std::vector<double>{6, 5, 6}));
  const OfDevice<int> of_rows(*this, {-1, -1}), new_columns(*this, {-1, -1}),
      new_offsets(*this, {-1, -1, -1});
  const OfDevice<double> large(*this, {0, 0});
  EXPECT_EQ(call("cusparseDnnz_compress", handle_, 2, plain, c.pointer(), offsets_c.pointer(),
                 of_rows.pointer(), &count, 5.0),
            success);
  ASSERT_EQ(count, 2);
  EXPECT_EQ(call("cusparseDcsr2csr_compress", handle_, 2, 2, plain, c.pointer(), columns_c.pointer(),
                 offsets_c.pointer(), 3, of_rows.pointer(), large.pointer(), new_columns.pointer(),
                 new_offsets.pointer(), 5.0),
            success);
  EXPECT_EQ(new_columns.values(), (Ints{0, 1}));
  EXPECT_EQ(new_offsets.values(), (Ints{0, 1, 2}));
  EXPECT_EQ(large.values(), (std::vector<double>{6, 6}));
}

TEST_F(Cusparse, GathersAndMultipliesVectors) {
  const OfDevice<int> indices(*this, {2, 0});
  const OfDevice<float> values(*this, {0, 0}), y(*this, {1, 2, 3});
  void* x = nullptr;
  ASSERT_EQ(call("cusparseCreateSpVec", &x, int64_t{3}, int64_t{2}, indices.pointer(), values.pointer(), i32,
                 0, f32),
            success);
  owned(x, "cusparseDestroySpVec");
  void* const vy = vector(3, y.pointer(), f32);
  EXPECT_EQ(call("cusparseGather", handle_, vy, x), success);
  EXPECT_EQ(values.values(), (std::vector<float>{3, 1}));
  float dot = 0;
  EXPECT_EQ(call("cusparseSpVV", handle_, as_it_is, x, vy, static_cast<void*>(&dot), f32, none_), success);
  EXPECT_EQ(dot, 10);
  const float two = 2, ten = 10;
  EXPECT_EQ(call("cusparseAxpby", handle_, &two, x, &ten, vy), success);
  EXPECT_EQ(y.values(), (std::vector<float>{12, 20, 36}));
  EXPECT_EQ(call("cusparseScatter", handle_, x, vy), success);
  EXPECT_EQ(y.values(), (std::vector<float>{1, 20, 3}));
}

// A column outside of the matrix, and offsets that do not ascend, are the program's errors.
TEST_F(Cusparse, RefusesIndicesOutsideOfTheMatrix) {
  const OfDevice<int> offsets(*this, {0, 1}), columns(*this, {2});
  const OfDevice<float> values(*this, {1}), x(*this, {1, 1}), y(*this, {7});
  void* const a =
      sparse("cusparseCreateCsr", 1, 2, 1, {offsets.pointer(), columns.pointer(), values.pointer()}, f32);
  void *const vx = vector(2, x.pointer(), f32), *const vy = vector(1, y.pointer(), f32);
  const float one = 1, zero = 0;
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cusparseSpMV", handle_, as_it_is, &one, a, vx, &zero, vy, f32, 0, none_),
            sparse_execution_failed);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "palladion exec: cusparseSpMV: an index of a sparse matrix lies outside of it\n");
  void* const driver = dlopen((driver_folder + "/libcuda.so.1").c_str(), RTLD_NOW);
  std::swap(library_, *const_cast<void**>(&driver));
  EXPECT_EQ(call("cuCtxSynchronize"), illegal_address);
  std::_Exit(HasFailure() ? 1 : 0);  // every later call gives that error, those of destructors too
}

TEST_F(Cusparse, NamesWhatItLacks) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cusparseScsrilu02", handle_), sparse_not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "palladion exec: unsupported: cusparseScsrilu02\n");
  void* m = nullptr;
  constexpr int f16 = 2;
  testing::internal::CaptureStderr();
  EXPECT_EQ(call("cusparseCreateDnVec", &m, int64_t{4}, none_, f16), sparse_not_supported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "palladion exec: unsupported: cusparseCreateDnVec\n");
}

}  // namespace
}  // namespace palladion::cuda::driver
