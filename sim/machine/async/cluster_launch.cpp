// Cluster launch control: a cluster takes over the work of one that has not started (PTX,
// "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel").
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/async/async_copies.h"
#include "sim/machine/async/cluster_answer.h"
#include "sim/machine/exec/handlers.h"
#include "sim/machine/exec/values_checked.h"

namespace palladion::sim {
namespace {

static_assert(sizeof(ClusterAnswer) == ClusterRequest::bytes);

}  // namespace

void ClusterRequest::land(const ClusterRun& run, const AsyncOp& op) {
  ClusterAnswer answer{};
  if (const auto cluster = run.unstarted != nullptr ? run.unstarted->take() : std::nullopt) {
    const isa::Dim3 first = run.launch.cta_id(*cluster, 0);
    answer = {first.x, first.y, first.z, 1};
  }
  for_each_rank(ctas, [&](CtaRank rank) {
    const uint32_t to = at_rank(response, rank);
    std::memcpy(shared_bytes(run.cluster, SharedAddress(to)), &answer, bytes);
    note_shared(run.cluster, to, bytes, true);
    complete_tx(run, op, at_rank(mbarrier, rank), bytes);
  });
}

void ClusterRequest::describe(const AsyncOp&, Traffic& t) const {
  t.destination = isa::Space::shared_cluster;
  t.bytes = bytes;
  t.ctas = ctas;
}

namespace {

void announce(const Exec& x, const AsyncOp& op, const ClusterRequest& request) {
  std::vector<Piece> writes;
  std::vector<SharedAddress> mbarriers;
  std::vector<uint32_t> bytes;
  for_each_rank(request.ctas, [&](CtaRank rank) {
    writes.push_back(shared_piece(at_rank(request.response, rank), ClusterRequest::bytes));
    mbarriers.push_back(at_rank(request.mbarrier, rank));
    bytes.push_back(ClusterRequest::bytes);
  });
  AsyncIssue issue = issue_of(x, op);
  issue.writes = writes;
  issue.mbarriers = mbarriers;
  issue.mbarrier_bytes = bytes;
  x.emit(issue);
}

// The request of one thread; false after a fault.
bool ask(Exec& x, const MicroOp& op, const isa::TryCancel& e, int lane) {
  const char* const what = "clusterlaunchcontrol.try_cancel";
  const uint64_t target = x.address_of_lane(op.operands[e.address], lane),
                 mbarrier = x.address_of_lane(op.operands[e.mbar], lane);
  if (target % ClusterRequest::bytes != 0) {
    x.fault(Code::bad_try_cancel,
            say<Phrase::misaligned_to_shared>(what, ClusterRequest::bytes, target & shared_offset_mask,
                                              ClusterRequest::bytes));
    return false;
  }
  if (x.shared(target, ClusterRequest::bytes, "clusterlaunchcontrol.try_cancel write") == nullptr)
    return false;
  if (!check_mbarrier(x, mbarrier, target, what)) return false;
  ClusterRequest request;
  request.response = Exec::shared_address(target);
  request.mbarrier = Exec::shared_address(mbarrier);
  request.ctas = e.multicast ? (1U << x.cluster.ctas.size()) - 1 : 1U << rank_of(request.response);
  const AsyncOp& issued = x.issue(request, 1U << lane);
  if (x.wants<AsyncIssue>()) announce(x, issued, std::get<ClusterRequest>(issued.payload));
  return true;
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::TryCancel& e) {
  if (x.cluster.saw_refusal) return x.fault(Code::request_after_refusal);
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (!ask(x, op, e, std::countr_zero(m))) return Step::fault;
  return Step::next;
}

namespace {

ClusterAnswer answer_of(const Exec& x, const DecodedOperand& response, int lane) {
  ClusterAnswer answer{};
  std::memcpy(&answer, x.lanes<uint64_t>(response) + size_t{2} * static_cast<size_t>(lane), sizeof answer);
  return answer;
}

void store_ctaid(Exec& x, const MicroOp& op, const isa::QueryCancel& e, int lane,
                 const ClusterAnswer& answer) {
  const uint32_t id[4] = {answer.x, answer.y, answer.z, 0};
  const DecodedOperand& to = op.operands[e.ctaid];
  if (e.dimension >= 0) {
    x.lanes<uint32_t>(to)[lane] = id[e.dimension];
    return;
  }
  for (int i = 0; i < 4; ++i) x.lanes<uint32_t>(vector_element(to, i))[lane] = id[i];
}

}  // namespace

Step exec(Exec& x, const MicroOp& op, const isa::QueryCancel& e) {
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const ClusterAnswer answer = answer_of(x, op.operands[e.response], lane);
    if (e.canceled >= 0) {
      const uint32_t bit = 1U << lane;
      uint32_t& p = x.predicate(op.operands[e.canceled]);
      p = answer.given != 0 ? p | bit : p & ~bit;
      x.cluster.saw_refusal |= answer.given == 0;
    } else {  // of a refusal: zeros
      store_ctaid(x, op, e, lane, answer);
    }
  }
  return Step::next;
}

}  // namespace palladion::sim
