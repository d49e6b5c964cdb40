#pragma once
// One line a kernel: each is defined beside its kernel and listed in registry.cpp.
#include "kernels/frame/spec.h"

namespace palladion::kernels {

KernelSpec cluster_exchange_spec();
KernelSpec cross_entropy_spec();
KernelSpec flash_attention_spec();
KernelSpec gather_spec();
KernelSpec histogram_spec();
KernelSpec iota_spec();
KernelSpec layer_norm_backward_spec();
KernelSpec layer_norm_spec();
KernelSpec matmul_blockspec_spec();
KernelSpec matmul_pipelined_spec();
KernelSpec matmul_split_k_spec();
KernelSpec matmul_ws_spec();
KernelSpec paged_attention_spec();
KernelSpec reduce_sum_spec();
KernelSpec rms_norm_backward_spec();
KernelSpec rms_norm_spec();
KernelSpec scan_spec();
KernelSpec scatter_add_spec();
KernelSpec softmax_spec();
KernelSpec sort_rows_spec();
KernelSpec stream_copy_spec();
KernelSpec top_k_spec();
KernelSpec transpose_spec();
KernelSpec vector_add_spec();

}  // namespace palladion::kernels
