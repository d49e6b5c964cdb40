// Whose a line is.
#include "isa/core/author.h"

#include <gtest/gtest.h>

namespace palladion::isa {
namespace {

TEST(author, wrappers_of_single_instructions_are_the_toolkits) {
  for (const char* path :
       {"/usr/local/cuda-13.0/include/cccl/cuda/__barrier/barrier.h",
        "/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp",
        "/opt/cuda/include/cooperative_groups/details/sync.h", "/usr/include/cooperative_groups.h",
        "/usr/include/cuda_fp16.hpp", "/usr/local/cuda/include/crt/mma.hpp",
        "/usr/local/cuda/include/cuda/std/atomic", "/home/me/cutlass/include/cutlass/arch/barrier.h",
        "/home/me/cutlass/include/cute/arch/copy_sm90_tma.hpp",
        "/venv/lib/python3.12/site-packages/triton/language/standard.py",
        "/venv/lib/python3.12/site-packages/nvidia/cuda_runtime/include/cuda_bf16.hpp"})
    EXPECT_EQ(owner_of(path), Owner::toolkit) << path;
}

TEST(author, code_that_one_reads_and_did_not_write_is_a_librarys) {
  for (const char* path : {"/home/me/cutlass/include/cutlass/pipeline/sm90_pipeline.hpp",
                           "/usr/local/cuda/include/cccl/cub/block/block_reduce.cuh",
                           "/usr/local/cuda/include/thrust/for_each.h",
                           "/venv/lib/python3.12/site-packages/vllm/attention/triton_decode.py"})
    EXPECT_EQ(owner_of(path), Owner::library) << path;
}

TEST(author, all_other_files_are_the_authors) {
  for (const char* path :
       {"", "gemm.cu", "/home/me/cutlass/examples/48_hopper/gemm.cu", "/home/me/cuda/include/ring.cuh",
        "/home/me/crt/kernel.cu", "/work/sm_tile.h", "/home/cub/kernel.cu", "/home/me/cuda_kernels.h"})
    EXPECT_EQ(owner_of(path), Owner::author) << path;
}

}  // namespace
}  // namespace palladion::isa
