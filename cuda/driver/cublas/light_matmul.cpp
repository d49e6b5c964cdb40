// cublasLt's products: D = epilogue(alpha op(A) op(B) + beta C), computed on the host.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "cuda/driver/cublas/light_values.h"

namespace palladion::cuda::cublas::light {
namespace {

// What a call is given.
struct Call {
  Product product;
  Layout a, b, c, d;
  const void *alpha = nullptr, *beta = nullptr, *at_a = nullptr, *at_b = nullptr, *at_c = nullptr;
  void* at_d = nullptr;
};

bool is_float8(Type t) { return t == Type::e4m3 || t == Type::e5m2; }
bool is_real_float(Type t) { return t != Type::c32 && t != Type::c64 && t != Type::i32 && t != Type::i8; }

Type or_of(int32_t type, Type otherwise) { return type < 0 ? otherwise : static_cast<Type>(type); }
// Of the bias: that of D, with D of 8 bits that of C.
Type bias_type(const Call& c) {
  const Type own = is_float8(c.d.type) ? (is_float8(c.c.type) ? Type::bf16 : c.c.type) : c.d.type;
  return or_of(c.product.bias_type, own);
}

// The first thing of a call that is not here; empty: none.
std::string missing_types(const Call& c) {
  const Type s = c.product.scale, a = c.a.type, b = c.b.type;
  if (!summed(c.product.compute, c.d.type)) return "its compute type";
  const auto both = [&](auto... types) { return ((a == types && b == types && c.d.type == types) || ...); };
  if (s == Type::f64 || s == Type::c32 || s == Type::c64)
    return both(s) && c.c.type == s ? "" : "these types of matrices";
  if (s == Type::i32)
    return a == Type::i8 && b == Type::i8 && c.c.type == s && c.d.type == s ? "" : "these types of matrices";
  if (s == Type::f16) return both(s) && c.c.type == s ? "" : "these types of matrices";
  const auto is_one_of = [](Type t, auto... types) { return ((t == types) || ...); };
  const bool inputs =
      (is_float8(a) && is_float8(b)) || (a == b && is_one_of(a, Type::f32, Type::f16, Type::bf16));
  const bool outputs =
      is_one_of(c.d.type, Type::f32, Type::f16, Type::bf16) || (is_float8(a) && is_float8(c.d.type));
  return s == Type::f32 && inputs && outputs && is_real_float(c.c.type) ? "" : "these types of matrices";
}
std::string missing(const Call& c) {
  const Product& p = c.product;
  for (const Layout* l : {&c.a, &c.b, &c.c, &c.d}) {
    if (l->order != 0 && l->order != 1) return "a matrix that is neither by columns nor by rows";
    if (l->batch_mode != 0 && !l->by_pointers()) return "such a batch";
    if (l->plane != 0) return "complex matrices in two planes";
  }
  if (std::string types = missing_types(c); !types.empty()) return types;
  if (p.pointer_mode > 1) return "a vector of alphas";
  if (p.op_c != 0 || p.fill != 2) return "a transposed C, or a triangle of D";
  if (p.out_scale != nullptr || std::ranges::any_of(p.modes, [](int mode) { return mode != 0; }))
    return "scales of blocks";
  if (p.aux_scale != nullptr || p.aux_largest != nullptr) return "scales of the epilogue's auxiliary matrix";
  if (p.epilogue != plain && (!is_real_float(p.scale) || c.d.order != 0))
    return "an epilogue of these matrices";
  return {};
}

struct Sizes {
  int64_t m, n, k;
};
Sizes sizes_of(const Call& c) {
  return {static_cast<int64_t>(c.d.rows), static_cast<int64_t>(c.d.columns),
          static_cast<int64_t>(c.product.op_a == 0 ? c.a.columns : c.a.rows)};
}
bool fits(const Layout& l, int op, int64_t rows, int64_t columns, int batch) {
  const auto [r, c] = op == 0 ? std::pair(rows, columns) : std::pair(columns, rows);
  return op >= 0 && op <= 2 && l.rows == static_cast<uint64_t>(r) && l.columns == static_cast<uint64_t>(c) &&
         l.leading >= std::max<int64_t>(1, l.order == 0 ? r : c) && l.batch == batch;
}
bool is_valid(const Call& c) {
  const auto [m, n, k] = sizes_of(c);
  return fits(c.a, c.product.op_a, m, k, c.d.batch) && fits(c.b, c.product.op_b, k, n, c.d.batch) &&
         fits(c.c, 0, m, n, c.d.batch) && fits(c.d, 0, m, n, c.d.batch) && c.d.batch >= 0;
}

// ---- memory ----------------------------------------------------------------------------------------------
// What a call touches for each matrix of a batch, and once, in the order of their views.
enum View : size_t { view_a, view_b, view_c, view_d, view_bias, view_aux, views_each };
enum Once : size_t { view_alpha, view_beta, scale_a, scale_b, scale_c, scale_d, largest_d, views_once };

// The bias, or its gradient, has a value for each row of D; for each column of the operand it is the gradient
// of.
Piece bias_piece(const Call& c, int64_t i) {
  const Product& p = c.product;
  const uint32_t gradients = bias_gradient | gradient_of_a | gradient_of_b;
  if ((p.epilogue & (bias | gradients)) == 0) return {};
  const auto [m, n, k] = sizes_of(c);
  const size_t size = size_of(bias_type(c)),
               count = static_cast<size_t>((p.epilogue & gradient_of_b) != 0 ? n : m);
  const bool writes = (p.epilogue & gradients) != 0;
  return {static_cast<char*>(p.bias) + i * p.bias_stride * static_cast<int64_t>(size),
          count * size,
          1,
          0,
          !writes,
          writes};
}
bool aux_is_bits(const Product& p) { return (p.epilogue & (relu | relu_gradient)) != 0; }
size_t aux_size(const Call& c) { return size_of(or_of(c.product.aux_type, c.d.type)); }
Piece aux_piece(const Call& c, int64_t i) {
  const Product& p = c.product;
  if ((p.epilogue & aux) == 0) return {};
  const auto [m, n, k] = sizes_of(c);
  const auto bytes = [&](int64_t count) {
    return static_cast<size_t>(aux_is_bits(p) ? (count + 7) / 8 : count * static_cast<int64_t>(aux_size(c)));
  };
  const bool reads = (p.epilogue & (relu_gradient | gelu_gradient)) != 0;
  return {static_cast<char*>(p.aux) + i * static_cast<int64_t>(bytes(p.aux_stride)),
          bytes(m),
          static_cast<size_t>(n),
          bytes(p.aux_leading),
          reads,
          !reads};
}
std::vector<Piece> pieces_of(const Call& c) {
  const Product& p = c.product;
  const bool of_device = p.pointer_mode == 1, reads_c = of_device || !is_zero(p.scale, c.beta);
  std::vector<Piece> all;
  for (int64_t i = 0; i < c.d.batch; ++i) {
    all.push_back(piece_of(c.a, c.at_a, i, true, false));
    all.push_back(piece_of(c.b, c.at_b, i, true, false));
    all.push_back(reads_c ? piece_of(c.c, c.at_c, i, true, false) : Piece{});
    all.push_back(piece_of(c.d, c.at_d, i, false, true));
    all.push_back(bias_piece(c, i));
    all.push_back(aux_piece(c, i));
  }
  for (const void* at : {c.alpha, c.beta}) all.push_back(of_device ? number(at, size_of(p.scale)) : Piece{});
  for (const void* at : {p.scale_a, p.scale_b, p.scale_c, p.scale_d})
    all.push_back(number(at, sizeof(float)));
  all.push_back(number(p.largest_d, sizeof(float), true));
  return all;
}

// ---- values ----------------------------------------------------------------------------------------------
template <class T>
T gelu_of(T x) {  // by tanh, as the manual's
  const T inner = T(0.7978845608028654) * (x + T(0.044715) * x * x * x);
  return T(0.5) * x * (1 + std::tanh(inner));
}
template <class T>
T gelu_slope(T x) {
  const T root = T(0.7978845608028654), cubic = T(0.044715), t = std::tanh(root * (x + cubic * x * x * x));
  return T(0.5) * (1 + t) + T(0.5) * x * (1 - t * t) * root * (1 + 3 * cubic * x * x);
}

// The auxiliary matrix of ReLU is a bit for each element, of GELU what went into it.
template <class T>
class Aux {
 public:
  Aux(const Call& c, void* view)
      : bits_(aux_is_bits(c.product)),
        view_(static_cast<uint8_t*>(view)),
        leading_(c.product.aux_leading),
        type_(or_of(c.product.aux_type, c.d.type)),
        rows_(sizes_of(c).m),
        columns_(sizes_of(c).n) {}
  void keep(const Matrix<T>& values) {
    if (!bits_) return write(values, type_, view_, leading_);
    for (int64_t j = 0; j < columns_; ++j)
      for (int64_t i = 0; i < rows_; ++i) {
        uint8_t& byte = view_[(j * leading_ + i) / 8];
        const auto bit = static_cast<uint8_t>(1 << i % 8);
        byte = static_cast<uint8_t>(values(i, j) > 0 ? byte | bit : byte & ~bit);
      }
  }
  Matrix<T> slopes() const {
    if (!bits_) return read<T>(type_, view_, rows_, columns_, leading_).unaryExpr(&gelu_slope<T>);
    return Matrix<T>::NullaryExpr(rows_, columns_, [this](int64_t i, int64_t j) {
      return T(view_[(j * leading_ + i) / 8] >> i % 8 & 1);
    });
  }

