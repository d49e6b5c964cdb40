// Products in groups: each group is a batch with its own sizes, given by arrays of addresses.
#include <vector>

#include "cuda/driver/cublas/gemm.h"

namespace palladion::cuda::cublas {
namespace {

template <class Int>
struct Groups {
  const char* name;
  const int *op_a, *op_b;
  const Int *m, *n, *k, *lda, *ldb, *ldc;
  const void *a, *b, *c;  // arrays of addresses in device memory, of one group behind the other
  Type type_a, type_b, type_c;
  const void *alpha, *beta;  // arrays of the host
  Int count;
  const Int* sizes;
};

const void* shifted(const void* at, int64_t bytes) { return static_cast<const char*>(at) + bytes; }

template <class Int>
Status run_groups(const Handle* h, const Groups<Int>& g, int compute) {
  if (h == nullptr) return not_initialized;
  if (g.count < 0) return invalid_value;
  if (g.count == 0) return success;
  for (const void* const array :
       {static_cast<const void*>(g.op_a), static_cast<const void*>(g.op_b), static_cast<const void*>(g.m),
        static_cast<const void*>(g.n), static_cast<const void*>(g.k), static_cast<const void*>(g.lda),
        static_cast<const void*>(g.ldb), static_cast<const void*>(g.ldc), static_cast<const void*>(g.sizes),
        g.alpha, g.beta})
    if (array == nullptr) return invalid_value;
  const auto sum = summed(compute, g.type_c);
  if (h->pointer_mode != 0 || !sum) {
    palladion_exec_unsupported(h->pointer_mode != 0 ? "groups of products with scalars of the device"
                                                    : g.name);
    return not_supported;
  }
  const auto scalar = static_cast<int64_t>(size_of(*sum));
  int64_t before = 0;  // products of the groups in front
  for (Int i = 0; i < g.count; ++i) {
    if (g.sizes[i] < 0) return invalid_value;
    const int64_t addresses = before * static_cast<int64_t>(sizeof(void*));
    Gemm one{g.name,
             g.m[i],
             g.n[i],
             g.k[i],
             g.sizes[i],
             {shifted(g.a, addresses), g.type_a, g.lda[i], 0, g.op_a[i]},
             {shifted(g.b, addresses), g.type_b, g.ldb[i], 0, g.op_b[i]},
             {shifted(g.c, addresses), g.type_c, g.ldc[i]},
             shifted(g.alpha, i * scalar),
             shifted(g.beta, i * scalar),
             {},
             true};
    if (const Status status = run_ex(h, one, compute); status != success) return status;
    before += g.sizes[i];
  }
  return success;
}

}  // namespace
}  // namespace palladion::cuda::cublas

using namespace palladion::cuda::cublas;

#define PLD_GROUPED(NAME, INT, T, TYPE, COMPUTE)                                                          \
  PLD_STAND_IN Status NAME(Handle* h, const int* ta, const int* tb, const INT* m, const INT* n,           \
                           const INT* k, const T* alpha, const T* const* a, const INT* lda,               \
                           const T* const* b, const INT* ldb, const T* beta, T* const* c, const INT* ldc, \
                           INT count, const INT* sizes) {                                                 \
    return run_groups<INT>(                                                                               \
        h,                                                                                                \
        {#NAME, ta, tb, m, n, k, lda, ldb, ldc, static_cast<const void*>(a), static_cast<const void*>(b), \
         static_cast<const void*>(c), TYPE, TYPE, TYPE, alpha, beta, count, sizes},                       \
        COMPUTE);                                                                                         \
  }
#define PLD_GROUPED_EX(NAME, INT)                                                                           \
  PLD_STAND_IN Status NAME(Handle* h, const int* ta, const int* tb, const INT* m, const INT* n,             \
                           const INT* k, const void* alpha, const void* const* a, Type at, const INT* lda,  \
                           const void* const* b, Type bt, const INT* ldb, const void* beta, void* const* c, \
                           Type ct, const INT* ldc, INT count, const INT* sizes, int compute) {             \
    return run_groups<INT>(                                                                                 \
        h,                                                                                                  \
        {#NAME, ta, tb, m, n, k, lda, ldb, ldc, static_cast<const void*>(a), static_cast<const void*>(b),   \
         static_cast<const void*>(c), at, bt, ct, alpha, beta, count, sizes},                               \
        compute);                                                                                           \
  }
constexpr int sum_f32 = 68, sum_f64 = 70;  // cublasComputeType_t
PLD_GROUPED(cublasSgemmGroupedBatched, int, float, Type::f32, sum_f32)
PLD_GROUPED(cublasSgemmGroupedBatched_64, int64_t, float, Type::f32, sum_f32)
PLD_GROUPED(cublasDgemmGroupedBatched, int, double, Type::f64, sum_f64)
PLD_GROUPED(cublasDgemmGroupedBatched_64, int64_t, double, Type::f64, sum_f64)
PLD_GROUPED_EX(cublasGemmGroupedBatchedEx, int)
PLD_GROUPED_EX(cublasGemmGroupedBatchedEx_64, int64_t)
