#pragma once
// Functions of single elements, which a graph has behind a convolution: bias, scale, activation.
#include <optional>

#include "cuda/driver/cudnn/descriptors.h"
#include "cuda/driver/cudnn/tensor.h"

namespace palladion::cuda::cudnn {

struct Function {
  int mode = 0;                            // cudnnPointwiseMode_t
  double lower = 0, upper = 0, slope = 0;  // of ReLU: limits, and the slope below the lower one
  double alpha = 1, beta = 1;              // of ELU; of softplus and swish
  double first = 1, second = 1;            // what the arguments are scaled with

  bool is_known() const;
  bool has_two() const;  // arguments
  double operator()(double x, double b) const;
};

// Of the descriptors of the function and of the operation.
Function function_of(const Contents& function, const Contents& operation);
// Whether each dimension has as many elements as y's, or one.
bool fits(const Tensor& of, const Tensor& y);
// Values of y, of arguments that fit. A dimension of one element holds for all.
Values pointwise(const Function& f, const Tensor& x, const Values& x_values, const Tensor& b,
                 const Values& b_values, const Tensor& y);

}  // namespace palladion::cuda::cudnn
