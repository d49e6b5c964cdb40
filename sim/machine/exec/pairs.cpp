#include "sim/machine/exec/pairs.h"

#include "sim/launch/phrases/phrase.h"

namespace palladion::sim {

bool find_pair(Exec& x, int ctas, const char* what, uint32_t& leader) {
  leader = ctas == 2 ? x.cta->rank & ~1U : x.cta->rank;
  if (ctas == 1 || leader + 1 < x.cluster.ctas.size()) return true;
  x.fault(Code::no_peer_cta, say<Phrase::no_peer>(what, x.cluster.ctas.size(), x.cta->rank));
  return false;
}

bool can_allocate(const ClusterState& cluster, const CtaState& cta, uint64_t ctas, uint64_t columns) {
  const TensorMemory& t = cta.tensor;
  uint32_t taken = t.taken();
  if (ctas == 2) {
    if (t.granted != 0) return true;
    const TensorMemory& peer = cluster.ctas[cta.rank ^ 1].tensor;
    if (peer.wanted != columns) return false;
    taken |= peer.taken();
  }
  return TensorMemory::find_free(taken, static_cast<uint32_t>(columns)) != TensorMemory::columns;
}

}  // namespace palladion::sim
