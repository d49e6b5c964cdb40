#pragma once
// Convolutions of images with filters: sizes, and the result on the host.
#include <cstdint>

#include "verify/arrays/arrays.h"

namespace palladion::kernels {

// How a filter moves over an image: alike along both of its dimensions.
struct ConvolutionSteps {
  int64_t stride = 1, padding = 0, dilation = 1;
  // Pixels of the result along a dimension with so many pixels, where the filter has so many taps. 0 or less:
  // the filter is larger than the image.
  int64_t result(int64_t pixels, int64_t taps) const {
    const int64_t room = pixels + 2 * padding - (taps - 1) * dilation - 1;
    return room < 0 ? 0 : room / stride + 1;
  }
};

// images (n, h, w, c), filters (k, r, s, c): the cross-correlation (n, p, q, k), as a product of matrices
// (matmul_reference).
Array convolution_reference(const Array& images, const Array& filters, const ConvolutionSteps& steps,
                            pl::DType out);

}  // namespace palladion::kernels
