#include "sim/check/memory/race_report.h"

#include <algorithm>
#include <bit>

#include "sim/check/memory/race_edges.h"
#include "sim/check/memory/race_kinds.h"
#include "sim/check/memory/racing_reads.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim::check {
namespace {

Part part_of(const Record& r, bool wrote) {
  const bool both = !r.async && (r.flags & Record::atomic) != 0;
  return {.does = both    ? Does::reads_and_writes
                  : wrote ? Does::writes
                          : Does::reads,
          .asynchronous = r.async != nullptr};
}

Part earlier(Part part) {
  part.earlier = true;
  return part;
}

const isa::Effect* effect_at(const Program& program, Pc pc) {
  return pc < program.code.size() ? program.code[pc].effect : nullptr;
}

Origin origin_of(const HappensBefore& order, const Record& r, uint32_t lanes) {
  return {.cta_rank = order.cta_of(r.warp), .warp = order.in_cta(r.warp), .lanes = lanes, .pc = r.pc};
}

// The site of a record of any cluster.
Site site_of(const ClusterContext& x, const HappensBefore& order, const Record& r, uint32_t lanes,
             Part part) {
  const Origin origin = origin_of(order, r, lanes);
  const bool here = r.cluster == x.cluster.index;
  part.as_other_ctas = (r.flags & Record::summarised) != 0;
  Site s = here ? x.reporter.site(origin, part) : plain_site(x.run, x.cluster, origin);
  if (!here) {
    s.part = part;
    s.cta = x.run.launch->cta_id(r.cluster, origin.cta_rank);
  }
  s.occurrence = r.async ? r.async->occurrence : 0;
  return s;
}

size_t names_at(const ClusterContext& x, uint64_t address) {
  const uint64_t offset = address & shared_offset_mask;
  return static_cast<size_t>(std::ranges::count_if(shared_objects(x.run), [&](const SharedObject& o) {
    return offset >= o.base && offset < o.base + o.bytes;
  }));
}

// The lane to name of the later access: of lanes that read one address together, not the one that wrote it.
uint32_t lane_of_conflict(const Conflict& conflict, bool same_warp) {
  const uint32_t lane = 1U << conflict.lane;
  const uint32_t others = conflict.first_lanes & ~conflict.earlier_lanes;
  return !same_warp || (lane & conflict.earlier_lanes) == 0 || others == 0 ? lane : others & (0 - others);
}

// All lanes of a warp execute an ldmatrix or a stmatrix together.
bool together(const isa::Effect* e) {
  return e != nullptr &&
         (std::holds_alternative<isa::LoadMatrix>(*e) || std::holds_alternative<isa::StoreMatrix>(*e));
}

// Where the lanes of the earlier warp met: behind its access, or at one of the two accesses.
std::optional<Meeting> meeting_of(const Case& c) {
  if (c.conflict.relation != Relation::unordered || c.then.async || c.later.view == nullptr)
    return std::nullopt;
  if (c.same_warp() && !c.now.async && together(c.now_effect))
    return Meeting{c.now.time, c.now.lanes, c.now.pc};
  const bool known = c.same_warp() || c.later.view->knows_any(Visibility::generic, c.then.cluster,
                                                              c.then.warp, c.then.lanes, c.then.time);
  if (known && together(c.then_effect)) return Meeting{c.then.time, c.then.lanes, c.then.pc};
  const Meeting* met = c.order.meeting(c.then, c.now, *c.later.view);
  return met == nullptr ? std::nullopt : std::optional(*met);
}

// A plain store beside a read-modify-write: the bytes are data, such as a sum, and no flag.
bool stored_beside_atomic(const Case& c) {
  const bool atomic_now = (c.now.flags & Record::atomic) != 0,
             atomic_then = (c.then.flags & Record::atomic) != 0;
  if (c.now.async != nullptr || c.then.async != nullptr || atomic_now == atomic_then) return false;
  return atomic_now ? c.conflict.earlier_wrote : c.later.writes;
}

// A copy overwrites what threads have read: where tcgen05.alloc stored its address.
bool is_slot_of_allocation(Code code, const Program& program, const Record& writer) {
  if (code != Code::overwrite_without_proxy_fence || (writer.flags & Record::writes) == 0) return false;
  const isa::Effect* const effect = effect_at(program, writer.pc);
  return effect != nullptr && std::holds_alternative<isa::TensorMemoryAllocation>(*effect);
}

// cp.async and its like are over, and belong to the generic proxy as the accesses of threads do.
bool copied_by_generic_proxy(const Case& c) {
  return c.conflict.relation == Relation::other_proxy && c.then.async && !c.then.async->async_proxy;
}

// A proxy fence lies between a thread's read of global memory and the copy that overwrites it, of shared
// memory alone.
bool fenced_for_shared_memory(Code code, const Case& c) {
  if (code != Code::overwrite_without_proxy_fence || c.later.shared || c.conflict.earlier_wrote ||
      c.then.async != nullptr)
    return false;
  const uint32_t lanes = c.conflict.earlier_lanes;
  if (c.same_warp() && lanes == c.now.lanes && c.later.own_shared >= c.then.time) return true;
  return c.later.view->knows_any(Visibility::shared_async, c.then.cluster, c.then.warp, lanes, c.then.time);
}

// A thread writes what another has read; that one had told a thread, which then asked for another launch, and
// the writer has waited for the answer. It comes after the request, and so after the read: of a write that
// it came after, or of copies, this says nothing.
bool behind_request(const Case& c) {
  return c.conflict.relation == Relation::unordered && c.later.shared && !c.conflict.earlier_wrote &&
         !c.now.async && !c.then.async && c.would_be_ordered(DroppedEdge::Why::request);
}

// What makes a conflict one of PTX's text alone.
struct Excuse {
  bool equal_values = false;   // both store the same
  bool slot = false;           // is_slot_of_allocation
  bool shared_fence = false;   // fenced_for_shared_memory
  bool request = false;        // behind_request
  std::optional<Meeting> met;  // where the lanes of the warp met
  uint64_t key() const {
    return (request ? 32 : 0) + (shared_fence ? 16 : 0) + (slot ? 8 : 0) + (met ? 4 : 0) +
           (equal_values ? 2 : 0);
  }
};

// What breaks PTX's text alone is strict, with a note that says why.
void judge(Finding& f, Code code, const Case& c, const Excuse& excuse, const ClusterContext& context) {
  // Shipped kernels release at .cluster scope and acquire at .cta; with both at .cta failures have been
  // observed.
  const bool released_narrowly = std::ranges::any_of(
      c.order.dropped(), [](const DroppedEdge& d) { return d.why == DroppedEdge::Why::release_scope; });
  const bool narrow = c.conflict.relation == Relation::narrow_scope && !released_narrowly;
  const bool copied = copied_by_generic_proxy(c);
  const auto& [equal_values, slot, shared_fence, request, met] = excuse;
  if (slot) f.notes.push_back(say<Phrase::slot_of_allocation>());
  if (shared_fence) f.notes.push_back(say<Phrase::fenced_for_shared_memory>());
  if (copied) f.notes.push_back(say<Phrase::copied_by_generic_proxy>(c.then.async->name));
  if (request) f.notes.push_back(say<Phrase::behind_request>());
  if (narrow || equal_values || slot || shared_fence || request || copied || met)
    f.severity = FindingSeverity::strict;
  if (met) {
    const bool access = met->pc == c.now.pc || met->pc == c.then.pc;
    f.notes.push_back(access ? say<Phrase::lanes_met_at_access>()
                             : say<Phrase::lanes_met>(instruction_at(context, met->pc)));
  }
  // CUDA's own example: __threadfence, a relaxed atomic, a volatile read, and no fence behind the atomic.
  const Lane first_lane = lowest_lane(c.conflict.earlier_lanes | 1U << 31);
  if (code == Code::unsynchronised_flag && c.later.strong && !c.later.writes && !c.then.async &&
      c.order.strong().knows_unacquired(c.order.cta_of(c.now.warp), c.then.cluster, c.then.warp, first_lane,
                                        c.then.time)) {
    f.severity = FindingSeverity::strict;
    f.notes.push_back(say<Phrase::no_fence_of_reader>());
  }
}

// A thread stores plainly, then releases at the same bytes: who waits for that may have read in between.
bool is_polled_store(Code code, const Case& c) {
  if (code != Code::unsynchronised_flag && code != Code::shared_memory_race) return false;
  return c.later.acquired != nullptr && !c.then.async && c.conflict.earlier_wrote &&
         !stored_beside_atomic(c) &&
         c.later.acquired->knows_any(Visibility::generic, c.then.cluster, c.then.warp,
                                     c.conflict.earlier_lanes, c.then.time);
}

// The message, help and notes of cases that their code's own do not fit.
void describe(Finding& f, Code code, const Case& c) {
  if (code == Code::global_memory_race && c.same_cta()) f.help = say<Phrase::barrier_or_owner>();
  if (code == Code::unsynchronised_flag && stored_beside_atomic(c)) {
    f.message = say<Phrase::store_and_atomic>();
    f.help = say<Phrase::order_or_store_atomically>();
  }
  if (is_polled_store(code, c)) {
    f.message = say<Phrase::plain_store_of_polled>();
    f.help = say<Phrase::store_strongly>();
  }
  if (code == Code::unordered_copy_source && (c.now_is_wgmma() || c.now_is_tensor())) {
    f.message = say<Phrase::reads_unordered_writes>(c.now.async->name);
    f.help = say<Phrase::fence_and_barrier>();
  }
  if (code == Code::cp_async_of_other_thread && c.later.writes && !c.later.reads) {
    f.message = say<Phrase::cp_async_written_by_other>();
    f.help = say<Phrase::one_writer>();
  }
  if (copied_by_generic_proxy(c)) f.help = say<Phrase::fence_behind_completion>();
  const bool is_copy_done = completion_of(c) != nullptr;
  if (code == Code::read_before_store_completion && is_copy_done) {
    f.message = say<Phrase::unreleased_store>();
    f.help = say<Phrase::release_behind_wait>();
  }
  if (code == Code::cp_async_of_other_thread && c.later.reads && !is_copy_done) {
    f.message = say<Phrase::cp_async_read_early>();
    f.help = say<Phrase::wait_for_its_group>();
  }
  if (code == Code::overwritten_wgmma_operand && c.then_is_wgmma())
    f.notes.push_back(say<Phrase::chip_does_not_hold_back>());
}

// Of a product that knows of a store by the storing warp alone: does it read the bytes for a warp that does
// not? Rows of A that a warp has stored for itself, as FlashAttention-3 stores its weights, are its own.
bool concerns_others(const Record& now, const Record& then, const RacingRead& read) {
  const auto& joined = now.async->joined;
  return std::ranges::any_of(joined, [&](const AsyncRecord::Joined& j) {
    return !j.knows(then.warp, then.time) && (read.lanes >> j.warp % joined.size() & 1) != 0;
  });
}

Object object_of(const ClusterContext& x, bool shared, uint64_t address, uint64_t bytes) {
  return shared ? shared_object(x.run, x.cluster, SharedAddress(address), bytes)
                : global_object(x.run, address, bytes);
}

// The filling of a slot, and the use of what is in it: mbarriers order the two.
bool is_of_copy_and_use(Code code) {
  return code == Code::overwrite_in_use || code == Code::multicast_overwrite ||
         code == Code::read_before_copy_completion || code == Code::barrier_as_copy_completion ||
         code == Code::cluster_barrier_as_copy_completion;
}

// Shipped compilers let every thread store one value.
bool stores_equal_values(const Actor& later, const Conflict& conflict, const Record& now,
                         const Record& then) {
  const bool equal_content = now.content != 0 && now.content == then.content;
  // Of another cluster's store, which runs beside this one, memory does not say whether it was before.
  const bool unchanged =
      conflict.last && (conflict.lanes & ~later.unchanged) == 0 && then.cluster == now.cluster;
  return (unchanged || equal_content || conflict.equal) && conflict.earlier_wrote && !then.async &&
         conflict.relation == Relation::unordered;
}

}  // namespace

