// Products of matrices: C = alpha op(A) op(B) + beta C, by columns, one or a batch of them: at equal
// distances or by arrays of addresses.
#include "cuda/driver/cublas/gemm.h"

#include <array>

namespace palladion::cuda::cublas {
namespace {

template <class T>
Matrix<T> operand(const Operand& o, const void* view, int64_t rows, int64_t columns) {
  if (o.op == 0) return read<T>(o.type, view, rows, columns, o.leading);
  const Matrix<T> stored = read<T>(o.type, view, columns, rows, o.leading);
  return o.op == 1 ? Matrix<T>(stored.transpose()) : Matrix<T>(stored.adjoint());
}

// With alpha = 0 neither A nor B is read, with beta = 0 not C.
template <class T>
void multiply(const Gemm& g, const void* alpha_at, const void* beta_at, void* const* views) {
  const T alpha = scalar<T>(g.scalar, alpha_at), beta = scalar<T>(g.scalar, beta_at);
  for (int64_t i = 0; i < g.batch; ++i) {
    void *const a = views[i], *const b = views[g.batch + i], *const c = views[2 * g.batch + i];
    Matrix<T> sum = Matrix<T>::Zero(g.m, g.n);
    if (alpha != T(0) && g.k > 0)
      sum.noalias() = alpha * operand<T>(g.a, a, g.m, g.k) * operand<T>(g.b, b, g.k, g.n);
    if (beta != T(0)) sum += beta * read<T>(g.c.type, c, g.m, g.n, g.c.leading);
    write(sum, g.c.type, c, g.c.leading);
  }
}

void multiply(const Gemm& g, const void* alpha, const void* beta, void* const* views) {
  with_scalar(g.scalar, [&]<class T>(T) { multiply<T>(g, alpha, beta, views); });
}

// The matrices of an operand, which have so many rows and columns as they lie in memory.
void add_pieces(std::vector<Piece>& to, const Gemm& g, const Operand& o, int64_t rows, int64_t columns,
                bool reads, bool writes) {
  if (o.op != 0) std::swap(rows, columns);
  const size_t size = size_of(o.type);
  Piece piece{o.at, rows * size, static_cast<size_t>(columns), o.leading * size, reads, writes};
  if (g.by_pointers) {
    piece.pointers = static_cast<size_t>(g.batch);
    return to.push_back(piece);
  }
  for (int64_t i = 0; i < g.batch; ++i) {
    piece.at = static_cast<const char*>(o.at) + i * o.stride * static_cast<int64_t>(size);
    to.push_back(piece);
  }
}

bool fits(const Operand& o, int64_t rows, int64_t columns) {
  return o.op >= 0 && o.op <= 2 && o.leading >= std::max<int64_t>(1, o.op == 0 ? rows : columns);
}

}  // namespace

Status run(const Handle* handle, Gemm g) {
  if (handle == nullptr) return not_initialized;
  if (g.m < 0 || g.n < 0 || g.k < 0 || g.batch < 0 || g.alpha == nullptr || g.beta == nullptr ||
      !fits(g.a, g.m, g.k) || !fits(g.b, g.k, g.n) || !fits(g.c, g.m, g.n))
    return invalid_value;
  if (g.m == 0 || g.n == 0 || g.batch == 0) return success;
  const bool of_device = handle->pointer_mode == 1;
  const bool reads_c = of_device || !is_zero(g.scalar, g.beta);
  std::vector<Piece> pieces;
  add_pieces(pieces, g, g.a, g.m, g.k, true, false);
  add_pieces(pieces, g, g.b, g.k, g.n, true, false);
  add_pieces(pieces, g, g.c, g.m, g.n, reads_c, true);
  std::array<char, sizeof(Complex64)> alpha{}, beta{};
  const size_t size = size_of(g.scalar);
  if (of_device)
    for (const void* const at : {g.alpha, g.beta}) pieces.push_back({at, size, 1, 0, true, false});
  else
    std::memcpy(alpha.data(), g.alpha, size), std::memcpy(beta.data(), g.beta, size);
  const int done = compute_on_host(g.name, handle->stream, pieces, [=](void* const* views) {
    void* const* const scalars = views + 3 * g.batch;
    multiply(g, of_device ? scalars[0] : alpha.data(), of_device ? scalars[1] : beta.data(), views);
  });
  return done == 0 ? success : execution_failed;
}

namespace {

bool are_there(const Gemm& g) {
  const auto both = [&](auto... types) { return ((g.a.type == types && g.b.type == types) || ...); };
  switch (g.scalar) {
    case Type::f16:
      return both(Type::f16) && g.c.type == Type::f16;
    case Type::i32:
      return both(Type::i8) && g.c.type == Type::i32;
    case Type::f32:
      return both(Type::f32, Type::f16, Type::bf16, Type::i8) &&
             (g.c.type == Type::f32 || (g.c.type == g.a.type && g.c.type != Type::i8));
    default:
      return both(g.scalar) && g.c.type == g.scalar;
  }
}

}  // namespace

Status run_ex(const Handle* handle, Gemm g, int compute) {
  const auto sum = summed(compute, g.c.type);
  if (sum) g.scalar = *sum;
  if (!sum || !are_there(g)) {
    palladion_exec_unsupported(g.name);
    return not_supported;
  }
  return run(handle, g);
}

}  // namespace palladion::cuda::cublas

