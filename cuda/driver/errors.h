#pragma once
// The names of errors.
#include "cuda/driver/abi.h"

namespace palladion::cuda::driver {

// CUDA_ERROR_INVALID_VALUE and others; null: the driver has no such error.
const char* error_name(Status status);

}  // namespace palladion::cuda::driver
