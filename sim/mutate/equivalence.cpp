#include "sim/mutate/equivalence.h"

#include <algorithm>
#include <initializer_list>

#include "sim/mutate/flow.h"

namespace palladion::sim::check {
namespace {

using isa::Footprint;
using isa::MbarrierAction;
using Object = isa::Sync::Object;

// A mutant with the facts about the instruction that it changes.
struct Case {
  const Mutant& mutant;
  const Flow& flow;
  const RunFacts& facts;

  uint32_t at() const { return mutant.instruction; }
  const isa::Instruction& instruction() const { return flow.at(at()); }
  const Footprint& footprint(uint32_t index) const { return flow.footprint(index); }
  const Footprint& footprint() const { return footprint(at()); }
  SiteFacts site(uint32_t index) const { return facts.of(mutant.function, index); }
  bool is_any(std::initializer_list<Mutation> all) const {
    return std::ranges::find(all, mutant.mutation) != all.end();
  }
  template <class T>
  const T* as() const {
    return flow.as<T>(at());
  }
};

// Instructions that the rules may skip.
bool fences_at_most(const Flow& flow, uint32_t i) {
  const Footprint& f = flow.footprint(i);
  // What tcgen05.wait and fence order is passed on by the barrier behind them alone.
  const bool of_tensor_memory =
      flow.as<isa::TensorMemoryWait>(i) != nullptr || flow.as<isa::TensorMemoryFence>(i) != nullptr;
  return f.registers_only() || (f.at(Object::fence) && !f.writes_memory() && !of_tensor_memory);
}
// Issues asynchronous copies or products, or makes groups of them.
bool issues_at_most(const Footprint& f) {
  return (f.issues() && f.values == isa::Values::tensor) || f.commits_group() ||
         f.async.role == isa::Async::Role::orders;
}
bool accesses_weakly(const Footprint& f) {
  return f.at(Object::none) && f.async.role == isa::Async::Role::none && f.order == isa::Order::weak &&
         f.next != isa::Control::calls && f.next != isa::Control::traps &&
         std::ranges::none_of(f.memory, &isa::MemoryUse::modifies);
}

bool unguarded(const isa::Instruction& i) { return i.guard.reg == isa::no_id; }

// Every way from (to) the place leads through an instruction that `goal` names, over nothing but what
// `quiet` names. Forward the end of the kernel counts as `at_end`, backward its start as `at_start`.
template <class Quiet, class Goal>
bool every_way_on(const Case& c, Quiet&& quiet, Goal&& goal, bool at_end = false) {
  bool all = true;
  c.flow.forward(c.at(), [&](uint32_t i) {
    if (i != c.at() && goal(i)) return false;
    all = all && i != c.at() && quiet(i) && (at_end || !c.footprint(i).ends());
    return all;
  });
  return all;
}

template <class Quiet, class Goal>
bool every_way_back(const Case& c, Quiet&& quiet, Goal&& goal, bool at_start = false) {
  bool all = true;
  const bool started = c.flow.backward(c.at(), [&](uint32_t i) {
    if (i != c.at() && goal(i)) return false;
    all = all && i != c.at() && quiet(i);
    return all;
  });
  return all && (at_start || !started);
}

auto registers_in(const Case& c) {
  return [&c](uint32_t i) { return c.footprint(i).registers_only(); };
}

// A fence counts when all threads of the barrier have executed it too: otherwise the barrier may pass on what
// one thread's fence did.
auto registers_and_fences_in(const Case& c) {
  return [&c](uint32_t i) {
    if (c.footprint(i).registers_only()) return true;
    const SiteFacts fence = c.site(i);
    return fences_at_most(c.flow, i) && fence.whole_warps && fence.executed == c.site(c.at()).executed;
  };
}

bool is_whole_barrier(const Case& c, uint32_t i) {
  const auto* b = c.flow.as<isa::CtaBarrier>(i);
  return b != nullptr && b->action == isa::BarrierAction::sync && b->threads < 0 && unguarded(c.flow.at(i)) &&
         !c.site(i).shared;
}

// An arrival that releases, with its wait directly after it.
bool is_cluster_barrier(const Case& c, uint32_t i) {
  const auto* arrive = c.flow.as<isa::ClusterBarrier>(i);
  if (arrive == nullptr || !arrive->arrive || arrive->order != isa::Order::release) return false;
  const auto* wait = i + 1 < c.flow.size() ? c.flow.as<isa::ClusterBarrier>(i + 1) : nullptr;
  return wait != nullptr && !wait->arrive && unguarded(c.flow.at(i)) && !c.site(i).shared;
}

bool is_cluster_wait(const Case& c, uint32_t i) { return i > 0 && is_cluster_barrier(c, i - 1); }

bool is_root(const Case& c) { return c.flow.function().entry; }

bool is_arrival(const Footprint& f) { return f.at(Object::mbarrier) && f.sync.arrives; }
bool is_wgmma_wait(const Footprint& f) {
  return f.waits_for_group() && f.async.group == isa::AsyncGroup::wgmma;
}

// --- the rules
// ----------------------------------------------------------------------------------------------
bool not_executed(const Case& c) { return c.site(c.at()).executed == 0; }

// Keeping fewer registers blocks no warp; keeping more may leave other warps waiting for them.
bool registers_only(const Case& c) {
  const auto* set = c.as<isa::SetMaxRegisters>();
  return c.mutant.mutation == Mutation::delete_setmaxnreg && set->increase;
}

int64_t groups_left(const Footprint& f) { return f.waits_for_group() ? f.async.groups_left : -1; }

bool nothing_pending(const Case& c) {
  if (!c.is_any({Mutation::delete_wait_group, Mutation::more_groups_left, Mutation::only_reads_awaited}))
    return false;
  const int64_t left = groups_left(c.footprint());
  return left >= 0 && c.site(c.at()).most_pending <= uint64_t(left);
}

// Generic addresses do not reach it.
bool accesses_tensor_memory(const Flow& flow, uint32_t i) {
  return std::ranges::any_of(flow.footprint(i).memory,
                             [](const isa::MemoryUse& m) { return m.space == isa::Space::tensor; });
}

// tcgen05.wait::st in a function without tcgen05.st, and the like.
bool nothing_to_wait_for(const Case& c) {
  const auto* const wait = c.as<isa::TensorMemoryWait>();
  if (c.mutant.mutation != Mutation::delete_tensor_wait || !is_root(c)) return false;
  for (uint32_t i = 0; i < c.flow.size(); ++i) {
    if (c.footprint(i).next == isa::Control::calls) return false;
    if (wait->stores ? c.flow.as<isa::TensorMemoryStore>(i) != nullptr
                     : c.flow.as<isa::TensorMemoryLoad>(i) != nullptr)
      return false;
  }
  return true;
}

// After fence::after no access comes that could be moved over a barrier. What fence::before covers is passed
// on at the next barrier, behind which no thread has an access.
bool no_tensor_access_follows(const Case& c) {
  if (c.mutant.mutation != Mutation::delete_tensor_fence || !is_root(c)) return false;
  bool follows = false;
  c.flow.forward(c.at(), [&](uint32_t i) {
    follows = follows || accesses_tensor_memory(c.flow, i) || c.footprint(i).next == isa::Control::calls;
    return !follows;
  });
  if (follows || c.as<isa::TensorMemoryFence>()->after) return !follows;
  return every_way_on(c, registers_in(c),
                      [&](uint32_t i) { return is_whole_barrier(c, i) || is_cluster_barrier(c, i); });
}

bool is_stronger_wait(const Case& c, uint32_t i) {
  const Footprint &mine = c.footprint(), &other = c.footprint(i);
  return other.waits_for_group() && other.async.group == mine.async.group &&
         c.flow.at(i).guard == c.instruction().guard && groups_left(other) <= groups_left(mine) &&
         (mine.async.reads_only || !other.async.reads_only);
}

bool stronger_wait_follows(const Case& c) {
  if (!c.is_any({Mutation::delete_wait_group, Mutation::more_groups_left, Mutation::only_reads_awaited}))
    return false;
  // Registers of a wgmma may be read by anything; only an empty way is safe.
  const bool wgmma = is_wgmma_wait(c.footprint());
  return every_way_on(
      c,
      [&](uint32_t i) {
        return wgmma ? c.flow.as<isa::Branch>(i) != nullptr : c.footprint(i).registers_only();
      },
      [&](uint32_t i) { return is_stronger_wait(c, i); });
}

bool is_same_barrier(const Case& c, uint32_t i) {
  if (is_whole_barrier(c, i) || is_cluster_barrier(c, i)) return true;
  const auto *mine = c.as<isa::CtaBarrier>(), *other = c.flow.as<isa::CtaBarrier>(i);
  return other != nullptr && other->action == isa::BarrierAction::sync && unguarded(c.flow.at(i)) &&
         !c.site(i).shared && *c.flow.operand(i, other->id) == *c.flow.operand(c.at(), mine->id) &&
         mine->threads >= 0 && other->threads >= 0 &&
         *c.flow.operand(i, other->threads) == *c.flow.operand(c.at(), mine->threads);
}

bool is_deleted_sync(const Case& c) {
  const auto* b = c.as<isa::CtaBarrier>();
  return c.mutant.mutation == Mutation::delete_barrier && b->action == isa::BarrierAction::sync &&
         unguarded(c.instruction()) && !c.site(c.at()).shared;
}

bool barrier_follows(const Case& c) {
  return is_deleted_sync(c) &&
         every_way_on(c, registers_and_fences_in(c), [&](uint32_t i) { return is_same_barrier(c, i); });
}

bool barrier_precedes(const Case& c) {
  return is_deleted_sync(c) && every_way_back(c, registers_and_fences_in(c), [&](uint32_t i) {
           return is_cluster_wait(c, i) || (!is_cluster_barrier(c, i) && is_same_barrier(c, i));
         });
}

bool fresh_memory(const Case& c) {
  return is_deleted_sync(c) && !c.site(c.at()).used_before &&
         every_way_on(
             c, [&](uint32_t i) { return accesses_weakly(c.footprint(i)); },
             [&](uint32_t i) { return is_same_barrier(c, i); });
}

// A CTA ends when its last thread does; a thread that ends early must not be the last while others access its
// memory.
bool lives_on(const Case& c) {
  if (c.facts.ctas_of_cluster() == 1) return true;
  bool meets = true;
  c.flow.forward(c.at(), [&](uint32_t i) {
    meets = meets && !c.footprint(i).ends();
    return !is_cluster_barrier(c, i);
  });
  return meets;
}

bool nothing_follows(const Case& c) {
  if (c.site(c.at()).acted_after) return false;
  if (c.mutant.mutation == Mutation::delete_wait) return !c.site(c.at()).awaits_bytes && lives_on(c);
  return is_deleted_sync(c) ||
         c.is_any({Mutation::delete_fence, Mutation::delete_proxy_fence, Mutation::only_reads_awaited,
                   Mutation::relaxed_acquire, Mutation::delete_warp_sync}) ||
         (c.mutant.mutation == Mutation::relaxed_release && c.as<isa::ClusterBarrier>() != nullptr);
}

// Arrivals without a wait are legal, a wait without an arrival is not.
bool end_is_awaited(const Case& c) {
  return c.is_any({Mutation::delete_cluster_barrier, Mutation::delete_cluster_wait}) &&
         !c.site(c.at()).acted_after && c.facts.remote_actions_are_awaited();
}

bool nothing_to_pass_on(const Case& c) {
  return c.mutant.mutation == Mutation::delete_proxy_fence && !c.site(c.at()).accessed_before;
}

bool is_passed_once(const Case& c) {
  bool once = is_root(c);
  c.flow.forward(c.at(), [&](uint32_t i) { return once = once && i != c.at(), true; });
  return once;
}

// No other barrier of the program may use the new name.
bool only_renamed(const Case& c) {
  if (c.mutant.mutation != Mutation::next_barrier_id || c.site(c.at()).shared) return false;
  const isa::Operand& id = *c.flow.operand(c.at(), c.as<isa::CtaBarrier>()->id);
  if (!id.is(isa::Operand::Kind::imm)) return false;
  // All threads have passed before one of them reaches any barrier after it.
  const bool once = is_whole_barrier(c, c.at()) && is_passed_once(c);
  for (uint32_t i = 0; i < c.flow.size(); ++i) {
    if (c.footprint(i).next == isa::Control::calls) return false;
    const auto* b = c.flow.as<isa::CtaBarrier>(i);
    if (b == nullptr || i == c.at()) continue;
    if (once && c.flow.dominated(i, c.at())) continue;
    const isa::Operand& other = *c.flow.operand(i, b->id);
    if (!other.is(isa::Operand::Kind::imm) || other.bits == id.bits + 1) return false;
  }
  return is_root(c);
}

// The threads that reach this instruction reach it together: an .aligned wait for products is before it, with
// registers and fences alone between. Then none is an mbarrier phase later than the others.
bool met_before(const Case& c) {
  for (uint32_t i = c.at(); i-- > 0;) {
    if (is_wgmma_wait(c.footprint(i))) return c.flow.dominated(c.at(), i) && c.site(i).whole_warps;
    if (!fences_at_most(c.flow, i)) return false;
  }
  return false;
}

// The barrier is one of lanes of a warp, or of the warps of a warpgroup.
bool is_of_one_team(const Case& c) {
  if (c.mutant.mutation == Mutation::delete_warp_sync) return c.site(c.at()).whole_warps;
  if (!is_deleted_sync(c)) return false;
  const isa::Operand* threads = c.flow.operand(c.at(), c.as<isa::CtaBarrier>()->threads);
  const isa::ArchSpec& arch = c.flow.arch();
  if (threads == nullptr) return c.facts.warps_of_cta() == static_cast<uint32_t>(arch.mma_warps);
  return threads->is(isa::Operand::Kind::imm) &&
         threads->bits == static_cast<uint64_t>(arch.mma_warps) * static_cast<uint64_t>(arch.warp_size);
}

bool members_alone(const Case& c) {
  if (!is_of_one_team(c)) return false;
  const bool warps = c.mutant.mutation == Mutation::delete_barrier, met = met_before(c);
  const auto fence = registers_and_fences_in(c);
  bool all = true;
  c.flow.backward(c.at(), [&](uint32_t i) {
    if (i == c.at()) return true;  // of the round before: it is deleted there too
    const Footprint& f = c.footprint(i);
    const bool whole = c.site(i).whole_warps;
    const bool synchronises = warps ? is_same_barrier(c, i) && !is_cluster_barrier(c, i)
                                    : f.at(Object::warp) || f.at(Object::cta_barrier);
    if ((synchronises && unguarded(c.flow.at(i)) && whole) || is_cluster_wait(c, i)) return false;
    const bool waited = (f.waits_for_mbarrier() || is_wgmma_wait(f)) && whole;
    all = all && (fence(i) || issues_at_most(f) || waited || (met && is_arrival(f)));
    return all;
  });
  return all;
}

bool covers(const isa::Fence& other, const isa::Fence& mine) {
  const bool same_place = other.window == mine.window || other.window == isa::Space::generic;
  return other.proxy == mine.proxy && other.to == mine.to && other.alias == mine.alias && same_place &&
         other.mbarrier_init == mine.mbarrier_init && other.order == mine.order &&
         other.scope >= mine.scope && other.address < 0 && mine.address < 0 && other.copy_from < 0;
}

bool fence_beside(const Case& c) {
  if (!c.is_any({Mutation::delete_fence, Mutation::delete_proxy_fence, Mutation::delete_init_fence}))
    return false;
  const auto covering = [&](uint32_t i) {
    const auto* other = c.flow.as<isa::Fence>(i);
    return other != nullptr && c.flow.at(i).guard == c.instruction().guard &&
           covers(*other, *c.as<isa::Fence>());
  };
  return every_way_on(c, registers_in(c), covering) || every_way_back(c, registers_in(c), covering);
}

bool init_published(const Case& c) {
  if (c.mutant.mutation != Mutation::delete_init_fence) return false;
  // Allocations of tensor memory use no mbarrier.
  const auto quiet = [&](uint32_t i) {
    return c.footprint(i).registers_only() || c.flow.as<isa::TensorMemoryAllocation>(i) != nullptr;
  };
  return every_way_on(c, quiet, [&](uint32_t i) {
    return is_cluster_barrier(c, i) || (is_whole_barrier(c, i) && c.facts.ctas_of_cluster() == 1);
  });
}

bool only_inits_to_release(const Case& c) {
  if (c.mutant.mutation != Mutation::relaxed_release || c.as<isa::ClusterBarrier>() == nullptr) return false;
  bool fenced = false;
  return every_way_back(
             c,
             [&](uint32_t i) { return c.footprint(i).registers_only() || c.footprint(i).sync.initialises; },
             [&](uint32_t i) {
               const auto* f = c.flow.as<isa::Fence>(i);
               fenced = fenced || (f != nullptr && f->mbarrier_init);
               return f != nullptr && f->mbarrier_init && is_root(c);
             },
             true) &&
         fenced;
}

// The barrier makes visible to others what the arriving thread did before it.
bool nothing_to_release(const Case& c) {
  const auto* m = c.as<isa::Mbarrier>();
  if (c.mutant.mutation != Mutation::relaxed_release || m == nullptr || m->space != isa::Space::shared_cta)
    return false;
  return every_way_back(
      c,
      [&](uint32_t i) {
        const Footprint& f = c.footprint(i);
        return fences_at_most(c.flow, i) || issues_at_most(f) || is_arrival(f);
      },
      [&](uint32_t i) { return is_whole_barrier(c, i) || is_cluster_wait(c, i); });
}

bool ordered_without(const Case& c) {
  const auto* m = c.as<isa::Mbarrier>();
  return c.mutant.mutation == Mutation::relaxed_release && m != nullptr && m->expect_tx &&
         c.facts.ordered_without_announcements();
}

// What may stand between two barriers of all threads, of which one is deleted: nothing that a lane must order
// with another lane of its warp by itself.
bool lanes_need_no_order(const Case& c, uint32_t i, bool waits_too) {
  const Footprint& f = c.footprint(i);
  if (f.registers_only() || c.flow.as<isa::TensorMemoryLoad>(i) != nullptr ||
      c.flow.as<isa::TensorMemoryWait>(i) != nullptr || c.flow.as<isa::TensorMemoryFence>(i) != nullptr)
    return true;
  const auto* m = c.flow.as<isa::Mbarrier>(i);
  return waits_too && (m != nullptr || issues_at_most(f) || f.waits_for_group() ||
                       c.flow.as<isa::Tcgen05Commit>(i) != nullptr);
}

bool ordered_without_barrier(const Case& c) {
  if (c.mutant.mutation != Mutation::delete_barrier || !is_whole_barrier(c, c.at()) || c.site(c.at()).orders)
    return false;
  const auto meets = [&](uint32_t i) { return is_whole_barrier(c, i) || is_cluster_barrier(c, i); };
  return every_way_on(
             c, [&](uint32_t i) { return lanes_need_no_order(c, i, true); }, meets) ||
         every_way_back(c, [&](uint32_t i) { return lanes_need_no_order(c, i, false); }, meets);
}

bool commits_alone(const Case& c) {
  return c.mutant.mutation == Mutation::relaxed_acquire && c.as<isa::Mbarrier>() != nullptr &&
         c.site(c.at()).executed > 0 && !c.site(c.at()).awaits_others;
}

bool later_fence_follows(const Case& c) {
  const auto* fence = c.as<isa::TensorMemoryFence>();
  if (c.mutant.mutation != Mutation::delete_tensor_fence || fence == nullptr || !fence->after) return false;
  bool all = true;
  c.flow.forward(c.at(), [&](uint32_t i) {
    const auto* f = c.flow.as<isa::TensorMemoryFence>(i);
    if (i == c.at() || (f != nullptr && f->after && unguarded(c.flow.at(i)))) return false;
    all = all && !accesses_tensor_memory(c.flow, i) && c.footprint(i).next != isa::Control::calls;
    return all;
  });
  return all;
}

bool same_operand(const Case& c, int mine, int other) {
  const isa::Operand *a = c.flow.operand(c.at(), mine), *b = c.flow.operand(c.mutant.other, other);
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

bool order_alone(const Case& c) {
  if (c.mutant.mutation != Mutation::swap_mbarriers) return false;
  const auto *a = c.as<isa::Mbarrier>(), *b = c.flow.as<isa::Mbarrier>(c.mutant.other);
  if (a->action != MbarrierAction::init && a->action != MbarrierAction::arrive) return false;
  const isa::Instruction& other = c.flow.at(c.mutant.other);
  if (other.form != c.instruction().form || other.mods != c.instruction().mods ||
      other.guard != c.instruction().guard || !same_operand(c, a->count, b->count) || a->dst >= 0)
    return false;
  // One after the other in a straight line.
  for (uint32_t i = c.at() + 1; i < c.mutant.other; ++i) {
    const Footprint& f = c.footprint(i);
    const bool straight = f.next != isa::Control::branches && f.next != isa::Control::calls;
    if (!straight || !(f.registers_only() || issues_at_most(f) || f.sync.initialises || is_arrival(f)))
      return false;
  }
  return std::ranges::none_of(c.flow.function().labels, [&](const isa::Label& label) {
    return label.target != isa::no_id && label.target > c.at() && label.target <= c.mutant.other;
  });
}

struct Row {
  EquivalenceRule words;
  bool (*holds)(const Case&);
};

constexpr Row rows[] = {
    {{"not executed", "no warp reached the instruction in this run; a larger shape may reach it"},
     not_executed},
    {{"nothing pending",
      "the wait_group never found more groups pending than it allows: it returned at once, and a weaker one "
      "would too"},
     nothing_pending},
    {{"nothing to wait for",
      "the kernel has no tcgen05.ld, or tcgen05.st, that the tcgen05.wait could wait for"},
     nothing_to_wait_for},
    {{"no tensor access follows",
      "no thread uses tensor memory behind the tcgen05.fence, or behind the barrier of all threads after it"},
     no_tensor_access_follows},
    {{"stronger wait follows",
      "on every path a wait_group of the same kind that leaves no more groups pending comes next, with only "
      "register instructions between"},
     stronger_wait_follows},
    {{"barrier follows",
      "on every path the same threads meet at another barrier, with only register instructions and fences "
      "between: it orders what the deleted one ordered"},
     barrier_follows},
    {{"barrier precedes", "the same, before it"}, barrier_precedes},
    {{"fresh memory",
      "until the next barrier of the same threads each warp touches only bytes that no other warp had "
      "touched since the cluster began, by loads and stores alone: no earlier access needs an order"},
     fresh_memory},
    {{"nothing follows",
      "the warps that executed it, and those that met such a warp at a barrier, then only waited and ended: "
      "no later access needs an order, and the CTA exists as long as others access it"},
     nothing_follows},
    {{"only renamed",
      "all threads of this barrier arrive by this instruction, and the new id is unused or belongs to "
      "barriers that no thread reaches before all have passed this one"},
     only_renamed},
    {{"members alone",
      "since the lanes of the warp, or the warps of the warpgroup, last met, none touched memory by itself: "
      "copies and products are ordered by mechanisms of their own, and all members waited for them"},
     members_alone},
    {{"nothing to pass on",
      "no thread had made an ordinary access to memory when the proxy fence was executed: no access needs to "
      "become visible to another proxy"},
     nothing_to_pass_on},
    {{"end is awaited",
      "no thread acts after the cluster's last barrier, and whatever one CTA sent to another was an arrival, "
      "or bytes, at an mbarrier there whose phase a thread of that CTA waited for before it ended"},
     end_is_awaited},
    {{"fence beside",
      "a fence that orders as much is before or after it on every path, with only register instructions "
      "between"},
     fence_beside},
    {{"init published",
      "the barrier after the fence publishes the initialisation of the mbarriers: a barrier of the cluster, "
      "or of the CTA if the cluster is one CTA"},
     init_published},
    {{"only inits to release",
      "before the arrival at the cluster's barrier the kernel only initialises mbarriers, which "
      "fence.mbarrier_init publishes"},
     only_inits_to_release},
    {{"nothing to release",
      "since a barrier of the whole CTA the arriving thread made no access that a waiting thread could "
      "depend on"},
     nothing_to_release},
    {{"ordered without",
      "copies, other arrivals, groups and barriers order every two conflicting accesses, with proxy fences: "
      "the releases of arrivals that announce bytes add no order in this run"},
     ordered_without},
    {{"ordered without the barrier",
      "copies, other barriers, arrivals and waits order every two conflicting accesses in this run, those of "
      "tensor memory too; and the lanes of a warp meet at another barrier, beside this one"},
     ordered_without_barrier},
    {{"commits alone",
      "all that the wait waited for was tcgen05.commit, which tells of an order of execution: a relaxed wait "
      "observes it too"},
     commits_alone},
    {{"later fence follows",
      "on every path the thread executes another tcgen05.fence::after before it uses tensor memory"},
     later_fence_follows},
    {{"order alone",
      "the two are alike, and the same threads execute them one after the other with no wait between: each "
      "mbarrier gets the same signals in another order"},
     order_alone},
    {{"registers only",
      "without setmaxnreg.inc a warp has fewer registers; that orders no memory, and no warp waits for it"},
     registers_only},
};

}  // namespace

std::span<const EquivalenceRule> equivalence_rules() {
  static const std::vector<EquivalenceRule> words = [] {
    std::vector<EquivalenceRule> all;
    for (const Row& row : rows) all.push_back(row.words);
    return all;
  }();
  return words;
}

const EquivalenceRule* equivalent(const isa::Module& module, const isa::ArchSpec& arch, const RunFacts& facts,
                                  const Mutant& mutant) {
  const Flow flow(module, module.functions[mutant.function], arch);
  const Case c{mutant, flow, facts};
  const auto* row = std::ranges::find_if(rows, [&](const Row& r) { return r.holds(c); });
  return row == std::end(rows) ? nullptr : &equivalence_rules()[size_t(row - rows)];
}

}  // namespace palladion::sim::check
