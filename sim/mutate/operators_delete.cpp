#include "isa/core/builder.h"
#include "sim/mutate/operators.h"

namespace palladion::sim::check {
namespace {

using Object = isa::Sync::Object;

template <bool (isa::Footprint::*question)() const>
bool asks(const Flow& flow, uint32_t at) {
  return (flow.footprint(at).*question)();
}

bool is_expect(const Flow& flow, uint32_t at) {
  const isa::Sync& s = flow.footprint(at).sync;
  return s.expects_bytes && !s.arrives;
}

template <bool announces>
bool is_arrive(const Flow& flow, uint32_t at) {
  const isa::Sync& s = flow.footprint(at).sync;
  return s.object == Object::mbarrier && s.arrives && s.expects_bytes == announces;
}

enum class FenceKind : uint8_t { memory, proxy, init };
template <FenceKind kind>
bool is_fence(const Flow& flow, uint32_t at) {
  const auto* f = flow.as<isa::Fence>(at);
  if (f == nullptr || f->copy_from >= 0) return false;  // a copy is more than a fence
  return kind == (f->mbarrier_init ? FenceKind::init : f->proxy ? FenceKind::proxy : FenceKind::memory);
}

template <bool arrive>
bool is_cluster_barrier(const Flow& flow, uint32_t at) {
  const isa::Footprint& f = flow.footprint(at);
  return f.at(Object::cluster_barrier) && f.sync.arrives == arrive;
}

uint32_t next_cluster_wait(const Flow& flow, uint32_t at) {
  for (uint32_t i = at + 1; i < flow.size(); ++i)
    if (is_cluster_barrier<false>(flow, i)) return i;
  return isa::no_id;
}

std::optional<Edited> erase(Edit& edit, uint32_t at, uint32_t other) {
  if (other != isa::no_id) edit.erase(std::max(at, other));
  edit.erase(other == isa::no_id ? at : std::min(at, other));
  return Edited{};
}

// Its predicate becomes true.
std::optional<Edited> always_over(Edit& edit, uint32_t at, uint32_t) {
  isa::Instruction& wait = edit.at(at);
  isa::Instruction over = wait;
  over.operands = {*wait.operand("complete"), isa::Operand{}, isa::Operand::imm(0), isa::Operand::imm(0)};
  if (!set_words(over, "setp.eq.u32")) return std::nullopt;
  wait = std::move(over);
  return Edited{at};
}

// The form with expect_tx needs its bytes; the arrival alone counts one.
std::optional<Edited> forget_bytes(Edit& edit, uint32_t at, uint32_t) {
  isa::Instruction arrive = edit.at(at);
  arrive.operands.resize(2);
  if (!replace_word(arrive, "expect_tx", "")) return std::nullopt;
  edit.at(at) = std::move(arrive);
  return Edited{at};
}

}  // namespace

std::vector<OperatorRow> delete_rows() {
  using M = Mutation;
  return {
      {{M::delete_wait, "delete wait", "an mbarrier's wait is always over"},
       asks<&isa::Footprint::waits_for_mbarrier>,
       always_over},
      {{M::delete_arrive, "delete arrive", "mbarrier.arrive"}, is_arrive<false>, erase},
      {{M::delete_expect_arrive, "delete arrive.expect_tx", "mbarrier.arrive.expect_tx"},
       is_arrive<true>,
       erase},
      {{M::forget_expect, "forget expect_tx", "mbarrier.arrive.expect_tx becomes mbarrier.arrive"},
       is_arrive<true>,
       forget_bytes},
      {{M::delete_expect, "delete expect_tx", "mbarrier.expect_tx"}, is_expect, erase},
      {{M::delete_init, "delete init", "mbarrier.init"}, is_init, erase},
      {{M::delete_deferred_arrive, "delete cp.async arrive", "cp.async.mbarrier.arrive"},
       is<isa::CpAsyncMbarrierArrive>,
       erase},
      {{M::delete_fence, "delete fence", "fence, membar"}, is_fence<FenceKind::memory>, erase},
      {{M::delete_proxy_fence, "delete fence.proxy", "fence.proxy.async and its kin"},
       is_fence<FenceKind::proxy>,
       erase},
      {{M::delete_init_fence, "delete fence.mbarrier_init", "fence.mbarrier_init"},
       is_fence<FenceKind::init>,
       erase},
      {{M::delete_barrier, "delete bar", "bar and barrier of the CTA"}, is<isa::CtaBarrier>, erase},
      {{M::delete_warp_sync, "delete bar.warp.sync", "bar.warp.sync"}, is<isa::WarpSync>, erase},
      {{M::delete_cluster_barrier, "delete barrier.cluster", "an arrive with the wait after it"},
       is_cluster_barrier<true>,
       erase,
       next_cluster_wait},
      {{M::delete_cluster_arrive, "delete barrier.cluster.arrive", "the arrive alone"},
       is_cluster_barrier<true>,
       erase},
      {{M::delete_cluster_wait, "delete barrier.cluster.wait", "the wait alone"},
       is_cluster_barrier<false>,
       erase},
      {{M::delete_commit, "delete commit", "commit_group of wgmma, bulk copies and cp.async"},
       asks<&isa::Footprint::commits_group>,
       erase},
      {{M::delete_wait_group, "delete wait_group", "wait_group of wgmma, bulk copies and cp.async"},
       asks<&isa::Footprint::waits_for_group>,
       erase},
      {{M::delete_wgmma_fence, "delete wgmma.fence", "wgmma.fence"}, is<isa::WgmmaFence>, erase},
      {{M::delete_tensor_wait, "delete tcgen05.wait", "tcgen05.wait::ld, wait::st"},
       is<isa::TensorMemoryWait>,
       erase},
      {{M::delete_tensor_fence, "delete tcgen05.fence", "tcgen05.fence"}, is<isa::TensorMemoryFence>, erase},
      {{M::delete_tensor_commit, "delete tcgen05.commit", "tcgen05.commit"}, is<isa::Tcgen05Commit>, erase},
      {{M::delete_setmaxnreg, "delete setmaxnreg", "setmaxnreg"}, is<isa::SetMaxRegisters>, erase},
  };
}

}  // namespace palladion::sim::check
