#include "sim/machine/exec/product_waits.h"

#include <algorithm>

#include "sim/machine/exec/handlers.h"

namespace palladion::sim {

Step exec_after_products(Exec& x, const MicroOp& op) {
  const InjectedWait& wait = x.program.injected_waits.at(op.pc);
  const uint32_t mma_warps = x.program.mma_warps();
  const auto writes_them = [&](const AsyncOp& o) {
    const auto* product = std::get_if<WarpgroupProduct>(&o.payload);
    return product != nullptr && o.cta_rank == x.cta->rank && o.warp / mma_warps == x.warp->id / mma_warps &&
           (product->issued >> (x.warp->id % mma_warps) & 1) != 0 &&
           std::ranges::binary_search(wait.products, o.pc);
  };
  if (!x.warp->wgmma.empty() && std::ranges::any_of(x.cluster.pending, writes_them))
    return x.wait(Wait::Kind::wgmma_group, 0, every_product);
  return wait.handler(x, op);
}

Step exec_copy_of_accumulator(Exec& x, const MicroOp& op) {
  x.take_resumed();
  if (!journal_satisfied(x.warp->wgmma, x.active, 0, false)) return x.wait(Wait::Kind::wgmma_group, 0, 0);
  return compute_general(x, op);
}

}  // namespace palladion::sim