void RaceReporter::conflict(const Actor& later, const Conflict& conflict) {
  if (!options_.race) return;
  const Record& now = (*records_)[later.record];
  const Record& then = (*records_)[conflict.earlier];
  const Program& program = *context_.run.program;
  const Pc sync = order_.release_site(now.warp, order_.time(now.warp) - 1);
  const Pc before =
      then.cluster == context_.cluster.index ? order_.release_site(then.warp, then.time - 1) : Pc(isa::no_id);
  const Origin later_origin = origin_of(order_, now, now.async ? now.lanes : 1U << conflict.lane);
  const bool copied_here = then.async && then.cluster == context_.cluster.index && conflict.earlier_wrote;
  const auto verdict =
      copied_here ? ledger_.mbarriers().explain_wait(then.async->id, later_origin) : std::nullopt;
  const Case c{.order = order_,
               .later = later,
               .now = now,
               .then = then,
               .conflict = conflict,
               .now_effect = effect_at(program, now.pc),
               .then_effect = effect_at(program, then.pc),
               .last_sync = sync == isa::no_id ? nullptr : effect_at(program, sync),
               .then_sync = before == isa::no_id ? nullptr : effect_at(program, before),
               .two_names = later.shared && names_at(context_, conflict.address) > 1,
               .wait = verdict ? &*verdict : nullptr};
  const Code code = code_of(c);
  const uint32_t lanes =
      now.async || together(c.now_effect) ? now.lanes : lane_of_conflict(conflict, c.same_warp());
  const Excuse excuse{.equal_values = stores_equal_values(later, conflict, now, then),
                      .slot = is_slot_of_allocation(code, program, (*records_)[conflict.written_by]),
                      .shared_fence = fenced_for_shared_memory(code, c),
                      .request = behind_request(c),
                      .met = meeting_of(c)};
  const FindingKey key{code, now.pc, then.pc, excuse.key() + (later.shared ? 0 : 1)};
  const std::optional<RacingRead> read = racing_read(context_, later, conflict, now, then);
  if (code == Code::operand_of_other_warp && read && !concerns_others(now, then, *read)) return;
  const Origin wrong = origin_of(order_, now, now.async ? now.lanes : conflict.lanes);
  if (context_.reporter.seen(key, wrong, later.execution)) return context_.reporter.add_read(key, read);
  Finding f;
  Race& race = f.what.emplace<Race>();
  race.equal_values = excuse.equal_values;
  race.every_read = read.has_value();
  if (read) race.reads.push_back(*read);
  judge(f, code, c, excuse, context_);
  const bool waited_wrongly = verdict && verdict->code == code;
  if (waited_wrongly) f.message = verdict->message, f.help = verdict->help;
  describe(f, code, c);
  f.object = object_of(context_, later.shared, conflict.address, conflict.bytes);
  const bool scope = code == Code::narrow_scope && conflict.relation == Relation::unordered;
  f.missing = scope ? missing_scope(c) : missing_edge(context_, c);
  if (waited_wrongly)
    f.notes.push_back(verdict->note);
  else if (is_of_copy_and_use(code))
    note_waits(f, context_, c, ledger_.mbarriers());
  f.sites.push_back(site_of(context_, order_, now, lanes, part_of(now, later.writes)));
  f.sites.push_back(site_of(context_, order_, then,
                            then.async || together(c.then_effect) ? then.lanes : conflict.earlier_lanes,
                            earlier(part_of(then, conflict.earlier_wrote))));
  if (waited_wrongly) f.sites.push_back(context_.reporter.site(verdict->wait, Does::waits));
  context_.reporter.report(key, std::move(f));
}

