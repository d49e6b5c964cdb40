// Step 5: a second warpgroup stores a tile while the first one computes the next.
#include "kernels/blackwell/store_warpgroup.h"

namespace palladion::kernels::blackwell {

plgpu::Kernel matmul_epilogue_warpgroup(const MatmulConfig& c) {
  check("blackwell_matmul_epilogue_warpgroup", c, 2);
  return plgpu::kernel(
      [&](const Ref& a, const Ref& b, const Ref& out, plgpu::Scratch& s) {
        Operands x = operands_of(a, b, out, s);
        x.stored = s.barrier("stored");
        plgpu::nd_loop({c.m / (2 * c.tile_m), c.n / (2 * c.tile_n)}, {.collective_axes = {"pair"}},
                       [&](const plgpu::NDLoopInfo& loop) {
                         compute_and_store(c, x, PairTile(c, loop.index[0], loop.index[1]), loop.local_index);
                       });
        plgpu::wait_smem_to_gmem(0, true);
      },
      two_warpgroups("blackwell_matmul_epilogue_warpgroup", c));
}

}  // namespace palladion::kernels::blackwell
