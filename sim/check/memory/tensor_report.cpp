#include "sim/check/memory/tensor_report.h"

#include "sim/launch/phrases/phrase.h"
#include "sim/machine/state/tensor_memory.h"

namespace palladion::sim::check {

Object tensor_object(const ClusterState& cluster, uint64_t address, uint64_t bytes) {
  const uint32_t rank = static_cast<uint32_t>(address >> 24);
  const uint64_t first = (address & 0xFF'FFFF) / 4, last = first + (bytes - 1) / 4;
  const uint64_t column = first / TensorMemory::lanes, end = last / TensorMemory::lanes + 1;
  const bool one = end == column + 1;
  Object out{.kind = Object::Kind::tensor_memory,
             .ranges = {{column, end}},
             .lanes = {one ? first % TensorMemory::lanes : 0,
                       one ? last % TensorMemory::lanes + 1 : TensorMemory::lanes}};
  if (cluster.ctas.size() > 1) out.cta = cluster.ctas[rank].id;
  return out;
}

// A conflict with its two operations; `now` is null of a tcgen05.dealloc.
struct TensorRaceReporter::Pair {
  const Record& later;
  const Record& earlier;
  const Conflict& conflict;
  const View& view;  // the later one's

  const AsyncRecord* now() const { return later.async.get(); }
  const AsyncRecord& then() const { return *earlier.async; }
  bool later_is_access() const { return now()->tensor_load || now()->tensor_store; }
  bool same_thread() const { return later.warp == earlier.warp && later.lanes == earlier.lanes; }
};

namespace {

int ctas_of(const AsyncRecord& op) {
  const auto* const mma = std::get_if<isa::Tcgen05Mma>(op.issuer.effect);
  const auto* const copy = std::get_if<isa::TensorMemoryCopy>(op.issuer.effect);
  return mma != nullptr ? mma->ctas : copy != nullptr ? copy->ctas : 1;
}

Part part_in_tensor_memory(const Record& r, bool wrote) {
  if (r.async == nullptr) return {.does = Does::frees};
  return {.does = wrote ? Does::writes : Does::reads, .asynchronous = true};
}

}  // namespace

// A commit after the operation by another thread of its CTA, which had issued nothing.
const TensorOrder::Commit* TensorRaceReporter::foreign_commit(const AsyncRecord& op) const {
  const uint32_t warps = order_.warps_per_cta();
  const uint32_t first = TensorOrder::warp_of(op.stream) / warps * warps;
  for (uint32_t thread = first * 32; thread < (first + warps) * 32; ++thread) {
    const TensorOrder::Commit& c = order_.tensor().last_commit(
        TensorOrder::thread_stream(WarpOfCluster(thread / 32), Lane(thread % 32)));
    if (c.id > op.id && c.empty) return &c;
  }
  return nullptr;
}

Code TensorRaceReporter::of_product(const Pair& p) const {
  const AsyncRecord& then = p.then();
  if (!p.later_is_access()) {
    if (!p.same_thread())
      return ctas_of(then) == 2 && ctas_of(*p.now()) == 2 ? Code::pair_operation_by_both_ctas
                                                          : Code::tensor_memory_race;
    return !p.conflict.earlier_wrote ? Code::overwritten_tensor_operand : Code::unordered_products;
  }
  const TensorOrder::Commit& commit = order_.tensor().last_commit(then.stream);
  if (commit.id > then.id) return Code::use_before_product_completion;
  if (foreign_commit(then) != nullptr) return Code::commit_by_other_thread;
  return commit.id != 0 ? Code::commit_before_operation : Code::use_before_product_completion;
}

Code TensorRaceReporter::code_of(const Pair& p) const {
  if (p.now() == nullptr) return Code::tensor_memory_freed_in_use;
  if (p.conflict.relation == Relation::other_proxy) return Code::missing_tcgen05_fence;
  const AsyncRecord& then = p.then();
  // Its issue is known, not its end: the thread signalled before it had waited.
  const bool issue_known =
      p.later.warp == p.earlier.warp || p.view.knows_any(Visibility::generic, p.earlier.cluster,
                                                         p.earlier.warp, p.earlier.lanes, p.earlier.time);
  if (then.tensor_load && issue_known) return Code::overwrite_before_wait_ld;
  if (then.tensor_load) return p.later_is_access() ? Code::tensor_memory_race : Code::overwritten_accumulator;
  if (then.tensor_store) return issue_known ? Code::use_before_wait_st : Code::tensor_memory_race;
  return of_product(p);
}

// The later one follows an instruction that read what the load brought.
bool TensorRaceReporter::has_been_read(const Pair& p) const {
  AsyncRecord load = p.then();
  if (!load.tensor_load) return false;
  load.stream = TensorOrder::read_stream(p.earlier.warp);
  return order_.tensor().complete(load, [&](const TensorOrder::Publication& read) {
    return p.later.warp == read.warp ||
           p.view.knows_any(Visibility::generic, p.earlier.cluster, read.warp, read.lanes, read.time);
  });
}

Statement TensorRaceReporter::missing(const Pair& p, Code code) const {
  const AsyncRecord& then = p.then();
  if (code == Code::missing_tcgen05_fence) {
    const bool before = order_.tensor_relation(then, p.earlier, *p.now(), p.later) ==
                        HappensBefore::TensorRelation::unfenced_before;
    return before ? say<Phrase::no_fence_before_sync>() : say<Phrase::no_fence_after_sync>();
  }
  if (code == Code::commit_by_other_thread) return say<Phrase::commit_covers_nothing>(then.name);
  if (then.tensor_load || then.tensor_store) {
    const char* const wait = then.tensor_load ? "tcgen05.wait::ld" : "tcgen05.wait::st";
    return order_.tensor().covered(then) ? say<Phrase::no_order_after_tensor_wait>(then.name, wait)
                                         : say<Phrase::no_tensor_wait>(wait, then.name);
  }
  if (order_.tensor().last_commit(then.stream).id < then.id) return say<Phrase::no_tensor_commit>(then.name);
  return say<Phrase::no_wait_for_tensor_commit>(then.name);
}

Origin TensorRaceReporter::origin_of(const Record& r) const {
  return {.cta_rank = order_.cta_of(r.warp), .warp = order_.in_cta(r.warp), .lanes = r.lanes, .pc = r.pc};
}

Site TensorRaceReporter::site_of(const Record& r, Part part) const {
  Site s = context_.reporter.site(origin_of(r), part);
  if (r.async) s.occurrence = r.async->occurrence;
  return s;
}

void TensorRaceReporter::conflict(const Actor& later, const Conflict& conflict) {
  if (!options_.race) return;
  const Pair p{(*records_)[later.record], (*records_)[conflict.earlier], conflict, *later.view};
  const Code code = code_of(p);
  const bool read = (code == Code::tensor_memory_freed_in_use || code == Code::overwrite_before_wait_ld) &&
                    has_been_read(p);
  const bool over = code == Code::tensor_memory_freed_in_use && order_.over_by_exits(p.then(), p.later.warp);
  const FindingKey key{code, p.later.pc, p.earlier.pc, over ? 4ULL : read ? 3ULL : 2ULL};
  if (context_.reporter.seen(key, origin_of(p.later), later.execution)) return;
  Finding f;
  const bool copied = code == Code::unordered_products && p.now()->is_tensor_copy();
  if (copied || read || over) f.severity = FindingSeverity::strict;
  if (over) f.notes.push_back(say<Phrase::over_before_exits>());
  f.what.emplace<Race>();
  f.object = tensor_object(context_.cluster, conflict.address, conflict.bytes);
  f.missing = missing(p, code);
  f.sites.push_back(site_of(p.later, part_in_tensor_memory(p.later, later.writes)));
  Part then = part_in_tensor_memory(p.earlier, conflict.earlier_wrote);
  then.earlier = true;
  f.sites.push_back(site_of(p.earlier, then));
  if (code == Code::commit_by_other_thread)
    f.sites.push_back(context_.reporter.site(foreign_commit(p.then())->origin, Does::commits));
  if (code == Code::commit_before_operation)
    f.sites.push_back(
        context_.reporter.site(order_.tensor().last_commit(p.then().stream).origin, Does::commits));
  context_.reporter.report(key, std::move(f));
}

void TensorRaceReporter::uninitialised(const Actor& reader, uint64_t address, uint64_t bytes, Lane) {
  if (!options_.memory) return;
  const Record& now = (*records_)[reader.record];
  const FindingKey key{Code::uninitialised_tensor_memory, now.pc, ~0U, 2};
  if (context_.reporter.seen(key, origin_of(now), reader.execution)) return;
  Finding f;
  // A load takes whole lanes: what it does not need may never have been written.
  if (now.async->tensor_load) f.severity = FindingSeverity::strict;
  f.message = say<Phrase::unwritten_tensor_memory>(now.async->name);
  f.object = tensor_object(context_.cluster, address, bytes);
  f.sites.push_back(site_of(now, {.does = Does::reads}));
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
