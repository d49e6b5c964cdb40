#pragma once
// Words of older documents: a call of one does not compile, and the message is the word of today.
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <vector>

#include "frontend/core/lifetime.h"
#include "frontend/core/transforms.h"
#include "frontend/memory/scoped.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {

// Today: plgpu::TilingTransform.
template <class T = int>
TilingTransform TileTransform(std::initializer_list<int64_t> /*tiling*/) {
  static_assert(frontend::never<T>, "plgpu::TileTransform is plgpu::TilingTransform today");
  std::abort();
}
// Today: a transposed window.
template <class T = int>
TilingTransform TransposeTransform(std::initializer_list<int> /*permutation*/) {
  static_assert(
      frontend::never<T>,
      "plgpu::TransposeTransform is gone: transpose the window, plgpu::transpose_ref(ref, permutation)");
  std::abort();
}
// Today: plgpu::tcgen05_commit_arrive.
template <class T = int>
void tcgen05_commit(const BarrierRef& /*barrier*/) {
  static_assert(frontend::never<T>, "plgpu::tcgen05_commit is plgpu::tcgen05_commit_arrive today");
}
// Today: plgpu::TryClusterCancelResult.
template <class T = int>
SmemType TryCancelResultRef(std::optional<int64_t> /*num_buffers*/ = std::nullopt) {
  static_assert(frontend::never<T>, "plgpu::TryCancelResultRef is plgpu::TryClusterCancelResult today");
  std::abort();
}
// Today: plgpu::SemaphoreType.
template <class T = int>
SemaphoreType Semaphore(Shape /*shape*/ = {}) {
  static_assert(frontend::never<T>, "plgpu::Semaphore is plgpu::SemaphoreType::REGULAR today");
  std::abort();
}

}  // namespace palladion::plgpu
