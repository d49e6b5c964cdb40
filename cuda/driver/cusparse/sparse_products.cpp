// Products of two sparse matrices, which have a pattern of their own.
#include <memory>

#include "cuda/driver/cusparse/written_arrays.h"

namespace palladion::cuda::cusparse {
namespace {

struct Estimate {};  // cusparseSpGEMMDescr_t: nothing is kept between the steps

constexpr const char* adds = "unsupported: a product of sparse matrices that adds to what there is";

struct SparseProduct {
  const Handle* h;
  const void *alpha, *beta;
  const Sparse *a, *b;
  Sparse* c;
  Type type;
};

Status check(const char* name, const SparseProduct& p, int of_a, int of_b) {
  if (p.h == nullptr) return not_initialized;
  if (p.a == nullptr || p.b == nullptr || p.c == nullptr || p.alpha == nullptr || p.beta == nullptr)
    return invalid_value;
  if (p.a->columns != p.b->rows || p.c->rows != p.a->rows || p.c->columns != p.b->columns)
    return invalid_value;
  if (of_a != as_it_is || of_b != as_it_is) return refuse("a product of transposed sparse matrices");
  if (is_batch(*p.a, *p.b, *p.c)) return refuse(name);
  if (p.a->type != p.type || p.b->type != p.type || p.c->type != p.type) return refuse(name);
  return success;
}

// The elements of b are sorted by rows.
template <class W>
std::vector<Entry<W>> multiply(const std::vector<Entry<W>>& a, const std::vector<Entry<W>>& b) {
  std::vector<Entry<W>> out;
  for (const Entry<W>& left : a)
    for (const Entry<W>& right :
         std::ranges::equal_range(b, left.at.column, {}, [](const Entry<W>& e) { return e.at.row; }))
      out.push_back({{left.at.row, right.at.column}, left.value * right.value});
  sum_duplicates(out);
  return out;
}

// The pieces of both factors and alpha, and the product.
template <class T>
struct ProductFactors {
  ProductFactors(Pieces& pieces, const SparseProduct& p)
      : alpha(pieces.number(static_cast<const T*>(p.alpha))),
        beta(pieces.number(static_cast<const T*>(p.beta))),
        a(pieces, *p.a),
        b(pieces, *p.b) {}
  const char* compute(void* const* views, std::vector<Entry<Wide<T>>>& out) const {
    std::vector<Entry<Wide<T>>> left, right;
    if (beta.value(views) != Wide<T>{}) return adds;
    if (const char* const wrong = read_entries<T>(a, views, as_it_is, left)) return wrong;
    if (const char* const wrong = read_entries<T>(b, views, as_it_is, right)) return wrong;
    for (auto& e : left) e.value *= alpha.value(views);
    sum_duplicates(right);
    out = multiply(left, right);
    return nullptr;
  }
  // Known to the host now; of the device it is known when the product is computed.
  bool adds_to_what_there_is() const { return beta.of_host() && !beta.is_zero(); }
  Pieces::Number<T> alpha, beta;
  Arrays a, b;
};

template <class T>
Status count_product(const SparseProduct& p) {
  Pieces pieces(p.h);
  const ProductFactors<T> factors(pieces, p);
  if (factors.adds_to_what_there_is()) return refuse("cusparseSpGEMM with a beta that is not 0");
  const auto count = std::make_shared<int64_t>(0);
  const Status status = perform_now(p.h, "cusparseSpGEMM_compute", pieces, [=](void* const* views) {
    std::vector<Entry<Wide<T>>> product;
    const char* const wrong = factors.compute(views, product);
    *count = static_cast<int64_t>(product.size());
    return wrong;
  });
  if (status == success) p.c->count = *count;
  return status;
}

template <class T>
Status write_product(const SparseProduct& p) {
  Pieces pieces(p.h);
  const ProductFactors<T> factors(pieces, p);
  const WrittenArrays arrays(pieces, *p.c);
  return perform(p.h, "cusparseSpGEMM_copy", pieces, [=](void* const* views) {
    std::vector<Entry<Wide<T>>> product;
    if (const char* const wrong = factors.compute(views, product)) return wrong;
    return arrays.write<T>(views, product);
  });
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

PLD_STAND_IN Status cusparseSpGEMM_createDescr(Estimate** out) { return Descriptors::create(out); }
PLD_STAND_IN Status cusparseSpGEMM_destroyDescr(Estimate* e) { return Descriptors::destroy(e); }
#define PLD_GEMM_ARGUMENTS                                                                  \
  const Handle *h, int of_a, int of_b, const void *alpha, const Sparse *a, const Sparse *b, \
      const void *beta, Sparse *c, Type type, int /*algorithm*/, const Estimate * /*estimate*/
PLD_STAND_IN Status cusparseSpGEMM_workEstimation(PLD_GEMM_ARGUMENTS, size_t* bytes, void* /*workspace*/) {
  const Status status = check("cusparseSpGEMM_workEstimation", {h, alpha, beta, a, b, c, type}, of_a, of_b);
  return status == success ? ask_workspace(bytes) : status;
}
PLD_STAND_IN Status cusparseSpGEMM_compute(PLD_GEMM_ARGUMENTS, size_t* bytes, void* place) {
  const SparseProduct p{h, alpha, beta, a, b, c, type};
  const Status status = check("cusparseSpGEMM_compute", p, of_a, of_b);
  if (status != success || place == nullptr) return status == success ? ask_workspace(bytes) : status;
  return with_type("cusparseSpGEMM_compute", type,
                   [&](auto zero) { return count_product<decltype(zero)>(p); });
}
PLD_STAND_IN Status cusparseSpGEMM_copy(PLD_GEMM_ARGUMENTS) {
  const SparseProduct p{h, alpha, beta, a, b, c, type};
  const Status status = check("cusparseSpGEMM_copy", p, of_a, of_b);
  if (status != success) return status;
  return with_type("cusparseSpGEMM_copy", type, [&](auto zero) { return write_product<decltype(zero)>(p); });
}
