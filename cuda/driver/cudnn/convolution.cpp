#include "cuda/driver/cudnn/convolution.h"

#include <algorithm>

namespace palladion::cuda::cudnn {
namespace {

// The elements that are multiplied with one element of the filter along the innermost dimension.
struct Row {
  int64_t image = 0, step = 1, response = 0, count = 0;
};

int64_t divided_up(int64_t a, int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

class Products {
 public:
  Products(const Convolution& c, const Tensor& image, const Tensor& filter, const Tensor& response)
      : c_(c), image_(image.sizes), filter_(filter.sizes), response_(response.sizes) {}

  // visit(filter element, row of image and response elements), each product once.
  template <class Visit>
  void each(Visit visit) const {
    const int64_t groups = image_[1] / filter_[1], outputs = filter_[0] / groups;
    for (int64_t n = 0; n < image_[0]; ++n)
      for (int64_t k = 0; k < filter_[0]; ++k)
        for (int64_t i = 0; i < filter_[1]; ++i)
          in_planes((n * image_[1]) + (k / outputs * filter_[1]) + i, (k * filter_[1]) + i,
                    (n * response_[1]) + k, visit);
  }

 private:
  // Of the planes with these numbers.
  template <class Visit>
  void in_planes(int64_t image, int64_t filter, int64_t response, Visit& visit) const {
    int64_t taps = 1;
    for (size_t d = 2; d < filter_.size(); ++d) taps *= filter_[d];
    std::vector<int64_t> at(filter_.size(), 0);
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t rest = tap;
      for (size_t d = filter_.size(); d-- > 2; rest /= filter_[d]) at[d] = rest % filter_[d];
      rows(2, at, image, response, [&](const Row& row) { visit(filter * taps + tap, row); });
    }
  }

  // Positions of the response, dimension by dimension, whose position in the image is inside.
  template <class Visit>
  void rows(size_t d, const std::vector<int64_t>& at, int64_t image, int64_t response,
            const Visit& visit) const {
    const int64_t stride = c_.strides[d - 2], tap = c_.is_mirrored ? filter_[d] - 1 - at[d] : at[d],
                  shift = tap * c_.dilations[d - 2] - c_.before[d - 2];
    const int64_t begin = divided_up(-shift, stride),
                  end = std::min(response_[d], divided_up(image_[d] - shift, stride));
    if (begin >= end) return;
    const int64_t image_begin = image * image_[d] + begin * stride + shift,
                  response_begin = response * response_[d] + begin;
    if (d + 1 == image_.size()) return visit(Row{image_begin, stride, response_begin, end - begin});
    for (int64_t p = 0; p < end - begin; ++p)
      rows(d + 1, at, image_begin + p * stride, response_begin + p, visit);
  }

  const Convolution& c_;
  const std::vector<int64_t>&image_, &filter_, &response_;
};

}  // namespace

bool Convolution::fits(const std::vector<int64_t>& image, const std::vector<int64_t>& filter,
                       const std::vector<int64_t>& response) const {
  const size_t n = image.size();
  if (n < 3 || filter.size() != n || response.size() != n || strides.size() != n - 2 ||
      dilations.size() != n - 2 || before.size() != n - 2)
    return false;
  const auto positive = [](const std::vector<int64_t>& v) {
    return std::ranges::all_of(v, [](int64_t x) { return x > 0; });
  };
  if (!positive(image) || !positive(filter) || !positive(response) || !positive(strides) ||
      !positive(dilations))
    return false;
  const int64_t groups = image[1] / filter[1];
  return image[0] == response[0] && filter[0] == response[1] && groups * filter[1] == image[1] &&
         filter[0] % groups == 0;
}

void convolve(const Convolution& c, const Tensor& image, const Tensor& filter, const Tensor& response,
              Values& image_values, Values& filter_values, Values& response_values) {
  const Products products(c, image, filter, response);
  double *const x = image_values.data(), *const w = filter_values.data(), *const y = response_values.data();
  switch (c.result) {
    case Convolution::Result::response:
      return products.each([=](int64_t f, const Row& r) {
        for (int64_t i = 0; i < r.count; ++i) y[r.response + i] += w[f] * x[r.image + i * r.step];
      });
    case Convolution::Result::image:
      return products.each([=](int64_t f, const Row& r) {
        for (int64_t i = 0; i < r.count; ++i) x[r.image + i * r.step] += w[f] * y[r.response + i];
      });
    case Convolution::Result::filter:
      return products.each([=](int64_t f, const Row& r) {
        double sum = 0;
        for (int64_t i = 0; i < r.count; ++i) sum += x[r.image + i * r.step] * y[r.response + i];
        w[f] += sum;
      });
  }
}

}  // namespace palladion::cuda::cudnn
