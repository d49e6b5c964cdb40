#pragma once
// pl::vmap: the same kernel for every element of a batch, along a new first axis of the grid.
#include <optional>
#include <source_location>
#include <utility>
#include <vector>

#include "frontend/launch/pallas_call.h"

namespace palladion::plgpu {

// A kernel that has not been recorded yet.
struct KernelFunction {
  KernelBody body;        // not recorded yet
  KernelOptions options;  // of plgpu::kernel
  Kernel operator()(std::source_location loc = std::source_location::current()) const {
    return record_kernel(body, options, loc);
  }
};
// A kernel that is recorded later, for pl::vmap.
template <class Body>
KernelFunction kernel_function(Body body, KernelOptions options,
                               std::source_location loc = std::source_location::current()) {
  return {[body = std::move(body), loc](const std::vector<Ref>& refs, Scratch& scratch) mutable {
            if constexpr (std::is_invocable_v<Body&, const std::vector<Ref>&, Scratch&>) {
              body(refs, scratch);
            } else if (!detail::call_with_refs(body, refs, scratch, std::make_index_sequence<13>{})) {
              detail::wrong_arity(refs.size(), loc);
            }
          },
          std::move(options)};
}

}  // namespace palladion::plgpu

namespace palladion::pl {

struct VmapOptions {  // of pl::vmap; outputs are batched along dimension 0
  // The batch dimension of each input, -1: the input is shared. Missing: 0 for all.
  std::optional<std::vector<int>> in_axes = {};
  // Required where no input type gives it (kernel functions, or all inputs shared).
  int64_t axis_size = 0;
};

// The result takes batched inputs; the batch is dimension 0 of all outputs. The body's program_id and
// num_programs do not count the new axis.
PallasCall vmap(const PallasCall& call, const VmapOptions& options = {});
plgpu::KernelFunction vmap(plgpu::KernelFunction kernel, const VmapOptions& options,
                           std::source_location loc = std::source_location::current());

}  // namespace palladion::pl
