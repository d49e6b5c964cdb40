#pragma once
// One line a kernel: each is defined beside its kernel and listed in registry.cpp.
#include "kernels/registry.h"

namespace palladion::kernels {

KernelSpec iota_spec();
KernelSpec matmul_blockspec_spec();
KernelSpec matmul_pipelined_spec();
KernelSpec matmul_ws_spec();
KernelSpec transpose_spec();
KernelSpec vector_add_spec();

}  // namespace palladion::kernels
