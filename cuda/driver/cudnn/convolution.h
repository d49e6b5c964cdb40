#pragma once
// Convolutions of any number of spatial dimensions, and their gradients.
#include <cstdint>
#include <vector>

#include "cuda/driver/cudnn/tensor.h"

namespace palladion::cuda::cudnn {

// image [N, G*C, ...], filter [G*K, C, ...], response [N, G*K, ...]: at the position p of the response and f
// of the filter the image's is p * strides + f * dilations - before.
struct Convolution {
  enum class Result : uint8_t { response, filter, image };
  Result result{};
  bool is_mirrored = false;  // in all spatial dimensions: a convolution, not a correlation
  std::vector<int64_t> strides, dilations, before;  // of spatial dimensions

  // Whether tensors of these sizes go together.
  bool fits(const std::vector<int64_t>& image, const std::vector<int64_t>& filter,
            const std::vector<int64_t>& response) const;
};

// The result, summed in double precision, from the other two.
void convolve(const Convolution& c, const Tensor& image, const Tensor& filter, const Tensor& response,
              Values& image_values, Values& filter_values, Values& response_values);

}  // namespace palladion::cuda::cudnn
