#pragma once
// Vectors in the device's memory, and numbers of the host or of the device: what the functions of BLAS' first
// two levels take and give.
#include <array>
#include <memory>

#include "cuda/driver/cublas/handle.h"
#include "cuda/driver/cublas/matrices.h"
#include "cuda/driver/stand_in_numbers.h"

extern "C" int cuStreamSynchronize(void* stream);

namespace palladion::cuda::cublas {

template <class T>
using Row = Eigen::Matrix<Wide<T>, 1, Eigen::Dynamic>;

// `n` elements of type T, `step` apart; with a negative step the first one lies last.
template <class T>
struct Vector {
  const void* at = nullptr;
  int64_t n = 0, step = 1;

  Piece piece(bool reads, bool writes) const {
    if (n <= 0) return {};
    const auto distance = static_cast<size_t>(std::abs(step));
    if (distance == 1) return {at, static_cast<size_t>(n) * sizeof(T), 1, 0, reads, writes};
    return {at, sizeof(T), static_cast<size_t>(n), distance * sizeof(T), reads, writes};
  }
  Row<T> read(const void* view) const {
    Row<T> row(n);
    for (int64_t i = 0; i < n; ++i) row[i] = static_cast<Wide<T>>(static_cast<const T*>(view)[place(i)]);
    return row;
  }
  void write(const Row<T>& row, void* view) const {
    for (int64_t i = 0; i < n; ++i) static_cast<T*>(view)[place(i)] = static_cast<T>(row[i]);
  }

 private:
  int64_t place(int64_t i) const { return step >= 0 ? i * step : (i - n + 1) * step; }
};

template <class F>
Status perform(const Handle* h, const char* name, const Pieces& pieces, F f) {
  return compute_on_host(name, h->stream, pieces.all(), std::move(f)) == 0 ? success : execution_failed;
}

// A call that gives a number, f(views): to the device, or to the host, which waits for it.
template <class R, class F>
Status give(const Handle* h, const char* name, Pieces pieces, R* to, F f) {
  if (pieces.of_device()) {
    const int place = pieces.add({to, sizeof(R), 1, 0, false, true});
    return perform(h, name, pieces, [=](void* const* views) {
      const R value = f(views);
      std::memcpy(views[place], &value, sizeof value);
    });
  }
  const auto value = std::make_shared<R>();
  Status status = perform(h, name, pieces, [=](void* const* views) { *value = f(views); });
  if (status == success && cuStreamSynchronize(h->stream) != 0) status = execution_failed;
  if (status == success) *to = *value;
  return status;
}

}  // namespace palladion::cuda::cublas
