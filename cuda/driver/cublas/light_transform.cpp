// cublasLt's sums of matrices: C = alpha op(A) + beta op(B), from one order and type to another.
#include <array>
#include <string>

#include "cuda/driver/cublas/light_values.h"

namespace palladion::cuda::cublas::light {
namespace {

struct Sum {
  Transform transform;
  Layout a, b, c;
  const void *alpha = nullptr, *beta = nullptr, *at_a = nullptr, *at_b = nullptr;  // no B: nothing is added
  void* at_c = nullptr;
};

// The first thing of a call that is not here; empty: none.
std::string missing_of(const Sum& s) {
  const auto is_one_of = [](Type t, auto... types) { return ((t == types) || ...); };
  for (const Layout* l : {&s.a, &s.b, &s.c}) {
    if (l->order != 0 && l->order != 1) return "a matrix that is neither by columns nor by rows";
    if (l->batch_mode != 0 && !l->by_pointers()) return "such a batch";
    if (l->plane != 0) return "complex matrices in two planes";
    const bool there = s.transform.scale == Type::f32 || s.transform.scale == Type::f16
                           ? is_one_of(l->type, Type::f32, Type::f16, Type::bf16)
                           : l->type == s.transform.scale;
    if (!there) return "these types of matrices";
  }
  const bool scale =
      is_one_of(s.transform.scale, Type::f32, Type::f16, Type::f64, Type::c32, Type::c64, Type::i32);
  return scale && s.transform.pointer_mode <= 1 ? "" : "such scales";
}

bool fits_sum(const Layout& l, int op, const Layout& c) {
  const auto [rows, columns] = op == 0 ? std::pair(c.rows, c.columns) : std::pair(c.columns, c.rows);
  const uint64_t inner = l.order == 0 ? rows : columns;
  return op >= 0 && op <= 2 && l.rows == rows && l.columns == columns && l.batch == c.batch &&
         l.leading >= std::max<int64_t>(1, static_cast<int64_t>(inner));
}

enum SumView : size_t { sum_a, sum_b, sum_c, sum_views };

template <class T>
void add(const Sum& s, const void* alpha_at, const void* beta_at, void* const* views) {
  const T alpha = scalar<T>(s.transform.scale, alpha_at);
  const T beta = s.at_b == nullptr ? T(0) : scalar<T>(s.transform.scale, beta_at);
  for (int i = 0; i < s.c.batch; ++i, views += sum_views) {
    Matrix<T> sum = alpha * operand<T>(s.a, s.transform.op_a, views[sum_a]);
    if (beta != T(0)) sum += beta * operand<T>(s.b, s.transform.op_b, views[sum_b]);
    put(sum, s.c, views[sum_c]);
  }
}

void add(const Sum& s, const void* alpha, const void* beta, void* const* views) {
  void* const* const scalars = views + sum_views * static_cast<size_t>(s.c.batch);
  if (s.transform.pointer_mode == 1) alpha = scalars[0], beta = scalars[1];
  with_scalar(s.transform.scale, [&]<class T>(T) { add<T>(s, alpha, beta, views); });
}

Status run(const Sum& s, void* stream) {
  if (const std::string what = missing_of(s); !what.empty()) {
    palladion_exec_unsupported(("cublasLtMatrixTransform with " + what).c_str());
    return not_supported;
  }
  const bool adds = s.at_b != nullptr;
  if (s.alpha == nullptr || (adds && s.beta == nullptr) || s.c.batch < 0 ||
      !fits_sum(s.a, s.transform.op_a, s.c) || (adds && !fits_sum(s.b, s.transform.op_b, s.c)) ||
      !fits_sum(s.c, 0, s.c))
    return invalid_value;
  const bool of_device = s.transform.pointer_mode == 1;
  const size_t size = size_of(s.transform.scale);
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < s.c.batch; ++i) {
    pieces.push_back(piece_of(s.a, s.at_a, i, true, false));
    pieces.push_back(adds ? piece_of(s.b, s.at_b, i, true, false) : Piece{});
    pieces.push_back(piece_of(s.c, s.at_c, i, false, true));
  }
  std::array<char, sizeof(Complex64)> alpha{}, beta{};
  for (const auto& [at, kept] : {std::pair(s.alpha, &alpha), std::pair(adds ? s.beta : nullptr, &beta)})
    if (of_device)
      pieces.push_back(number(at, size));
    else if (at != nullptr)
      std::memcpy(kept->data(), at, size);
  const int done = compute_on_host("cublasLtMatrixTransform", stream, pieces,
                                   [=](void* const* views) { add(s, alpha.data(), beta.data(), views); });
  return done == 0 ? success : execution_failed;
}

}  // namespace
}  // namespace palladion::cuda::cublas::light

using namespace palladion::cuda::cublas::light;
using palladion::cuda::cublas::invalid_value;
using palladion::cuda::cublas::not_initialized;
using palladion::cuda::cublas::Status;

PLD_STAND_IN Status cublasLtMatrixTransform(void* handle, const Transform* transform, const void* alpha,
                                            const void* a, const Layout* of_a, const void* beta,
                                            const void* b, const Layout* of_b, void* c, const Layout* of_c,
                                            void* stream) {
  if (handle == nullptr) return not_initialized;
  if (transform == nullptr || of_a == nullptr || of_c == nullptr || (b != nullptr && of_b == nullptr))
    return invalid_value;
  return run({*transform, *of_a, b != nullptr ? *of_b : *of_c, *of_c, alpha, beta, a, b, c}, stream);
}
