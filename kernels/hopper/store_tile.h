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

// A tile in parts of the size of a window, of which `smem` (2, rows, columns) has two. place(row, column):
// where the part that begins there in the tile belongs.
template <class F>
void store_tile_through_smem(const plgpu::Array& tile, const plgpu::Ref& smem, const F& place) {
  const int64_t rows = smem.shape(1), columns = smem.shape(2), parts = tile.shape()[1] / columns;
  for (int64_t r = 0; r < tile.shape()[0]; r += rows)
    for (int64_t n = 0; n < tile.shape()[1]; n += columns)
      store_through_smem(plgpu::slice(tile, {r, n}, {r + rows, n + columns}), smem.at(n / columns % 2),
                         place(r, n), parts);
}

}  // namespace palladion::kernels