 private:
  bool bits_;
  uint8_t* view_;
  int64_t leading_;
  Type type_;
  int64_t rows_, columns_;
};

template <class T>
void finish(const Call& c, Matrix<T>& sum, const Matrix<T>& a, const Matrix<T>& b, void* const* views) {
  const uint32_t e = c.product.epilogue;
  const Type type = bias_type(c);
  const auto give = [&](const Matrix<T>& values) { write(values, type, views[view_bias], values.size()); };
  if ((e & bias) != 0) sum.colwise() += read<T>(type, views[view_bias], sum.rows(), 1, sum.rows()).col(0);
  if ((e & aux) != 0 && (e & (relu | gelu)) != 0) Aux<T>(c, views[view_aux]).keep(sum);
  if ((e & relu) != 0) sum = sum.cwiseMax(T(0));
  if ((e & gelu) != 0) sum = sum.unaryExpr(&gelu_of<T>).eval();
  if ((e & (relu_gradient | gelu_gradient)) != 0)
    sum = sum.cwiseProduct(Aux<T>(c, views[view_aux]).slopes()).eval();
  if ((e & bias_gradient) != 0) give(sum.rowwise().sum());
  if ((e & gradient_of_a) != 0) give(a.rowwise().sum());
  if ((e & gradient_of_b) != 0) give(b.colwise().sum().transpose());
}

float number_or_one(const void* view) { return view == nullptr ? 1 : *static_cast<const float*>(view); }

// With alpha = 0 neither A nor B is read, with beta = 0 not C.
template <class T>
void multiply(const Call& c, const void* alpha_at, const void* beta_at, void* const* views,
              void* const* once) {
  const T alpha =
      scalar<T>(c.product.scale, alpha_at) * T(number_or_one(once[scale_a]) * number_or_one(once[scale_b]));
  const T beta = scalar<T>(c.product.scale, beta_at) * T(number_or_one(once[scale_c]));
  float largest = 0;
  for (int i = 0; i < c.d.batch; ++i, views += views_each) {
    const Matrix<T> a = operand<T>(c.a, c.product.op_a, views[view_a]),
                    b = operand<T>(c.b, c.product.op_b, views[view_b]);
    Matrix<T> sum = Matrix<T>::Zero(a.rows(), b.cols());
    if (alpha != T(0)) sum.noalias() = alpha * a * b;
    if (beta != T(0)) sum += beta * values_of<T>(c.c, views[view_c]);
    if constexpr (std::is_floating_point_v<T>) {
      finish(c, sum, a, b, views);
      if (sum.size() > 0) largest = std::max(largest, static_cast<float>(sum.cwiseAbs().maxCoeff()));
      sum *= T(number_or_one(once[scale_d]));
    }
    put(sum, c.d, views[view_d]);
  }
  if (once[largest_d] != nullptr) *static_cast<float*>(once[largest_d]) = largest;
}

void multiply(const Call& c, const void* alpha, const void* beta, void* const* views) {
  void* const* const once = views + views_each * static_cast<size_t>(c.d.batch);
  if (c.product.pointer_mode == 1) alpha = once[view_alpha], beta = once[view_beta];
  with_scalar(c.product.scale, [&]<class T>(T) { multiply<T>(c, alpha, beta, views, once); });
}

Status judge(const char* function, const Call& c) {
  if (const std::string what = missing(c); !what.empty()) {
    palladion_exec_unsupported((std::string(function) + " with " + what).c_str());
    return not_supported;
  }
  return is_valid(c) ? success : invalid_value;
}

Status run(Call c, void* stream) {
  if (const Status status = judge("cublasLtMatmul", c); status != success) return status;
  const uint32_t needs_bias = bias | bias_gradient | gradient_of_a | gradient_of_b;
  if (c.alpha == nullptr || c.beta == nullptr ||
      ((c.product.epilogue & needs_bias) != 0 && c.product.bias == nullptr) ||
      ((c.product.epilogue & aux) != 0 && c.product.aux == nullptr))
    return invalid_value;
  if (c.d.rows == 0 || c.d.columns == 0 || c.d.batch == 0) return success;
  std::array<char, sizeof(Complex64)> alpha{}, beta{};
  if (c.product.pointer_mode == 0) {
    std::memcpy(alpha.data(), c.alpha, size_of(c.product.scale));
    std::memcpy(beta.data(), c.beta, size_of(c.product.scale));
  }
  const int done = compute_on_host("cublasLtMatmul", stream, pieces_of(c), [=](void* const* views) {
    multiply(c, alpha.data(), beta.data(), views);
  });
  return done == 0 ? success : execution_failed;
}

struct Algorithm {  // cublasLtMatmulAlgo_t: there is one
  uint64_t words[8] = {};
};
struct Choice {  // cublasLtMatmulHeuristicResult_t
  Algorithm algorithm;
  size_t workspace = 0;
  Status state = success;
  float waves = 1;
  int reserved[4] = {};
};

}  // namespace
}  // namespace palladion::cuda::cublas::light