void RaceReporter::uninitialised(const Actor& reader, uint64_t address, uint64_t bytes, Lane lane) {
  if (!options_.memory) return;
  const Record& now = (*records_)[reader.record];
  const Code code = reader.shared ? Code::uninitialised_shared_memory : Code::uninitialised_value;
  const FindingKey key{code, now.pc, ~0U, 0};
  const uint32_t lanes = now.async ? now.lanes : 1U << lane;
  if (context_.reporter.seen(key, origin_of(order_, now, lanes), reader.execution)) return;
  Finding f;
  f.message = reader.shared ? say<Phrase::unwritten_shared>(bytes) : say<Phrase::unwritten_output>(bytes);
  f.object = object_of(context_, reader.shared, address, bytes);
  f.sites.push_back(site_of(context_, order_, now, lanes, part_of(now, false)));
  context_.reporter.report(key, std::move(f));
}

void RaceReporter::barrier_bytes(const Actor& origin, uint32_t init_record, uint64_t address, Lane lane) {
  if (!options_.barrier) return;
  const Record& now = (*records_)[origin.record];
  const Record& then = (*records_)[init_record];
  if ((now.flags & Record::barrier) != 0) return;  // a second init: judged by the protocol checks
  const FindingKey key{Code::data_over_mbarrier, now.pc, then.pc, 0};
  const uint32_t lanes = now.async ? now.lanes : 1U << lane;
  if (context_.reporter.seen(key, origin_of(order_, now, lanes), origin.execution)) return;
  Finding f;
  f.message = origin.writes ? say<Phrase::mbarrier_overwritten>() : say<Phrase::mbarrier_read>();
  f.help = say<Phrase::inval_first>();
  f.object =
      mbarrier_object(context_.run, context_.cluster, SharedAddress(static_cast<uint32_t>(address) & ~7U));
  f.sites.push_back(site_of(context_, order_, now, lanes, part_of(now, origin.writes)));
  f.sites.push_back(site_of(context_, order_, then, then.lanes, {.does = Does::initialises}));
  context_.reporter.report(key, std::move(f));
}

