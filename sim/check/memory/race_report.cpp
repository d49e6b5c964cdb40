#include "sim/check/memory/race_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/check/catalogue/catalogue.h"
#include "sim/check/memory/race_kinds.h"
#include "sim/check/memory/racing_reads.h"
#include "sim/machine/exec/exec.h"
#include "sim/machine/exec/place.h"

namespace palladion::sim::check {
namespace {

std::string_view verb(const Record& r, bool wrote) {
  if (r.async) return wrote ? "writes, asynchronously" : "reads, asynchronously";
  if ((r.flags & Record::atomic) != 0) return "reads and writes, atomically";
  return wrote ? "writes" : "reads";
}

const isa::Effect* effect_at(const Program& program, uint32_t pc) {
  return pc < program.code.size() ? program.code[pc].effect : nullptr;
}

// The site of a record of any cluster.
Site site_of(const ClusterContext& x, const HappensBefore& order, const Record& r, uint32_t lanes,
             std::string what) {
  const Origin origin{.cta_rank = static_cast<uint16_t>(order.cta_of(r.warp)),
                      .warp = static_cast<uint16_t>(r.warp % order.warps_per_cta()),
                      .lanes = lanes,
                      .pc = r.pc};
  const bool here = r.cluster == x.cluster.index;
  if ((r.flags & Record::summarised) != 0) what += ", as other CTAs do";
  Site s = here ? x.reporter.site(origin, what) : plain_site(x.run, x.cluster, origin);
  if (!here) {
    s.what = std::move(what);
    s.cta = x.run.launch->cta_id(r.cluster, origin.cta_rank);
  }
  s.occurrence = r.async ? r.async->occurrence : 0;
  return s;
}

std::string at_line(const ClusterContext& x, uint32_t pc) {
  const Site s = site_at(*x.run.program, pc, {}, 0, 0);
  if (s.instruction.empty()) return "an instruction";
  if (s.source.known()) return fmt::format("{} ({}:{})", s.instruction, s.source.file, s.source.line);
  return s.ptx_line == 0 ? s.instruction : fmt::format("{} (PTX line {})", s.instruction, s.ptx_line);
}

size_t names_at(const ClusterContext& x, uint64_t address) {
  const uint64_t offset = address & shared_offset_mask;
  return static_cast<size_t>(std::ranges::count_if(shared_objects(x.run), [&](const SharedObject& o) {
    return offset >= o.base && offset < o.base + o.bytes;
  }));
}

std::string completion_of(const ClusterContext& x, const AsyncRecord& op, uint32_t rank) {
  if (op.is_tensor()) return "it completes with a tcgen05.commit of its thread, at that commit's mbarrier";
  for (const uint32_t b : op.mbarriers)
    if (b >> cta_rank_shift == rank)
      return fmt::format("it completes on {}", mbarrier_name(x.run, x.cluster, b));
  switch (op.group) {
    case isa::AsyncGroup::bulk:
      return op.committed ? "it completes with its thread's bulk async-group"
                          : "it was not committed to any bulk async-group";
    case isa::AsyncGroup::cp_async:
      return "it completes with its thread's cp.async-group, or on an mbarrier by cp.async.mbarrier.arrive";
    case isa::AsyncGroup::wgmma:
      return op.committed ? "it completes with its wgmma-group" : "it was not committed to any wgmma-group";
    default:
      return "no thread waits for it";
  }
}

std::string missing_edge(const ClusterContext& x, const Case& c) {
  if (c.conflict.relation == Relation::other_proxy)
    return "the two are ordered for the generic proxy only: no proxy fence lies on the way between them";
  if (c.conflict.relation == Relation::narrow_scope)
    return "the only order between the two goes through an operation of .cta scope, and they are in "
           "different CTAs";
  if (c.then.async != nullptr) {
    const std::string how = completion_of(x, *c.then.async, c.later.rank);
    return fmt::format("the {} may still be under way: {}, and no wait for that lies before the later access",
                       c.then.async->name, how);
  }
  const auto* load = c.now_effect == nullptr ? nullptr : std::get_if<isa::Load>(c.now_effect);
  if (load != nullptr && load->non_coherent)
    return "nothing orders a read through the read-only path behind a write of the same kernel";
  if (c.same_warp()) return "nothing orders the lanes: no bar.warp.sync lies between the two";
  if (c.now.cluster != c.then.cluster)
    return "nothing orders the two CTAs: no release of the one was acquired by the other";
  const uint32_t known = c.later.view->time(Visibility::generic, c.then.warp);
  const uint32_t pc = known == 0 ? isa::no_id : c.order.release_site(c.then.warp, known);
  if (pc == isa::no_id) return "the later thread has never synchronised with the earlier one's warp";
  return fmt::format("the last thing known of the earlier one's warp is its {}, which came before the access",
                     at_line(x, pc));
}

std::string missing_scope(const Case& c) {
  if ((c.then.flags & Record::strong) != 0 && c.later.strong)
    return "the scope of one of the two does not include the other one's CTA: they are not morally strong";
  return "the flag between the two was released or acquired at a scope that does not include the other CTA";
}

// The lane to name of the later access: of lanes that read one address together, not the one that wrote it.
uint32_t lane_of(const Conflict& conflict, bool same_warp) {
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

// What breaks PTX's text alone is strict, with a note that says why.
void judge(Finding& f, Code code, const Case& c, bool equal_values, const std::optional<Meeting>& met,
           const ClusterContext& context) {
  // Shipped kernels release at .cluster scope and acquire at .cta; with both at .cta failures have been
  // observed.
  const bool released_narrowly = std::ranges::any_of(
      c.order.dropped(), [](const DroppedEdge& d) { return d.why == DroppedEdge::Why::release_scope; });
  const bool narrow = c.conflict.relation == Relation::narrow_scope && !released_narrowly;
  if (narrow || equal_values || met) f.severity = FindingSeverity::strict;
  if (met) {
    const bool access = met->pc == c.now.pc || met->pc == c.then.pc;
    f.notes.push_back(
        fmt::format("{} makes the lanes of the earlier warp wait for each other; only bar.warp.sync orders "
                    "their accesses",
                    access ? "the matrix access" : at_line(context, met->pc)));
  }
  // CUDA's own example: __threadfence, a relaxed atomic, a volatile read, and no fence behind the atomic.
  const auto first_lane = static_cast<uint32_t>(std::countr_zero(c.conflict.earlier_lanes | 1U << 31));
  if (code == Code::unsynchronised_flag && c.later.strong && !c.later.writes && !c.then.async &&
      c.order.knows_unacquired(c.order.cta_of(c.now.warp), c.then.cluster, c.then.warp, first_lane,
                               c.then.time)) {
    f.severity = FindingSeverity::strict;
    f.notes.emplace_back(
        "the writer's fence and the flag are there, the reader's fence is not: PTX (\"Release and Acquire "
        "Patterns\") asks for one behind the relaxed read of the flag");
  }
}

// The message, help and notes of cases that their code's own do not fit.
void word_for(Finding& f, Code code, const Case& c) {
  if (code == Code::global_memory_race && c.same_cta())
    f.help =
        "put a barrier (bar.sync) between the two accesses, or give each element one owner, or use atomics";
  if (code == Code::unsynchronised_flag && stored_beside_atomic(c)) {
    f.message = "a plain store and an atomic of the same bytes race in global memory";
    f.help = "order the two by a barrier, or by a release and an acquire at .gpu scope, or store atomically";
  }
  if (code == Code::unordered_copy_source && (c.now_is_wgmma() || c.now_is_tensor())) {
    f.message = fmt::format("{} reads shared memory while another thread's write is not ordered before it",
                            c.now.async->name);
    f.help =
        "let every writing thread execute a proxy fence, then synchronise them by a barrier with the "
        "threads that issue it";
  }
  if (code == Code::cp_async_of_other_thread && c.later.writes && !c.later.reads) {
    f.message = "shared memory that cp.async of one thread fills is written by another";
    f.help = "give each byte one writer, or put a barrier between wait_group and the other write";
  }
  if (code == Code::overwritten_wgmma_operand && c.then_is_wgmma())
    f.notes.emplace_back(
        "the chip does not hold the later access back: measured on an H200, a TMA copy issued behind a chain "
        "of 4 or 16 m64n256k16 was read by up to 4 of them in nearly every trial; only the copy's latency "
        "(about 450 cycles) and the queue of about 4 wgmmas, which later ones wait for, hide it");
}

}  // namespace

void RaceReporter::conflict(const Actor& later, const Conflict& conflict) {
  if (!options_.race) return;
  const Record& now = (*records_)[later.record];
  const Record& then = (*records_)[conflict.earlier];
  const Program& program = *context_.run.program;
  const uint32_t sync = order_.release_site(now.warp, order_.time(now.warp) - 1);
  const uint32_t before =
      then.cluster == context_.cluster.index ? order_.release_site(then.warp, then.time - 1) : isa::no_id;
  const Origin later_origin{.cta_rank = static_cast<uint16_t>(order_.cta_of(now.warp)),
                            .warp = static_cast<uint16_t>(now.warp % order_.warps_per_cta()),
                            .lanes = now.async ? now.lanes : 1U << conflict.lane,
                            .pc = now.pc};
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
               .wait_verdict = verdict ? verdict->code : Code::none};
  const Code code = code_of(c);
  // Shipped compilers let every thread store one value.
  const bool equal_content = now.content != 0 && now.content == then.content;
  // Of another cluster's store, which runs beside this one, memory does not say whether it was before.
  const bool unchanged = (conflict.lanes & ~later.unchanged) == 0 && then.cluster == now.cluster;
  const bool equal_values = (unchanged || equal_content || conflict.equal) && conflict.earlier_wrote &&
                            !then.async && conflict.relation == Relation::unordered;
  const uint32_t lanes = now.async || together(c.now_effect) ? now.lanes : lane_of(conflict, c.same_warp());
  const std::optional<Meeting> met = meeting_of(c);
  const uint64_t object = (met ? 4 : 0) + (equal_values ? 2 : later.shared ? 0 : 1);
  const FindingKey key{code, now.pc, then.pc, object};
  const std::optional<RacingRead> read = racing_read(context_, later, conflict, now, then);
  if (context_.reporter.seen(key)) return context_.reporter.add_read(key, read);
  Finding f;
  f.every_read = read.has_value();
  if (read) f.reads.push_back(*read);
  judge(f, code, c, equal_values, met, context_);
  f.message = verdict && verdict->code == code ? verdict->message : std::string(text_of(code).title);
  word_for(f, code, c);
  if (equal_values) f.message += ", with equal values";
  if (verdict && verdict->code == code) f.help = verdict->help;
  f.object = later.shared ? shared_name(context_.run, context_.cluster,
                                        static_cast<uint32_t>(conflict.address), conflict.bytes)
                          : global_name(context_.run, conflict.address, conflict.bytes);
  const bool scope = code == Code::narrow_scope && conflict.relation == Relation::unordered;
  f.missing = scope ? missing_scope(c) : missing_edge(context_, c);
  if (verdict) f.notes.push_back(verdict->text);
  f.sites.push_back(site_of(context_, order_, now, lanes, fmt::format("{}", verb(now, later.writes))));
  f.sites.push_back(site_of(context_, order_, then,
                            then.async || together(c.then_effect) ? then.lanes : conflict.earlier_lanes,
                            fmt::format("{} (earlier)", verb(then, conflict.earlier_wrote))));
  if (verdict) f.sites.push_back(context_.reporter.site(verdict->wait, "the wait"));
  context_.reporter.report(key, std::move(f));
}

void RaceReporter::uninitialised(const Actor& reader, uint64_t address, uint64_t bytes, uint32_t lane) {
  if (!options_.memory) return;
  const Record& now = (*records_)[reader.record];
  const Code code = reader.shared ? Code::uninitialised_shared_memory : Code::uninitialised_value;
  const FindingKey key{code, now.pc, ~0U, 0};
  if (context_.reporter.seen(key)) return;
  Finding f;
  f.message = reader.shared
                  ? fmt::format("{} bytes of shared memory are read that this CTA never wrote", bytes)
                  : fmt::format("{} bytes of an output are read before anything was written there", bytes);
  f.object = reader.shared
                 ? shared_name(context_.run, context_.cluster, static_cast<uint32_t>(address), bytes)
                 : global_name(context_.run, address, bytes);
  const uint32_t lanes = now.async ? now.lanes : 1U << lane;
  f.sites.push_back(site_of(context_, order_, now, lanes, fmt::format("{}", verb(now, false))));
  context_.reporter.report(key, std::move(f));
}

void RaceReporter::barrier_bytes(const Actor& origin, uint32_t init_record, uint64_t address, uint32_t lane) {
  if (!options_.barrier) return;
  const Record& now = (*records_)[origin.record];
  const Record& then = (*records_)[init_record];
  if ((now.flags & Record::barrier) != 0) return;  // a second init: judged by the protocol checks
  const FindingKey key{Code::data_over_mbarrier, now.pc, then.pc, 0};
  if (context_.reporter.seen(key)) return;
  Finding f;
  f.message =
      fmt::format("the memory of a live mbarrier is {}", origin.writes ? "overwritten" : "read as data");
  f.help = "mbarrier.inval before the memory is used for anything else";
  f.object = mbarrier_name(context_.run, context_.cluster, static_cast<uint32_t>(address) & ~7U);
  const uint32_t lanes = now.async ? now.lanes : 1U << lane;
  f.sites.push_back(site_of(context_, order_, now, lanes, fmt::format("{}", verb(now, origin.writes))));
  f.sites.push_back(site_of(context_, order_, then, then.lanes, "initialises the mbarrier"));
  context_.reporter.report(key, std::move(f));
}

void RaceReporter::fill_read(const Actor& reader, uint32_t writer_record, uint64_t address, uint32_t lane) {
  if (!options_.memory) return;
  const Record& now = (*records_)[reader.record];
  const Record& then = (*records_)[writer_record];
  const FindingKey key{Code::out_of_bounds_fill_used, now.pc, then.pc, 0};
  if (context_.reporter.seen(key)) return;
  Finding f;
  f.message = "what a tensor copy filled in for elements outside the tensor is read as data";
  f.object = shared_name(context_.run, context_.cluster, static_cast<uint32_t>(address), 1);
  f.sites.push_back(site_of(context_, order_, now, 1U << lane, "reads"));
  f.sites.push_back(site_of(context_, order_, then, then.lanes, "fills in"));
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
  if (context_.reporter.seen(key)) return;
  constexpr std::string_view names[] = {"unknown", "no swizzle", "32-byte swizzle", "64-byte swizzle",
                                        "128-byte swizzle"};
  Finding f;
  f.message = fmt::format("a tile written with {} is read with {}", names[then.async->layout],
                          names[now.async->layout]);
  f.object = shared_name(context_.run, context_.cluster, static_cast<uint32_t>(address), granule);
  f.sites.push_back(site_of(context_, order_, now, now.lanes, "reads by its matrix descriptor"));
  f.sites.push_back(site_of(context_, order_, then, then.lanes, "writes by its tensor map"));
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
