#pragma once
// For the files that record products of wgmma: how a tile leaves.
#include "frontend/plgpu.h"

namespace palladion::kernels {

// By way of shared memory, of which this thread has two windows that take turns, `parts` times a tile: what
// left this one two parts ago has been read. After an odd number the next tile begins with the window that
// came last.
inline void store_through_smem(const plgpu::Array& part, const plgpu::Ref& smem, const plgpu::Ref& gmem,
                               int64_t parts) {
  plgpu::wait_smem_to_gmem(parts % 2 == 0 ? 1 : 0, true);
  smem.store(part.astype(smem.dtype()));
  plgpu::commit_smem();
  plgpu::copy_smem_to_gmem(smem, gmem);
}

}  // namespace palladion::kernels
