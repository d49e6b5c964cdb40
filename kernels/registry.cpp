#include "kernels/frame/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <set>

#include "isa/core/whole_error.h"
#include "kernels/blackwell/flash_attention.h"
#include "kernels/blackwell/flash_attention_backward.h"
#include "kernels/blackwell/matmul.h"
#include "kernels/blackwell/matmul_scaled.h"
#include "kernels/blackwell/matmul_sparse.h"
#include "kernels/blackwell/ragged_dot.h"
#include "kernels/examples/reference_examples/examples.h"
#include "kernels/frame/specs.h"
#include "kernels/hopper/conv2d.h"
#include "kernels/hopper/flash_attention_backward.h"
#include "kernels/hopper/matmul_block_scaled.h"
#include "kernels/hopper/matmul_mixed.h"
#include "kernels/hopper/ragged_dot.h"
#include "verify/arrays/codes.h"

namespace palladion::kernels {
namespace {

[[noreturn]] void wrong(std::string message) {
  throw isa::WholeError(isa::Diagnostic{.code = LaunchCode::bad_description, .message = std::move(message)});
}

// Calls what a kernel's author wrote.
template <class F>
auto guarded(const std::string& name, const char* what, F&& f) {
  try {
    return f();
  } catch (const isa::Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& e) {
    wrong(fmt::format("kernel `{}`: its {} threw: {}", name, what, e.what()));
  }
}

void check_names(const std::vector<KernelSpec>& specs) {
  std::set<std::string_view> names;
  for (const KernelSpec& spec : specs) {
    if (spec.name.empty()) wrong("a kernel has no name");
    if (!spec.build) wrong(fmt::format("kernel `{}` has no function that records it", spec.name));
    if (!names.insert(spec.name).second) wrong(fmt::format("two kernels are called `{}`", spec.name));
  }
}

// In the order of the list that people read.
std::vector<KernelSpec> make_kernels() {
  std::vector<KernelSpec> specs;
  for (const auto spec : {vector_add_spec,
                          iota_spec,
                          stream_copy_spec,
                          transpose_spec,
                          reduce_sum_spec,
                          histogram_spec,
                          softmax_spec,
                          rms_norm_spec,
                          rms_norm_backward_spec,
                          layer_norm_spec,
                          layer_norm_backward_spec,
                          cross_entropy_spec,
                          scan_spec,
                          sort_rows_spec,
                          top_k_spec,
                          gather_spec,
                          scatter_add_spec,
                          cluster_exchange_spec,
                          matmul_blockspec_spec,
                          matmul_pipelined_spec,
                          matmul_split_k_spec,
                          matmul_ws_spec,
                          matmul_mixed_spec,
                          matmul_block_scaled_spec,
                          ragged_dot_spec,
                          conv2d_spec,
                          flash_attention_spec,
                          flash_attention_backward_spec,
                          paged_attention_spec})
    specs.push_back(spec());
  for (const auto theme :
       {reference_examples::quickstart, reference_examples::block_specs, reference_examples::meshes,
        reference_examples::copies, reference_examples::synchronisation, reference_examples::layouts,
        reference_examples::matrix_products, reference_examples::tensor_memory,
        reference_examples::gathers}) {
    for (KernelSpec& spec : theme()) specs.push_back(std::move(spec));
  }
  for (KernelSpec& spec : blackwell::matmul_specs()) specs.push_back(std::move(spec));
  specs.push_back(blackwell::flash_attention_spec());
  specs.push_back(blackwell::flash_attention_backward_spec());
  for (KernelSpec& spec : blackwell::scaled_specs()) specs.push_back(std::move(spec));
  specs.push_back(blackwell::sparse_spec());
  specs.push_back(blackwell::ragged_dot_spec());
  return prepared(std::move(specs));
}

}  // namespace

std::vector<KernelSpec> prepared(std::vector<KernelSpec> specs) {
  check_names(specs);
  for (KernelSpec& spec : specs) {
    spec.build = [name = spec.name, record = std::move(spec.build)](const Choice& choice) {
      const plgpu::ForArch target(*choice.arch);
      return guarded(name, "body", [&] { return record(choice); });
    };
    if (spec.make_inputs)
      spec.make_inputs = [name = spec.name, make = std::move(spec.make_inputs)](const Choice& choice,
                                                                                uint64_t seed) {
        return guarded(name, "inputs", [&] { return make(choice, seed); });
      };
    if (spec.reference)
      spec.reference = [name = spec.name, compute = std::move(spec.reference)](
                           const Choice& choice, const std::vector<Array>& inputs) {
        return guarded(name, "reference", [&] { return compute(choice, inputs); });
      };
  }
  return specs;
}

std::span<const KernelSpec> all_kernels() {
  static const std::vector<KernelSpec> specs = make_kernels();
  return specs;
}

const KernelSpec* find_kernel(std::string_view name) {
  const auto at = std::ranges::find(all_kernels(), name, &KernelSpec::name);
  return at == all_kernels().end() ? nullptr : &*at;
}

}  // namespace palladion::kernels
