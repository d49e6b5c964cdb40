#include <complex>
#include <numeric>
#include <unsupported/Eigen/FFT>

#include "cuda/driver/cufft/plan.h"

namespace palladion::cuda::cufft {
namespace {

using Complex = std::complex<double>;
using Sizes = std::vector<int64_t>;

int64_t count(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

// f(number, indices) for all elements, the last index fastest.
template <class F>
void for_all(const Sizes& sizes, F f) {
  Sizes at(sizes.size());
  const int64_t elements = count(sizes);
  for (int64_t i = 0; i < elements; ++i) {
    f(i, at);
    for (size_t d = sizes.size(); d-- > 0 && ++at[d] == sizes[d];) at[d] = 0;
  }
}

int64_t place(const Layout& layout, const Sizes& at) {
  int64_t index = 0;
  for (size_t d = 0; d < at.size(); ++d) index = (d == 0 ? 0 : index * layout.embed[d]) + at[d];
  return index * layout.stride;
}

template <class T>
std::vector<Complex> gather(const T* from, const Sizes& sizes, const Layout& layout) {
  std::vector<Complex> values(static_cast<size_t>(count(sizes)));
  for_all(sizes, [&](int64_t i, const Sizes& at) { values[size_t(i)] = from[place(layout, at)]; });
  return values;
}
template <class T>
void scatter(const std::vector<Complex>& values, const Sizes& all, T* to, const Sizes& sizes,
             const Layout& layout) {
  const Layout dense{all};
  for_all(sizes, [&](int64_t, const Sizes& at) {
    const Complex& value = values[size_t(place(dense, at))];
    if constexpr (std::is_floating_point_v<T>)
      to[place(layout, at)] = static_cast<T>(value.real());
    else
      to[place(layout, at)] = static_cast<T>(value);
  });
}

// The spectrum of real values: the other half is the conjugate of the first, with all indices negated.
std::vector<Complex> whole(const std::vector<Complex>& half, const Sizes& half_sizes, const Sizes& sizes) {
  std::vector<Complex> values(static_cast<size_t>(count(sizes)));
  const Layout dense{half_sizes};
  for_all(sizes, [&](int64_t i, Sizes at) {
    const bool is_there = at.back() < half_sizes.back();
    if (!is_there)
      for (size_t d = 0; d < at.size(); ++d) at[d] = (sizes[d] - at[d]) % sizes[d];
    const Complex& value = half[size_t(place(dense, at))];
    values[size_t(i)] = is_there ? value : std::conj(value);
  });
  return values;
}

void along(std::vector<Complex>& values, int64_t n, int64_t step, bool inverse, Eigen::FFT<double>& fft) {
  std::vector<Complex> line(static_cast<size_t>(n)), made;
  const auto elements = static_cast<int64_t>(values.size());
  for (int64_t block = 0; block < elements; block += n * step)
    for (int64_t first = block; first < block + step; ++first) {
      for (int64_t i = 0; i < n; ++i) line[size_t(i)] = values[size_t(first + i * step)];
      if (inverse)
        fft.inv(made, line);
      else
        fft.fwd(made, line);
      for (int64_t i = 0; i < n; ++i) values[size_t(first + i * step)] = made[size_t(i)];
    }
}

void transform(std::vector<Complex>& values, const Sizes& sizes, bool inverse) {
  Eigen::FFT<double> fft;
  fft.SetFlag(Eigen::FFT<double>::Unscaled);
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0; step *= sizes[d])
    if (sizes[d] > 1) along(values, sizes[d], step, inverse, fft);
}

template <class Real>
void run(const Plan& plan, const void* in, void* out, bool inverse) {
  using Stored = std::complex<Real>;
  const bool in_place = in == out;
  const Layout from = plan.input(in_place), to = plan.output(in_place);
  const Sizes half = plan.half();
  // In place, a batch may be written where the next one lies: all are read first.
  std::vector<std::vector<Complex>> batches;
  for (int64_t b = 0; b < plan.batch; ++b) {
    const auto* const real = static_cast<const Real*>(in) + b * from.distance;
    const auto* const complex = static_cast<const Stored*>(in) + b * from.distance;
    batches.push_back(plan.kind == Plan::Kind::to_complex ? gather(real, plan.sizes, from)
                      : plan.kind == Plan::Kind::to_real
                          ? whole(gather(complex, half, from), half, plan.sizes)
                          : gather(complex, plan.sizes, from));
  }
  for (int64_t b = 0; b < plan.batch; ++b) {
    std::vector<Complex>& values = batches[size_t(b)];
    transform(values, plan.sizes, inverse);
    auto* const real = static_cast<Real*>(out) + b * to.distance;
    auto* const complex = static_cast<Stored*>(out) + b * to.distance;
    if (plan.kind == Plan::Kind::to_real)
      scatter(values, plan.sizes, real, plan.sizes, to);
    else
      scatter(values, plan.sizes, complex, plan.kind == Plan::Kind::complex ? plan.sizes : half, to);
  }
}

Layout dense(const Sizes& sizes) { return {sizes, 1, count(sizes)}; }

// Rows of real values that leave room for the complex ones in their place.
Layout padded(Sizes half) {
  half.back() *= 2;
  return dense(half);
}

}  // namespace

int64_t Layout::last(const Sizes& sizes) const {
  Sizes at;
  for (const int64_t n : sizes) at.push_back(n - 1);
  return place(*this, at);
}

Sizes Plan::half() const {
  Sizes stored = sizes;
  if (kind != Kind::complex) stored.back() = stored.back() / 2 + 1;
  return stored;
}

Layout Plan::input(bool in_place) const {
  if (!is_plain) return in;
  if (kind != Kind::to_complex) return dense(half());
  return in_place ? padded(half()) : dense(sizes);
}

Layout Plan::output(bool in_place) const {
  if (!is_plain) return out;
  if (kind != Kind::to_real) return dense(half());
  return in_place ? padded(half()) : dense(sizes);
}

void transform(const Plan& plan, const void* in, void* out, bool inverse) {
  plan.is_double ? run<double>(plan, in, out, inverse) : run<float>(plan, in, out, inverse);
}

}  // namespace palladion::cuda::cufft