using namespace palladion::cuda::cublas::light;
using palladion::cuda::cublas::invalid_value;
using palladion::cuda::cublas::not_initialized;
using palladion::cuda::cublas::Status;
using palladion::cuda::cublas::success;
using palladion::cuda::cublas::Type;

PLD_STAND_IN Status cublasLtMatmul(void* handle, const Product* product, const void* alpha, const void* a,
                                   const Layout* of_a, const void* b, const Layout* of_b, const void* beta,
                                   const void* c, const Layout* of_c, void* d, const Layout* of_d,
                                   const void*, void*, size_t, void* stream) {
  if (handle == nullptr) return not_initialized;
  if (product == nullptr || of_a == nullptr || of_b == nullptr || of_c == nullptr || of_d == nullptr)
    return invalid_value;
  return run({*product, *of_a, *of_b, *of_c, *of_d, alpha, beta, a, b, c, d}, stream);
}
PLD_STAND_IN Status cublasLtMatmulAlgoCheck(void* handle, const Product* product, const Layout* a,
                                            const Layout* b, const Layout* c, const Layout* d,
                                            const Algorithm* algorithm, Choice* result) {
  if (handle == nullptr) return not_initialized;
  if (product == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr ||
      algorithm == nullptr || result == nullptr)
    return invalid_value;
  *result = {};
  return result->state = judge("cublasLtMatmul", {*product, *a, *b, *c, *d});
}
PLD_STAND_IN Status cublasLtMatmulAlgoGetHeuristic(void* handle, const Product* product, const Layout* a,
                                                   const Layout* b, const Layout* c, const Layout* d,
                                                   const Preference*, int wanted, Choice* results,
                                                   int* count) {
  if (count == nullptr || wanted < 1) return invalid_value;
  const Algorithm algorithm;
  *count = 0;
  const Status status = cublasLtMatmulAlgoCheck(handle, product, a, b, c, d, &algorithm, results);
  if (status == success) *count = 1;
  return status;
}
PLD_STAND_IN Status cublasLtMatmulAlgoGetIds(void* handle, int, Type, Type, Type, Type, Type, int wanted,
                                             int* ids, int* count) {
  if (handle == nullptr) return not_initialized;
  if (wanted < 1 || ids == nullptr || count == nullptr) return invalid_value;
  return ids[0] = 0, *count = 1, success;
}
PLD_STAND_IN Status cublasLtMatmulAlgoInit(void* handle, int, Type, Type, Type, Type, Type, int id,
                                           Algorithm* algorithm) {
  if (handle == nullptr) return not_initialized;
  if (algorithm == nullptr || id != 0) return invalid_value;
  return *algorithm = {}, success;
}

// Of nothing: there is no search.
PLD_STAND_IN Status cublasLtHeuristicsCacheGetCapacity(size_t* capacity) {
  return capacity == nullptr ? invalid_value : (*capacity = 0, success);
}
PLD_STAND_IN Status cublasLtHeuristicsCacheSetCapacity(size_t) { return success; }
