#pragma once
// What the functions of cuBLAS have in common.
#include "cuda/driver/stand_in.h"

namespace palladion::cuda::cublas {

using Status = int;  // cublasStatus_t
constexpr Status success = 0, not_initialized = 1, alloc_failed = 3, invalid_value = 7, execution_failed = 13,
                 not_supported = 15;

struct Handle {
  void* stream = nullptr;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  int pointer_mode = 0;  // scalars are of the host; 1: of the device
  int atomics_mode = 0;  // not allowed
  int math_mode = 0;     // CUBLAS_DEFAULT_MATH
  int sm_count = 0;      // 0: all
};

}  // namespace palladion::cuda::cublas
