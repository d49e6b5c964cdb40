#include "kernels/registry.h"

#include <algorithm>

#include "kernels/reference_examples/examples.h"
#include "kernels/specs.h"

namespace palladion::kernels {
namespace {

// In the order of the list that people read.
std::vector<KernelSpec> make_kernels() {
  std::vector<KernelSpec> specs;
  for (const auto spec : {vector_add_spec, iota_spec, stream_copy_spec, transpose_spec, reduce_sum_spec,
                          histogram_spec, softmax_spec, rms_norm_spec, cluster_exchange_spec,
                          matmul_blockspec_spec, matmul_pipelined_spec, matmul_split_k_spec, matmul_ws_spec})
    specs.push_back(spec());
  for (const auto theme :
       {reference_examples::quickstart, reference_examples::block_specs, reference_examples::meshes,
        reference_examples::copies, reference_examples::synchronisation, reference_examples::layouts,
        reference_examples::matrix_products}) {
    for (KernelSpec& spec : theme()) specs.push_back(std::move(spec));
  }
  for (KernelSpec& spec : specs) {
    spec.build = [record = std::move(spec.build)](const Choice& choice) {
      const plgpu::ForArch target(*choice.arch);
      return record(choice);
    };
  }
  return specs;
}

}  // namespace

std::span<const KernelSpec> all_kernels() {
  static const std::vector<KernelSpec> specs = make_kernels();
  return specs;
}

const KernelSpec* find_kernel(std::string_view name) {
  const auto at = std::ranges::find(all_kernels(), name, &KernelSpec::name);
  return at == all_kernels().end() ? nullptr : &*at;
}

}  // namespace palladion::kernels
