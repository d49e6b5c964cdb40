#include "sim/check/values/stored_terms.h"

#include <algorithm>

#include "sim/check/values/terms_of_cluster.h"
#include "sim/machine/exec/place.h"
#include "sim/program/deciding.h"

namespace palladion::sim::check {

StoredTerms::StoredTerms(std::set<SourcePlace> places, std::set<Pc> pcs)
    : places_(std::move(places)), pcs_(std::move(pcs)) {}
StoredTerms::~StoredTerms() = default;

void StoredTerms::start(const RunView& run) {
  run_ = run;
  const Program& program = *run.program;
  judged_.assign(program.code.size(), false);
  for (const MicroOp& op : program.code)
    judged_[op.pc] = op.effect != nullptr && std::holds_alternative<isa::Store>(*op.effect) &&
                     (pcs_.contains(op.pc) || places_.contains(place_of(site_at(program, op.pc, {}, {}, 0))));
  contracted_.clear();
  for (const Contracted& c : program.contracted) contracted_.insert(c.sum);
  clusters_.clear();
  bytes_.clear();
  stores_.clear();
  rounds_ = true;
  find_slice();
}

// The registers that can get into what is judged, in any order of the instructions, through memory, too, or
// into the way to there.
void StoredTerms::find_slice() {
  const Program& program = *run_.program;
  std::vector<bool> needed(register_count(program));
  watched_ = judged_;
  const auto stores = [](const MicroOp& op) {
    return op.effect != nullptr && std::holds_alternative<isa::Store>(*op.effect);
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const MicroOp& op : program.code) {
      if (op.instruction == nullptr) continue;
      const isa::Control next = program.footprint(op).next;
      bool all = judged_[op.pc] || stores(op) || next == isa::Control::branches;
      for_each_value(program, op, [&](const RegisterUse& use) { all |= use.writes && needed[use.reg]; });
      if (!all) continue;
      watched_[op.pc] = true;
      for_each_value(program, op, [&](const RegisterUse& use) {
        if (!use.reads || needed[use.reg]) return;
        needed[use.reg] = changed = true;
      });
    }
  }
  tracked_ = 0;
  index_.assign(needed.size(), isa::no_id);
  for (size_t r = 0; r < needed.size(); ++r)
    if (needed[r]) index_[r] = tracked_++;
}

void StoredTerms::observe(ClusterState& cluster, ClusterEvents& events) {
  events.add(clusters_.add(cluster, std::make_unique<TermsOfCluster>(*this, cluster)));
}

void StoredTerms::retire(ClusterState& cluster) { clusters_.take(cluster); }

void StoredTerms::note(Pc pc, Copies copies, const Terms& terms) {
  Store& store =
      stores_.try_emplace(pc, Store{.copies = Copies::one, .cause = Pc(isa::no_id), .site = {}, .load = {}})
          .first->second;
  if (copies <= store.copies) return;
  store.copies = copies;
  store.cause = terms.data ? terms.cause : Pc(isa::no_id);
}

// Stores of a CTA with a barrier of all its threads between are in order; others are compared, ordered or
// not.
void StoredTerms::stored(uint64_t address, Byte byte) {
  const std::lock_guard lock(mutex_);
  note(byte.pc, Copies::one, byte.terms);
  const auto [at, fresh] = bytes_.try_emplace(address, byte);
  if (fresh) return;
  Byte& before = at->second;
  const bool in_order = rounds_ && before.cta == byte.cta && before.round != byte.round;
  if (in_order || (before.thread == byte.thread && !before.by_several)) {
    before = byte;
    return;
  }
  Copies copies = Copies::one;
  if (before.terms.how != byte.terms.how || before.value != byte.value)
    copies = before.terms.how != byte.terms.how && before.terms.sum == byte.terms.sum ? Copies::reordered
                                                                                      : Copies::different;
  note(before.pc, copies, before.terms.data ? before.terms : byte.terms);
  note(byte.pc, copies, byte.terms.data ? byte.terms : before.terms);
  before.by_several |= before.thread != byte.thread;
  before.round = byte.round;
}

void StoredTerms::finish(std::vector<Finding>&) {
  for (auto& [pc, store] : stores_) {
    store.site = site_at(*run_.program, pc, {}, {}, 0);
    if (store.cause != isa::no_id) store.load = site_at(*run_.program, store.cause, {}, {}, 0);
  }
}

StoredTerms::Copies StoredTerms::of(const std::set<SourcePlace>& places) const {
  Copies worst = Copies::one;
  std::set<SourcePlace> executed;
  for (const auto& [pc, store] : stores_) {
    const SourcePlace place = place_of(store.site);
    if (!places.contains(place)) continue;
    executed.insert(place);
    worst = std::max(worst, store.copies);
  }
  return executed == places ? worst : Copies::different;
}

}  // namespace palladion::sim::check
