#pragma once
// Kernels over a mesh: pl::kernel and pl::core_map. A plgpu::Mesh says how many programs and threads run, a
// plgpu::WarpMesh forks the warps of one thread.
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "frontend/core/words.h"
#include "frontend/launch/kernel.h"
#include "frontend/sync/warps.h"

namespace palladion::plgpu {

// A grid of clusters of CTAs, each with `num_threads` Pallas threads (warpgroups). The names are those of
// pl::axis_index; every dimension of the grid is in clusters.
struct Mesh {
  std::vector<int64_t> grid = {};               // sizes of the axes, in clusters
  std::vector<std::string> grid_names = {};     // axes by name
  std::vector<int64_t> cluster = {};            // CTAs of a cluster along its axes
  std::vector<std::string> cluster_names = {};  // axes of the cluster by name
  int num_threads = 1;                          // Pallas threads (warpgroups) of a CTA
  std::string thread_name = {};                 // their axis by name
  std::string kernel_name = "kernel";           // of the .entry
};

}  // namespace palladion::plgpu

namespace palladion::pl {

// What a kernel takes and gives, whatever the mesh.
struct KernelOptions {
  plgpu::Types in_types = {};                           // of the input arrays
  plgpu::Types out_type = {};                           // of the output arrays
  std::vector<plgpu::NamedScratch> scratch_types = {};  // allocated for each CTA
  plgpu::CompilerParams compiler_params = {};           // options of the recording
  std::optional<CostEstimate> cost_estimate = {};       // for XLA's scheduler in JAX; nothing here reads it
  std::string name = {};                                // the mesh's kernel_name
  // (input, output): the output starts as the input's values.
  std::vector<std::pair<int, int>> input_output_aliases = {};
  const isa::ArchSpec* arch = nullptr;  // the chip that the kernel is for; null: see plgpu::ForArch
};

// plgpu::kernel's options for both.
plgpu::KernelOptions over_mesh(const plgpu::Mesh& mesh, const KernelOptions& options);

// Records the kernel: plgpu::kernel with the topology in one value. The body is as there.
template <class Body>
plgpu::Kernel kernel(Body body, const plgpu::Mesh& mesh, const KernelOptions& options = {},
                     std::source_location loc = std::source_location::current()) {
  return plgpu::kernel(std::move(body), over_mesh(mesh, options), loc);
}
template <class Body>
plgpu::Kernel core_map(const plgpu::Mesh& mesh, Body body, const KernelOptions& options = {},
                       std::source_location loc = std::source_location::current()) {
  return kernel(std::move(body), mesh, options, loc);
}

// In a kernel: a function that forks the warps of this thread when it is called.
template <class Body>
auto kernel(Body body, const plgpu::WarpMesh& mesh,
            std::source_location loc = std::source_location::current()) {
  return [body = std::move(body), mesh, loc]() mutable { core_map(mesh, body, loc); };
}

}  // namespace palladion::pl
