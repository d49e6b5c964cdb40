#include "frontend/launch/mesh.h"

namespace palladion::pl {

plgpu::KernelOptions over_mesh(const plgpu::Mesh& mesh, const KernelOptions& options) {
  return {.in_types = options.in_types,
          .out_type = options.out_type,
          .scratch_types = options.scratch_types,
          .compiler_params = options.compiler_params,
          .grid = mesh.grid,
          .grid_names = mesh.grid_names,
          .cluster = mesh.cluster,
          .cluster_names = mesh.cluster_names,
          .num_threads = mesh.num_threads,
          .thread_name = mesh.thread_name,
          .name = options.name.empty() ? mesh.kernel_name : options.name,
          .input_output_aliases = options.input_output_aliases,
          .arch = options.arch};
}

}  // namespace palladion::pl
