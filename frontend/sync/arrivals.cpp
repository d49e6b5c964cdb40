// Arrivals at mbarriers: of warpgroups, of copies, of other CTAs.
#include <fmt/format.h>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {

namespace {

using frontend::warps_per_group;

int64_t rank_stride(const Recorder& r, const std::string& axis) {
  int64_t stride = 1;
  for (size_t i = r.mesh().cluster.size(); i-- > 0;) {
    if (r.mesh().cluster[i].name == axis) return stride;
    stride *= r.mesh().cluster[i].size;
  }
  return 0;
}

// The ranks that an arrival reaches, own rank first.
std::vector<Scalar> target_ranks(Recorder& r, const std::vector<std::string>& axes) {
  const Scalar mine = frontend::cluster_rank();
  std::vector<Scalar> ranks{mine};
  for (const auto& name : axes) {
    const int64_t size = pl::axis_size(name), stride = rank_stride(r, name);
    const Scalar here = pl::axis_index(name);
    for (int64_t step = 1; step < size; ++step) {
      const Scalar other = size == 2 ? Scalar(1) - here : (here + step) % size;
      ranks.push_back(mine + (other - here) * stride);
    }
  }
  return ranks;
}

// Recorded aside: three more arrivals, used only if warpgroups arrive at the barrier too.
void remember_arrival(Recorder& r, BarrierRef::State& s, const std::string& mnemonic, const Operand& address,
                      const Operand& guard) {
  const auto mark = r.last_instruction();
  r.emit(mnemonic, {Operand::sink(), address, Operand::imm(warps_per_group - 1)}, guard);
  s.copy_arrivals.push_back({mark, {r.take_last()}});
}

}  // namespace

void BarrierRef::State::copy_arrival(Recorder& r, const Operand& address, int64_t address_offset,
                                     const Operand& bytes, const Operand& guard) {
  tma_arrivals = true;
  r.uses(this, frontend::BarrierUse::Kind::copy);
  const Operand where = Operand::address(address, address_offset);
  r.emit("mbarrier.arrive.expect_tx.shared::cta.b64", {Operand::sink(), where, bytes}, guard);
  remember_arrival(r, *this, "mbarrier.arrive.shared::cta.b64", where, guard);
}

void BarrierRef::State::commit_arrival(Recorder& r, const Operand& address, int64_t address_offset, int ctas,
                                       const Operand& cta_mask) {
  tma_arrivals = true;
  r.uses(this, frontend::BarrierUse::Kind::copy);
  const Operand where = Operand::address(address, address_offset);
  const std::string mnemonic =
      fmt::format("tcgen05.commit.cta_group::{}.mbarrier::arrive::one.shared::cluster{}.b64", ctas,
                  ctas == 2 ? ".multicast::cluster" : "");
  std::vector<Operand> operands{where};
  if (ctas == 2) operands.push_back(cta_mask);
  r.emit(mnemonic, std::move(operands), r.elected());
  remember_arrival(r, *this, "mbarrier.arrive.shared::cta.b64", where, r.elected());
}

void BarrierRef::State::remote_arrivals(Recorder& r, const Operand& remote, int64_t bytes) {
  const Operand where = Operand::address(remote);
  r.emit("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64",
         {Operand::sink(), where, Operand::imm(bytes)}, r.elected());
  remember_arrival(r, *this, "mbarrier.arrive.release.cluster.shared::cluster.b64", where, r.elected());
}

namespace {

// `guard`: holds in the lane of a warp that arrives for it.
void arrive(Recorder& r, const BarrierRef& barrier, const Operand& guard) {
  int64_t offset = 0;
  const Operand address = barrier.address("barrier_arrive", &offset);
  barrier.state().group_arrivals = true;
  r.uses(&barrier.state(), frontend::BarrierUse::Kind::arrival);
  if (barrier.state().type.options.orders_tensor_core) r.emit("tcgen05.fence::before_thread_sync", {});
  // The other lanes' accesses come before the arrival of the lane that arrives for all.
  r.emit("bar.warp.sync", {Operand::imm(-1)});
  if (!barrier.state().type.cluster) {
    std::vector<Operand> operands{Operand::sink(), Operand::address(address, offset)};
    if (r.warp) operands.push_back(Operand::imm(warps_per_group));  // for the other warps too
    r.emit("mbarrier.arrive.shared::cta.b64", std::move(operands), guard);
    return;
  }
  r.needs_warpgroup("an arrival at a ClusterBarrier");
  const Operand own = offset == 0 ? address : r.pure("add.s32", {address, Operand::imm(offset)}, Type::b32);
  for (const Scalar& rank : target_ranks(r, barrier.state().type.collective_axes)) {
    const Operand remote = r.pure("mapa.shared::cluster.u32", {own, rank.operand()}, Type::b32);
    r.emit(barrier.state().type.orders_memory ? "mbarrier.arrive.release.cluster.shared::cluster.b64"
                                              : "mbarrier.arrive.shared::cluster.b64",
           {Operand::sink(), Operand::address(remote)}, guard);
  }
}

}  // namespace

void barrier_arrive(const BarrierRef& barrier, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  arrive(r, barrier, r.thread.elected_in_warp());
}

void barrier_arrive(const BarrierRef& barrier, const ArriveOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const Scalar holds = options.predicate ? options.predicate->astype(DType::bool_) : Scalar(true);
  if (holds.is_constant()) {
    if (holds.as_int() != 0) arrive(r, barrier, r.thread.elected_in_warp());
    return;
  }
  arrive(r, barrier, r.pure("and.pred", {r.thread.elected_in_warp(), holds.operand()}, Type::pred));
}

}  // namespace palladion::plgpu
