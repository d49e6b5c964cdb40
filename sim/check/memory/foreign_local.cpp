#include "sim/check/memory/foreign_local.h"

#include <bit>

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/state/local_address.h"

namespace palladion::sim::check {

void ForeignLocal::on(const Access& a) {
  if (a.space != isa::Space::generic) return;
  const uint64_t cta = uint64_t{context_.cluster.index} * context_.cluster.ctas.size() + a.origin.cta_rank;
  uint32_t foreign = 0, local = 0;
  LocalAddress owner;
  for (uint32_t m = a.lanes; m != 0; m &= m - 1) {
    const Lane lane = lowest_lane(m);
    if (space_of(a.addresses[lane]) != isa::Space::local) continue;
    local |= 1U << lane;
    const LocalAddress at = local_address(a.addresses[lane]);
    const bool own = at.thread == a.origin.warp * 32 + lane + 1 && at.cta == cta % local_ctas;
    if (at.thread == 0 || own) continue;
    if (foreign == 0) owner = at;
    foreign |= 1U << lane;
  }
  if (local != 0 && a.kind == Access::Kind::atomic) report_atomic(a, local);
  const FindingKey key{Code::foreign_local_memory, a.origin.pc, ~0U, 0};
  if (foreign == 0 || context_.reporter.seen(key, a.origin)) return;
  Finding f;
  Origin lanes = a.origin;
  lanes.lanes = foreign;
  f.sites.push_back(context_.reporter.site(lanes, a.kind == Access::Kind::read ? Does::reads : Does::writes));
  const uint32_t thread = owner.thread - 1;
  f.notes.push_back(owner.cta == cta % local_ctas
                        ? say<Phrase::owner_in_cta>(thread / 32, thread % 32)
                        : say<Phrase::owner_in_another_cta>(thread / 32, thread % 32));
  context_.reporter.report(key, std::move(f));
}

void ForeignLocal::report_atomic(const Access& a, uint32_t local) {
  const FindingKey key{Code::local_atomic, a.origin.pc, ~0U, 0};
  if (context_.reporter.seen(key, a.origin)) return;
  Finding f;
  Origin lanes = a.origin;
  lanes.lanes = local;
  f.sites.push_back(context_.reporter.site(lanes, Does::reads_and_writes));
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
