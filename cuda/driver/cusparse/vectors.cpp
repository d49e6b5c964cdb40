// Sparse vectors beside dense ones.
#include <memory>

#include "cuda/driver/cusparse/entries.h"

namespace palladion::cuda::cusparse {
namespace {

// The indices of a sparse vector among the pieces of a call.
class Indices {
 public:
  Indices(Pieces& pieces, const SparseVector& x)
      : x_(x), at_(pieces.add(Arrays::piece(x.indices, x.count, size_of(x.index_type), true, false))) {}
  // f(index, number) for each element.
  template <class F>
  const char* for_each(void* const* views, F f) const {
    for (int64_t i = 0; i < x_.count; ++i) {
      const int64_t index = index_at(x_.index_type, views[at_], i) - x_.base;
      if (index < 0 || index >= x_.size) return "an index of a sparse vector lies outside of it";
      f(index, i);
    }
    return nullptr;
  }

 private:
  SparseVector x_;
  int at_;
};

Status check(const Handle* h, const SparseVector* x, const DenseVector* y, const char* name) {
  if (h == nullptr) return not_initialized;
  if (x == nullptr || y == nullptr || x->size > y->size) return invalid_value;
  return x->type == y->type ? success : refuse(name);
}

// f(sparse value, dense value) for each place.
template <class F>
Status move(const Handle* h, const char* name, const SparseVector* x, const DenseVector* y, bool to_dense,
            F f) {
  if (const Status status = check(h, x, y, name); status != success) return status;
  return with_type(name, x->type, [&](auto zero) {
    using T = decltype(zero);
    Pieces pieces(h);
    const Indices indices(pieces, *x);
    const int sparse = pieces.add(Arrays::piece(x->values, x->count, sizeof(T), to_dense, !to_dense));
    const int dense = pieces.add(Arrays::piece(y->values, y->size, sizeof(T), !to_dense, to_dense));
    return perform(h, name, pieces, [=](void* const* views) {
      return indices.for_each(views, [&](int64_t index, int64_t i) {
        f(static_cast<T*>(views[sparse])[i], static_cast<T*>(views[dense])[index]);
      });
    });
  });
}

// y = alpha x + beta y
template <class T>
Status add(const Handle* h, const void* alpha, const SparseVector& x, const void* beta,
           const DenseVector& y) {
  Pieces pieces(h);
  const auto times = pieces.number(static_cast<const T*>(alpha)),
             kept = pieces.number(static_cast<const T*>(beta));
  const Indices indices(pieces, x);
  const int sparse = pieces.add(Arrays::piece(x.values, x.count, sizeof(T), true, false));
  const int dense = pieces.add(Arrays::piece(y.values, y.size, sizeof(T), !kept.is_zero(), true));
  return perform(h, "cusparseAxpby", pieces, [=, n = y.size](void* const* views) {
    auto* const out = static_cast<T*>(views[dense]);
    const auto by = kept.value(views);
    for (int64_t i = 0; i < n; ++i)
      out[i] = by == Wide<T>{} ? T{} : static_cast<T>(by * static_cast<Wide<T>>(out[i]));
    return indices.for_each(views, [&](int64_t index, int64_t i) {
      const auto value = static_cast<Wide<T>>(static_cast<const T*>(views[sparse])[i]);
      out[index] = static_cast<T>(static_cast<Wide<T>>(out[index]) + times.value(views) * value);
    });
  });
}

// The sum of op(x) y, to the host or to the device.
template <class T>
Status dot(const Handle* h, int operation, const SparseVector& x, const DenseVector& y, T* result) {
  Pieces pieces(h);
  const Indices indices(pieces, x);
  const int sparse = pieces.add(Arrays::piece(x.values, x.count, sizeof(T), true, false));
  const int dense = pieces.add(Arrays::piece(y.values, y.size, sizeof(T), true, false));
  const int to = pieces.of_device() ? pieces.add({result, sizeof(T), 1, 0, false, true}) : -1;
  const auto of_host = std::make_shared<T>();
  const auto compute = [=](void* const* views) {
    Wide<T> sum{};
    const char* const wrong = indices.for_each(views, [&](int64_t index, int64_t i) {
      const auto value = static_cast<Wide<T>>(static_cast<const T*>(views[sparse])[i]);
      sum += (operation == conjugate_transposed ? conjugate(value) : value) *
             static_cast<Wide<T>>(static_cast<const T*>(views[dense])[index]);
    });
    *(to >= 0 ? static_cast<T*>(views[to]) : of_host.get()) = static_cast<T>(sum);
    return wrong;
  };
  if (to >= 0) return perform(h, "cusparseSpVV", pieces, compute);
  const Status status = perform_now(h, "cusparseSpVV", pieces, compute);
  if (status == success) *result = *of_host;
  return status;
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

PLD_STAND_IN Status cusparseGather(const Handle* h, const DenseVector* y, const SparseVector* x) {
  return move(h, "cusparseGather", x, y, false, [](auto& sparse, auto& dense) { sparse = dense; });
}
PLD_STAND_IN Status cusparseScatter(const Handle* h, const SparseVector* x, const DenseVector* y) {
  return move(h, "cusparseScatter", x, y, true, [](auto& sparse, auto& dense) { dense = sparse; });
}
PLD_STAND_IN Status cusparseAxpby(const Handle* h, const void* alpha, const SparseVector* x, const void* beta,
                                  const DenseVector* y) {
  if (const Status status = check(h, x, y, "cusparseAxpby"); status != success) return status;
  if (alpha == nullptr || beta == nullptr) return invalid_value;
  return with_type("cusparseAxpby", x->type,
                   [&](auto zero) { return add<decltype(zero)>(h, alpha, *x, beta, *y); });
}
PLD_STAND_IN Status cusparseSpVV(const Handle* h, int operation, const SparseVector* x, const DenseVector* y,
                                 void* result, Type type, void* /*workspace*/) {
  if (const Status status = check(h, x, y, "cusparseSpVV"); status != success) return status;
  if (result == nullptr) return invalid_value;
  if (type != x->type) return refuse("cusparseSpVV");
  return with_type("cusparseSpVV", type, [&](auto zero) {
    return dot(h, operation, *x, *y, static_cast<decltype(zero)*>(result));
  });
}
PLD_STAND_IN Status cusparseSpVV_bufferSize(const Handle* h, int /*operation*/, const SparseVector* x,
                                            const DenseVector* y, const void* /*result*/, Type /*type*/,
                                            size_t* bytes) {
  const Status status = check(h, x, y, "cusparseSpVV_bufferSize");
  return status == success ? ask_workspace(bytes) : status;
}