using namespace palladion::cuda::cublas;

// Both widths of sizes: NAME and NAME_64.
#define PLD_GEMM(NAME, INT, T)                                                                               \
  PLD_STAND_IN Status NAME(Handle* h, int ta, int tb, INT m, INT n, INT k, const void* alpha, const void* a, \
                           INT lda, const void* b, INT ldb, const void* beta, void* c, INT ldc) {            \
    return run(h, {#NAME, m, n, k, 1, {a, T, lda, 0, ta}, {b, T, ldb, 0, tb}, {c, T, ldc}, alpha, beta, T}); \
  }
#define PLD_GEMM_STRIDED(NAME, INT, T)                                                                       \
  PLD_STAND_IN Status NAME(Handle* h, int ta, int tb, INT m, INT n, INT k, const void* alpha, const void* a, \
                           INT lda, long long sa, const void* b, INT ldb, long long sb, const void* beta,    \
                           void* c, INT ldc, long long sc, INT batch) {                                      \
    return run(                                                                                              \
        h,                                                                                                   \
        {#NAME, m, n, k, batch, {a, T, lda, sa, ta}, {b, T, ldb, sb, tb}, {c, T, ldc, sc}, alpha, beta, T}); \
  }
#define PLD_GEMM_EX(NAME, INT)                                                                               \
  PLD_STAND_IN Status NAME(Handle* h, int ta, int tb, INT m, INT n, INT k, const void* alpha, const void* a, \
                           Type at, INT lda, const void* b, Type bt, INT ldb, const void* beta, void* c,     \
                           Type ct, INT ldc, int compute, int) {                                             \
    return run_ex(h,                                                                                         \
                  {#NAME, m, n, k, 1, {a, at, lda, 0, ta}, {b, bt, ldb, 0, tb}, {c, ct, ldc}, alpha, beta},  \
                  compute);                                                                                  \
  }
#define PLD_GEMM_STRIDED_EX(NAME, INT)                                                                       \
  PLD_STAND_IN Status NAME(Handle* h, int ta, int tb, INT m, INT n, INT k, const void* alpha, const void* a, \
                           Type at, INT lda, long long sa, const void* b, Type bt, INT ldb, long long sb,    \
                           const void* beta, void* c, Type ct, INT ldc, long long sc, INT batch,             \
                           int compute, int) {                                                               \
    return run_ex(                                                                                           \
        h,                                                                                                   \
        {#NAME, m, n, k, batch, {a, at, lda, sa, ta}, {b, bt, ldb, sb, tb}, {c, ct, ldc, sc}, alpha, beta},  \
        compute);                                                                                            \
  }
#define PLD_GEMM_BATCHED(NAME, INT, T)                                                                       \
  PLD_STAND_IN Status NAME(Handle* h, int ta, int tb, INT m, INT n, INT k, const void* alpha, const void* a, \
                           INT lda, const void* b, INT ldb, const void* beta, void* c, INT ldc, INT batch) { \
    return run(                                                                                              \
        h,                                                                                                   \
        {#NAME, m, n, k, batch, {a, T, lda, 0, ta}, {b, T, ldb, 0, tb}, {c, T, ldc}, alpha, beta, T, true}); \
  }
#define PLD_GEMM_BATCHED_EX(NAME, INT)                                                                       \
  PLD_STAND_IN Status NAME(Handle* h, int ta, int tb, INT m, INT n, INT k, const void* alpha, const void* a, \
                           Type at, INT lda, const void* b, Type bt, INT ldb, const void* beta, void* c,     \
                           Type ct, INT ldc, INT batch, int compute, int) {                                  \
    return run_ex(h,                                                                                         \
                  {#NAME,                                                                                    \
                   m,                                                                                        \
                   n,                                                                                        \
                   k,                                                                                        \
                   batch,                                                                                    \
                   {a, at, lda, 0, ta},                                                                      \
                   {b, bt, ldb, 0, tb},                                                                      \
                   {c, ct, ldc},                                                                             \
                   alpha,                                                                                    \
                   beta,                                                                                     \
                   {},                                                                                       \
                   true},                                                                                    \
                  compute);                                                                                  \
  }
// Sums in f32, real or complex, whatever the matrices are.
#define PLD_SGEMM_EX(NAME, INT)                                                                              \
  PLD_STAND_IN Status NAME(Handle* h, int ta, int tb, INT m, INT n, INT k, const void* alpha, const void* a, \
                           Type at, INT lda, const void* b, Type bt, INT ldb, const void* beta, void* c,     \
                           Type ct, INT ldc) {                                                               \
    constexpr int f32 = 68;                                                                                  \
    return run_ex(                                                                                           \
        h, {#NAME, m, n, k, 1, {a, at, lda, 0, ta}, {b, bt, ldb, 0, tb}, {c, ct, ldc}, alpha, beta}, f32);   \
  }
#define PLD_BOTH(MAKE, NAME, ...) \
  MAKE(NAME, int, ##__VA_ARGS__)  \
  MAKE(NAME##_64, int64_t, ##__VA_ARGS__)

PLD_BOTH(PLD_GEMM, cublasSgemm_v2, Type::f32)
PLD_BOTH(PLD_GEMM, cublasDgemm_v2, Type::f64)
PLD_BOTH(PLD_GEMM, cublasCgemm_v2, Type::c32)
PLD_BOTH(PLD_GEMM, cublasZgemm_v2, Type::c64)
PLD_BOTH(PLD_GEMM, cublasHgemm, Type::f16)
PLD_BOTH(PLD_GEMM_STRIDED, cublasSgemmStridedBatched, Type::f32)
PLD_BOTH(PLD_GEMM_STRIDED, cublasDgemmStridedBatched, Type::f64)
PLD_BOTH(PLD_GEMM_STRIDED, cublasCgemmStridedBatched, Type::c32)
PLD_BOTH(PLD_GEMM_STRIDED, cublasZgemmStridedBatched, Type::c64)
PLD_BOTH(PLD_GEMM_STRIDED, cublasHgemmStridedBatched, Type::f16)
PLD_BOTH(PLD_GEMM_BATCHED, cublasSgemmBatched, Type::f32)
PLD_BOTH(PLD_GEMM_BATCHED, cublasDgemmBatched, Type::f64)
PLD_BOTH(PLD_GEMM_BATCHED, cublasCgemmBatched, Type::c32)
PLD_BOTH(PLD_GEMM_BATCHED, cublasZgemmBatched, Type::c64)
PLD_BOTH(PLD_GEMM_BATCHED, cublasHgemmBatched, Type::f16)
PLD_BOTH(PLD_GEMM_EX, cublasGemmEx)
PLD_BOTH(PLD_GEMM_BATCHED_EX, cublasGemmBatchedEx)
PLD_BOTH(PLD_GEMM_STRIDED_EX, cublasGemmStridedBatchedEx)
PLD_BOTH(PLD_SGEMM_EX, cublasSgemmEx)
PLD_BOTH(PLD_SGEMM_EX, cublasCgemmEx)
// With three products of reals on a GPU; here as the others.
PLD_BOTH(PLD_GEMM, cublasCgemm3m, Type::c32)
PLD_BOTH(PLD_GEMM, cublasZgemm3m, Type::c64)
PLD_BOTH(PLD_GEMM_STRIDED, cublasCgemm3mStridedBatched, Type::c32)
PLD_BOTH(PLD_GEMM_BATCHED, cublasCgemm3mBatched, Type::c32)
PLD_BOTH(PLD_SGEMM_EX, cublasCgemm3mEx)
