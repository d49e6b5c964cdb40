#pragma once
// The binary interface that the library implements, and how it exports a function.
#include "cuda/abi/cuda.h"

namespace palladion::cuda::driver {
using namespace palladion::cuda;
}

// A function of the library, by its name in it.
#define PLD_CUDA extern "C" __attribute__((visibility("default"))) ::palladion::cuda::driver::Status
