#include "sim/check/memory/tensor_report.h"

#include <fmt/format.h>

#include "sim/check/catalogue/catalogue.h"
#include "sim/machine/state/tensor_memory.h"

namespace palladion::sim::check {

std::string tensor_name(const ClusterState& cluster, uint64_t address, uint64_t bytes) {
  const uint32_t rank = static_cast<uint32_t>(address >> 24);
  const uint64_t first = (address & 0xFF'FFFF) / 4, last = first + (bytes - 1) / 4;
  const uint64_t column = first / TensorMemory::lanes, end = last / TensorMemory::lanes + 1;
  const bool one = end == column + 1;
  std::string out = fmt::format("tensor memory lanes [{}, {}) columns [{}, {})", one ? first % 128 : 0,
                                one ? last % 128 + 1 : 128, column, end);
  if (cluster.ctas.size() == 1) return out;
  const isa::Dim3& id = cluster.ctas[rank].id;
  return out + fmt::format(" of CTA ({},{},{})", id.x, id.y, id.z);
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

std::string_view does(const Record& r, bool wrote) {
  if (r.async == nullptr) return "frees the columns";
  return wrote ? "writes, asynchronously" : "reads, asynchronously";
}

}  // namespace

// A commit after the operation by another thread of its CTA, which had issued nothing.
const TensorOrder::Commit* TensorRaceReporter::foreign_commit(const AsyncRecord& op) const {
  const uint32_t warps = order_.warps_per_cta();
  const uint32_t first = TensorOrder::warp_of(op.stream) / warps * warps;
  for (uint32_t thread = first * 32; thread < (first + warps) * 32; ++thread) {
    const TensorOrder::Commit& c =
        order_.tensor().last_commit(TensorOrder::thread_stream(thread / 32, thread % 32));
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

std::string TensorRaceReporter::missing(const Pair& p, Code code) const {
  const AsyncRecord& then = p.then();
  if (code == Code::missing_tcgen05_fence) {
    const bool before = order_.tensor_relation(then, p.earlier, *p.now(), p.later) ==
                        HappensBefore::TensorRelation::unfenced_before;
    return before ? "the thread that waited for the earlier one has not executed "
                    "tcgen05.fence::before_thread_sync before the barrier between them"
                  : "the later thread has not executed tcgen05.fence::after_thread_sync after the barrier "
                    "between them";
  }
  if (code == Code::commit_by_other_thread)
    return fmt::format("the commit is by another thread than the {}: it covers nothing", then.name);
  if (then.tensor_load || then.tensor_store) {
    const char* const wait = then.tensor_load ? "tcgen05.wait::ld" : "tcgen05.wait::st";
    if (!order_.tensor().covered(then))
      return fmt::format("no {} of its warp covers the {}", wait, then.name);
    return fmt::format(
        "the warp of the {} has waited for it, but nothing orders the later one behind that {}", then.name,
        wait);
  }
  if (order_.tensor().last_commit(then.stream).id < then.id)
    return fmt::format("no tcgen05.commit of its thread follows the {}, so no wait covers it", then.name);
  return fmt::format(
      "the {} may still be under way: nothing orders the later one behind a wait for the "
      "mbarrier at which its tcgen05.commit arrives",
      then.name);
}

Site TensorRaceReporter::site_of(const Record& r, std::string what) const {
  const Origin origin{.cta_rank = static_cast<uint16_t>(order_.cta_of(r.warp)),
                      .warp = static_cast<uint16_t>(r.warp % order_.warps_per_cta()),
                      .lanes = r.lanes,
                      .pc = r.pc};
  Site s = context_.reporter.site(origin, std::move(what));
  if (r.async) s.occurrence = r.async->occurrence;
  return s;
}

void TensorRaceReporter::conflict(const Actor& later, const Conflict& conflict) {
  if (!options_.race) return;
  const Pair p{(*records_)[later.record], (*records_)[conflict.earlier], conflict, *later.view};
  const Code code = code_of(p);
  const bool read = (code == Code::tensor_memory_freed_in_use || code == Code::overwrite_before_wait_ld) &&
                    has_been_read(p);
  const FindingKey key{code, p.later.pc, p.earlier.pc, read ? 3ULL : 2ULL};
  if (context_.reporter.seen(key)) return;
  Finding f;
  const bool copied = code == Code::unordered_products && p.now()->is_tensor_copy();
  if (copied || read) f.severity = FindingSeverity::strict;
  f.message = text_of(code).title;
  f.object = tensor_name(context_.cluster, conflict.address, conflict.bytes);
  f.missing = missing(p, code);
  f.sites.push_back(site_of(p.later, std::string(does(p.later, later.writes))));
  f.sites.push_back(site_of(p.earlier, fmt::format("{} (earlier)", does(p.earlier, conflict.earlier_wrote))));
  if (code == Code::commit_by_other_thread)
    f.sites.push_back(context_.reporter.site(foreign_commit(p.then())->origin, "the commit"));
  if (code == Code::commit_before_operation)
    f.sites.push_back(context_.reporter.site(order_.tensor().last_commit(p.then().stream).origin,
                                             "the thread's last commit"));
  context_.reporter.report(key, std::move(f));
}

void TensorRaceReporter::uninitialised(const Actor& reader, uint64_t address, uint64_t bytes, uint32_t) {
  if (!options_.memory) return;
  const Record& now = (*records_)[reader.record];
  const FindingKey key{Code::uninitialised_tensor_memory, now.pc, ~0U, 2};
  if (context_.reporter.seen(key)) return;
  Finding f;
  // A load takes whole lanes: what it does not need may never have been written.
  if (now.async->tensor_load) f.severity = FindingSeverity::strict;
  f.message =
      fmt::format("{} reads tensor memory that nothing has written since it was allocated", now.async->name);
  f.object = tensor_name(context_.cluster, address, bytes);
  f.sites.push_back(site_of(now, "reads"));
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
