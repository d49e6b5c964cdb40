#pragma once
// Convolution of images on Hopper, as a product whose left operand TMA gathers from them: pages/conv2d.md.
#include "frontend/plgpu.h"
#include "kernels/frame/convolution.h"
#include "kernels/frame/spec.h"

namespace palladion::kernels {

// images (n, h, w, c), filters (k, r, s, c), out (n, p, q, k). What lies outside of an image is zero.
struct Conv2d {
  int64_t n = 32, h = 56, w = 56, c = 64;  // images, their rows and columns, channels
  int64_t k = 64, r = 3, s = 3;            // filters, their rows and columns
  int64_t stride = 1, padding = 1, dilation = 1;
  pl::DType dtype = pl::f16;      // of images and filters: f16, bf16
  pl::DType out_dtype = pl::f16;  // of out: f16, bf16, f32
  int64_t tile_m = 128;           // pixels of a CTA's tile: each of two warpgroups takes half of them
  int64_t tile_n = 64;            // filters of a CTA's tile, a multiple of 64
  int64_t stages = 6;
  int64_t sm_count = isa::default_arch().sm_count;  // CTAs of the persistent grid

  ConvolutionSteps steps() const { return {stride, padding, dilation}; }
  int64_t p() const { return steps().result(h, r); }
  int64_t q() const { return steps().result(w, s); }
};

// Throws isa::Error (PLD5001) for filters that are larger than a padded image, pixels that are no multiples
// of 16 bytes, distances that a tensor map does not hold, and tiles of other sizes.
plgpu::Kernel conv2d(const Conv2d& config);
KernelSpec conv2d_spec();

}  // namespace palladion::kernels