void RaceReporter::fill_read(const Actor& reader, uint32_t writer_record, uint64_t address, Lane lane) {
  if (!options_.memory) return;
  const Record& now = (*records_)[reader.record];
  const Record& then = (*records_)[writer_record];
  const FindingKey key{Code::out_of_bounds_fill_used, now.pc, then.pc, 0};
  if (context_.reporter.seen(key, origin_of(order_, now, 1U << lane), reader.execution)) return;
  Finding f;
  f.message = say<Phrase::fill_is_read>();
  f.object = object_of(context_, true, address, 1);
  f.sites.push_back(site_of(context_, order_, now, 1U << lane, {.does = Does::reads}));
  f.sites.push_back(site_of(context_, order_, then, then.lanes, {.does = Does::fills}));
  context_.reporter.report(key, std::move(f));
}

// A tensor copy laid the bytes out in one way, a matrix descriptor reads them in another.
void RaceReporter::read_after(const Actor& reader, uint32_t writer_record, uint64_t address) {
  if (!options_.memory || !reader.shared) return;
  const Record& now = (*records_)[reader.record];
  const Record& then = (*records_)[writer_record];
  if (!now.async || now.async->group != isa::AsyncGroup::wgmma) return;
  // Unknown of a wgmma: its A and B lie in different ways.
  if (then.async->layout == layout_unknown || now.async->layout == layout_unknown ||
      then.async->layout == now.async->layout)
    return;
  const FindingKey key{Code::layout_mismatch, now.pc, then.pc, 0};
  if (context_.reporter.seen(key, origin_of(order_, now, now.lanes), reader.execution)) return;
  constexpr std::string_view names[] = {"unknown", "no swizzle", "32-byte swizzle", "64-byte swizzle",
                                        "128-byte swizzle"};
  Finding f;
  f.message = say<Phrase::other_layout>(names[then.async->layout], names[now.async->layout]);
  f.object = object_of(context_, true, address, granule);
  f.sites.push_back(site_of(context_, order_, now, now.lanes, {.does = Does::reads_by_descriptor}));
  f.sites.push_back(site_of(context_, order_, then, then.lanes, {.does = Does::writes_by_tensor_map}));
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
