#pragma once
// Pixels of images as the rows of a matrix, as convolutions read them (PTX, "Im2col mode"; CUDA driver API,
// cuTensorMapEncodeIm2col).
#include <cstdint>
#include <source_location>
#include <vector>

#include "frontend/refs/ref.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {

// Which pixels of an image begin a window of the filter, at its first tap. An entry for each dimension
// between the image and the channels: (w), (h, w) or (d, h, w).
struct Im2colBox {
  // The first one, counted from the image's first pixel: less than zero where the image is padded.
  std::vector<int64_t> lower_corner;
  // The last one, counted from the image's last pixel: of a filter of r taps `padding - (r - 1) * dilation`.
  std::vector<int64_t> upper_corner;
  // From one to the next, 1 to 8. Empty: 1.
  std::vector<int64_t> strides = {};
};

// Where a column of pixels begins, and which tap of the filter it is for.
struct Im2colPlace {
  Scalar image;                // the first pixel's
  std::vector<Scalar> pixel;   // its place in the image, at the first tap: within the box
  std::vector<Scalar> offset;  // from there to the pixel that is read, 0 or more: tap * dilation
};

// From images (n, ..., c), of which a slice of channels may be given, to `dst` (pixels, channels): pixel by
// pixel of the box from `place` on, the last dimension first, then image by image. Pixels outside of their
// image are zeros, as are those behind the last image. One arrival at `barrier` when all bytes are there.
void copy_im2col_to_smem(const Ref& images, const Ref& dst, const BarrierRef& barrier, const Im2colBox& box,
                         const Im2colPlace& place,
                         std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
