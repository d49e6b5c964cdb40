#include <fmt/format.h>

#include "isa/core/builder.h"
#include "isa/core/op.h"
#include "sim/mutate/operators.h"

namespace palladion::sim::check {
namespace {

using Object = isa::Sync::Object;

template <class T>
const T* effect_of(Edit& edit, uint32_t at, isa::Effect& storage) {
  storage = isa::effect(edit.at(at), {edit.module(), edit.function(), edit.arch()});
  return std::get_if<T>(&storage);
}

// The operand that an effect names by its index, plus or xor a constant; nothing when it is absent.
template <class T, int T::* operand>
std::optional<Edited> compute(Edit& edit, uint32_t at, std::string_view op, int64_t constant) {
  isa::Effect storage;
  const T* effect = effect_of<T>(edit, at, storage);
  if (effect == nullptr || effect->*operand < 0) return std::nullopt;
  return Edited{edit.compute(at, effect->*operand, op, constant)};
}

template <class T, int T::* operand, int64_t constant>
std::optional<Edited> add(Edit& edit, uint32_t at, uint32_t) {
  return compute<T, operand>(edit, at, "add", constant);
}
template <class T, int T::* operand, int64_t constant>
std::optional<Edited> flip(Edit& edit, uint32_t at, uint32_t) {
  return compute<T, operand>(edit, at, "xor", constant);
}

// --- where they fit ---------------------------------------------------------------------------------------

bool is_mbarrier_arrive(const isa::Footprint& f) { return f.at(Object::mbarrier) && f.sync.arrives; }

bool is_plain_arrive(const Flow& flow, uint32_t at) {
  return is_mbarrier_arrive(flow.footprint(at)) && !flow.footprint(at).sync.expects_bytes;
}

bool announces(const Flow& flow, uint32_t at) { return flow.footprint(at).sync.expects_bytes; }

bool waits_for_parity(const Flow& flow, uint32_t at) {
  const auto* m = flow.as<isa::Mbarrier>(at);
  return m != nullptr && m->parity;
}

bool waits_for_group(const Flow& flow, uint32_t at) { return flow.footprint(at).waits_for_group(); }

bool waits_for_writes(const Flow& flow, uint32_t at) {
  const isa::Footprint& f = flow.footprint(at);
  return f.waits_for_group() && f.async.group == isa::AsyncGroup::bulk && !f.async.reads_only;
}

// An order or a scope may be written with it.
bool synchronises(const Flow& flow, uint32_t at) {
  const isa::Footprint& f = flow.footprint(at);
  if (!f.at(Object::none))
    return f.at(Object::fence) || f.at(Object::mbarrier) || f.at(Object::cluster_barrier);
  return f.order != isa::Order::weak && f.order != isa::Order::volatile_;
}

bool waits_or_loads(const Flow& flow, uint32_t at) {
  const isa::Footprint& f = flow.footprint(at);
  if (f.at(Object::mbarrier)) return f.sync.waits;
  return !f.at(Object::cluster_barrier) && synchronises(flow, at);
}

bool arrives_or_stores(const Flow& flow, uint32_t at) {
  const isa::Footprint& f = flow.footprint(at);
  if (f.at(Object::mbarrier) || f.at(Object::cluster_barrier)) return f.sync.arrives;
  return synchronises(flow, at);
}

// --- what they do
// -------------------------------------------------------------------------------------------
std::optional<Edited> more_arrivals(Edit& edit, uint32_t at, uint32_t) {
  isa::Effect storage;
  const auto* arrive = effect_of<isa::Mbarrier>(edit, at, storage);
  if (arrive->count >= 0) return Edited{edit.compute(at, arrive->count, "add", 1)};
  auto& operands = edit.at(at).operands;
  operands.resize(2);
  operands.push_back(isa::Operand::imm(2));
  return Edited{at};
}

std::optional<Edited> more_groups_left(Edit& edit, uint32_t at, uint32_t) {
  isa::Instruction& wait = edit.at(at);
  if (wait.operands.empty()) {  // cp.async.wait_all
    wait.operands.push_back(isa::Operand::imm(1));
    if (!set_words(wait, "cp.async.wait_group")) return std::nullopt;
  } else {
    wait.operands.front().bits += 1;
  }
  return Edited{at};
}

std::optional<Edited> only_reads(Edit& edit, uint32_t at, uint32_t) {
  if (!replace_word(edit.at(at), "wait_group", "wait_group.read")) return std::nullopt;
  return Edited{at};
}

// Threads of a CTA where the kernel declares them; 0: it may be launched with any number.
int64_t threads_of(const isa::Function& f) { return f.reqntid ? int64_t(f.reqntid->count()) : 0; }

template <int64_t more>
std::optional<Edited> barrier_threads(Edit& edit, uint32_t at, uint32_t) {
  isa::Effect storage;
  const auto* barrier = effect_of<isa::CtaBarrier>(edit, at, storage);
  if (barrier->threads >= 0) return Edited{edit.compute(at, barrier->threads, "add", more)};
  const int64_t all = threads_of(edit.function());
  if (barrier->action != isa::BarrierAction::sync || all == 0) return std::nullopt;
  isa::Instruction& i = edit.at(at);
  i.operands.resize(1);
  i.operands.push_back(isa::Operand::imm(all + more));
  return Edited{at};
}

std::optional<Edited> narrower_scope(Edit& edit, uint32_t at, uint32_t) {
  isa::Instruction& i = edit.at(at);
  static constexpr std::pair<std::string_view, std::string_view> steps[] = {
      {"sys", "gpu"}, {"gpu", "cluster"}, {"cluster", "cta"}, {"gl", "cta"}};
  if (i.form->slot("scope") < 0 && i.form->slot("level") < 0) return std::nullopt;
  for (const auto& [wide, narrow] : steps)
    if (replace_word(i, wide, narrow)) return Edited{at};
  return std::nullopt;
}

// Without an order an mbarrier's arrive releases and its wait acquires; an order needs a scope.
bool relax_unnamed(isa::Instruction& i, const isa::Mbarrier& e) {
  if (i.form->slot("sem") >= 0 && i.has("sem")) return false;
  const std::string_view relaxed = e.space == isa::Space::shared_cluster ? "relaxed.cluster" : "relaxed.cta";
  for (const std::string_view last :
       {"expect_tx", "parity", "arrive", "arrive_drop", "try_wait", "test_wait"})
    if (replace_word(i, last, fmt::format("{}.{}", last, relaxed))) return true;
  return false;
}

template <bool release>
std::optional<Edited> relax(Edit& edit, uint32_t at, uint32_t) {
  isa::Instruction& i = edit.at(at);
  if (replace_word(i, release ? "release" : "acquire", "relaxed")) return Edited{at};
  if (replace_word(i, "acq_rel", release ? "acquire" : "release")) return Edited{at};
  isa::Effect storage;
  if (effect_of<isa::ClusterBarrier>(edit, at, storage) != nullptr)
    return replace_word(i, "arrive", "arrive.relaxed") ? std::optional(Edited{at}) : std::nullopt;
  const auto* mbarrier = effect_of<isa::Mbarrier>(edit, at, storage);
  if (mbarrier == nullptr || !relax_unnamed(i, *mbarrier)) return std::nullopt;
  return Edited{at};
}

}  // namespace

std::vector<OperatorRow> change_rows() {
  using M = Mutation;
  using isa::CtaBarrier;
  using isa::Mbarrier;
  return {
      {{M::more_init_count, "init count + 1", "mbarrier.init"}, is_init, add<Mbarrier, &Mbarrier::count, 1>},
      {{M::less_init_count, "init count - 1", "mbarrier.init"}, is_init, add<Mbarrier, &Mbarrier::count, -1>},
      {{M::more_arrive_count, "arrive count + 1", "mbarrier.arrive"}, is_plain_arrive, more_arrivals},
      {{M::more_tx_bytes, "tx bytes + 16", "expect_tx"}, announces, add<Mbarrier, &Mbarrier::count, 16>},
      {{M::less_tx_bytes, "tx bytes - 16", "expect_tx"}, announces, add<Mbarrier, &Mbarrier::count, -16>},
      {{M::flip_parity, "parity flipped", "try_wait.parity, test_wait.parity"},
       waits_for_parity,
       flip<Mbarrier, &Mbarrier::state, 1>},
      {{M::more_groups_left, "wait_group n + 1", "wait_group of wgmma, bulk copies and cp.async"},
       waits_for_group,
       more_groups_left},
      {{M::only_reads_awaited, ".read added", "cp.async.bulk.wait_group"}, waits_for_writes, only_reads},
      {{M::more_barrier_threads, "bar threads + 32", "bar and barrier"}, is<CtaBarrier>, barrier_threads<32>},
      {{M::less_barrier_threads, "bar threads - 32", "bar and barrier"},
       is<CtaBarrier>,
       barrier_threads<-32>},
      {{M::next_barrier_id, "bar id + 1", "bar and barrier"},
       is<CtaBarrier>,
       add<CtaBarrier, &CtaBarrier::id, 1>},
      {{M::narrower_scope, "scope narrowed", "sys, gpu, cluster, cta"}, synchronises, narrower_scope},
      {{M::relaxed_release, "release to relaxed", "arrivals, stores, atomics, fences"},
       arrives_or_stores,
       relax<true>},
      {{M::relaxed_acquire, "acquire to relaxed", "waits, loads, atomics, fences"},
       waits_or_loads,
       relax<false>},
      {{M::other_cta, "mapa rank ^ 1", "the neighbour in the cluster is meant"},
       is<isa::MapShared>,
       flip<isa::MapShared, &isa::MapShared::rank, 1>},
  };
}

}  // namespace palladion::sim::check
