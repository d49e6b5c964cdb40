#include "sim/check/order/tensor_order.h"

#include <bit>

namespace palladion::sim::check {
namespace {

constexpr size_t kept_publications = 4096;  // of a stream, for one warp that waits for it

}  // namespace

void TensorOrder::publish(uint32_t stream, const Publication& p) {
  auto& waiters = streams_[stream].waiters;
  auto of = std::ranges::find_if(
      waiters, [&](const auto& w) { return w.front().warp == p.warp && w.front().lanes == p.lanes; });
  if (of == waiters.end()) {
    waiters.push_back({p});
    return;
  }
  if (of->back().before >= p.before) return;
  if (of->size() >= kept_publications) of->erase(of->begin(), of->begin() + kept_publications / 2);
  of->push_back(p);
}

void TensorOrder::fence(WarpOfCluster warp, uint32_t lanes, const ViewRef& view, uint32_t time) {
  for (uint32_t m = lanes; m != 0; m &= m - 1)
    fences_[size_t{warp} * 32 + static_cast<size_t>(std::countr_zero(m))] = {view, time};
}

}  // namespace palladion::sim::check
