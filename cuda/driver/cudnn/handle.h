#pragma once
// What cuDNN's functions have in common.
#include "cuda/driver/stand_in.h"

namespace palladion::cuda::cudnn {

using Status = int;  // cudnnStatus_t
constexpr Status success = 0, bad_param = 2000, null_pointer = 2002, not_finalized = 2004,
                 not_supported = 3000, not_supported_graph = 3001, allocation_failed = 4003,
                 execution_failed = 5000;

struct Handle {
  void* stream = nullptr;
};

}  // namespace palladion::cuda::cudnn
