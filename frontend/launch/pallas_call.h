#pragma once
// pl::pallas_call: a kernel for one program, and specs that say which blocks of the arrays it gets. Its
// blocks are in SMEM; they are copied in before and out after it.
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/launch/kernel.h"
#include "frontend/pipeline/block_spec.h"

namespace palladion::pl {
// The compiler_params of pl::pallas_call.
struct PallasCallParams {
  bool approx_math = false;  // approximate instructions for exp, log, tanh, ...
  // One for each axis of the grid: "parallel" (a CTA each, the default) or "sequential" (a pipeline
  // in a CTA, whose copies run ahead).
  std::vector<std::string> dimension_semantics = {};
  // Blocks under way in the pipeline.
  int64_t max_concurrent_steps = 1;
  bool unsafe_no_auto_barriers = false;
  int64_t reduction_scratch_bytes = 2048;
};

// The grid of a call and what its programs see, in one value.
struct GridSpec {
  std::vector<int64_t> grid = {};                               // sizes of its axes
  std::vector<plgpu::BlockSpec> in_specs = {}, out_specs = {};  // blocks of the inputs and outputs, one each
  std::vector<plgpu::NamedScratch> scratch_shapes = {};         // memory and barriers of a program
};
// The arguments of pl::pallas_call beside the body, as Pallas names them.
struct PallasCallOptions {
  plgpu::Types out_shape = {};     // types of the outputs
  std::vector<int64_t> grid = {};  // sizes of its axes; or in a GridSpec
  // Missing: the whole arrays in SMEM.
  std::vector<plgpu::BlockSpec> in_specs = {}, out_specs = {};
  std::vector<plgpu::NamedScratch> scratch_shapes = {};
  PallasCallParams compiler_params = {};
  std::string name = "kernel";
  std::vector<std::pair<int, int>> input_output_aliases = {};
  std::optional<GridSpec> grid_spec = {};  // instead of grid, in_specs, out_specs and scratch_shapes
  std::optional<CostEstimate> cost_estimate = {};
};
using CompilerParams = plgpu::CompilerParams;

// Of one pl::vmap: the batch axis of each input (-1: all programs share it; none given: all 0), and its size.
struct BatchLevel {
  std::optional<std::vector<int>> in_axes;  // the batched dimension of each input; none: the first of all
  int64_t axis_size = 0;                    // 0: that of the batched inputs
};

class PallasCall {  // what pl::pallas_call makes: called with the inputs' types it records the kernel
 public:
  PallasCall(plgpu::KernelBody body, PallasCallOptions options, std::source_location loc);

  // Records the kernel for inputs of these types.
  plgpu::Kernel operator()(const std::vector<ShapeDtype>& in_types) const;
  template <class... Ts>
    requires(std::is_convertible_v<Ts, ShapeDtype> && ...)
  plgpu::Kernel operator()(const Ts&... in_types) const {
    return (*this)(std::vector<ShapeDtype>{in_types...});
  }

  // With one more axis of the grid.
  PallasCall batched(BatchLevel level) const {
    PallasCall out = *this;
    out.batch_.push_back(std::move(level));
    return out;
  }

 private:
  plgpu::KernelBody body_;
  PallasCallOptions options_;
  std::source_location loc_;
  std::vector<BatchLevel> batch_;  // innermost first
};

// body(input refs..., output refs..., scratch), as for plgpu::kernel.
template <class Body>
PallasCall pallas_call(Body body, PallasCallOptions options,
                       std::source_location loc = std::source_location::current()) {
  return {
      [body = std::move(body), loc](const std::vector<plgpu::Ref>& refs, plgpu::Scratch& scratch) mutable {
        if constexpr (std::is_invocable_v<Body&, const std::vector<plgpu::Ref>&, plgpu::Scratch&>) {
          body(refs, scratch);
        } else if (!plgpu::detail::call_with_refs(body, refs, scratch, std::make_index_sequence<13>{})) {
          plgpu::detail::wrong_arity(refs.size(), loc);
        }
      },
      std::move(options), loc};
}

}  // namespace palladion::pl
