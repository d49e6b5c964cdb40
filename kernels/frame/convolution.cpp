#include "kernels/frame/convolution.h"

#include <algorithm>

#include "kernels/frame/reference.h"

namespace palladion::kernels {
namespace {

// A row for each pixel of the result, with what the filter reads there: taps, and the channels of each.
Array im2col(const Array& images, const pl::Shape& filters, const ConvolutionSteps& steps) {
  const pl::Shape& in = images.type.shape;
  const int64_t r = filters[1], s = filters[2], p = steps.result(in[1], r), q = steps.result(in[2], s);
  const int64_t pixel = in[3] * pl::bytes(images.type.dtype);
  Array rows({images.type.dtype, {in[0] * p * q, r * s * in[3]}});
  std::ranges::fill(rows.bytes, decltype(rows.bytes)::value_type{});  // outside of the image
  auto to = rows.bytes.begin();
  const auto inside = [](int64_t at, int64_t size) { return at >= 0 && at < size; };
  for (int64_t row = 0; row < in[0] * p * q; ++row)
    for (int64_t tap = 0; tap < r * s; ++tap, to += pixel) {
      const int64_t y = row / q % p * steps.stride - steps.padding + tap / s * steps.dilation,
                    x = row % q * steps.stride - steps.padding + tap % s * steps.dilation;
      if (inside(y, in[1]) && inside(x, in[2]))
        std::copy_n(images.bytes.begin() + ((row / (p * q) * in[1] + y) * in[2] + x) * pixel, pixel, to);
    }
  return rows;
}

}  // namespace

Array convolution_reference(const Array& images, const Array& filters, const ConvolutionSteps& steps,
                            pl::DType out) {
  const pl::Shape &in = images.type.shape, &taps = filters.type.shape;
  Array matrix = filters;
  matrix.type.shape = {taps[0], taps[1] * taps[2] * taps[3]};
  Array result = matmul_reference(im2col(images, taps, steps), false, matrix, true, nullptr, out);
  result.type.shape = {in[0], steps.result(in[1], taps[1]), steps.result(in[2], taps[2]), taps[0]};
  return result;
}

}  // namespace palladion::kernels
