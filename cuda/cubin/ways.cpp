#include <link.h>

#include <string>

#include "cuda/cubin/carried_ptx.h"

namespace palladion::cuda::cubin {
namespace {

struct Way {
  std::string_view library;  // in the path of a library of the framework
  std::string_view text;
};
constexpr Way ways[] = {
    {"libtriton", "Triton: leave TRITON_DISABLE_LINE_INFO unset"},
    {"/cupy", "CuPy: CUPY_COMPILE_WITH_PTX=1"},
    {"llvmlite", "numba: @cuda.jit(lineinfo=True)"},
    {"xla_cuda", "JAX: XLA_FLAGS=--xla_gpu_generate_line_info=true"},
    {"cute_dsl", "CuTe DSL: CUTE_DSL_LINEINFO=1"},
    {"tilelang", "TileLang: NVCC_APPEND_FLAGS=-lineinfo"},
    {"/warp", "Warp: warp.config.cuda_output = \"ptx\""},
    {"libtorch_cuda",
     "PyTorch's own kernels are machine code in its releases: palladion.torch.install(), or exec --torch"},
};

bool is_loaded(std::string_view library) {
  return ::dl_iterate_phdr(
             [](dl_phdr_info* info, size_t, void* wanted) {
               const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
               return path.find(*static_cast<std::string_view*>(wanted)) != std::string_view::npos ? 1 : 0;
             },
             &library) != 0;
}

}  // namespace

std::string ways_to_carry() {
  std::string out =
      "nvcc and NVRTC: -lineinfo, or PTX beside the machine code (-gencode ...,code=compute_90)";
  std::string loaded;
  for (const Way& way : ways)
    if (is_loaded(way.library)) loaded += "; " + std::string(way.text);
  if (!loaded.empty()) return out + loaded;
  for (const Way& way : ways) out += "; " + std::string(way.text);
  return out;
}

}  // namespace palladion::cuda::cubin
