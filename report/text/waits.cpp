// What lanes of a deadlock wait for, in words.
#include <fmt/format.h>

#include "report/text/words.h"

namespace palladion::report {
namespace {

std::string arrivals_text(const sim::BlockedWait& w, std::string_view who) {
  if (!w.expected_arrivals || !w.pending_arrivals) return {};
  return fmt::format(": {} of {} {} have {}", *w.expected_arrivals - *w.pending_arrivals,
                     *w.expected_arrivals, who, who == "threads" ? "arrived" : "come");
}

std::string bytes_text(const sim::BlockedWait& w) {
  if (w.expected_bytes)
    return fmt::format(", {} of {} expected bytes", w.delivered_bytes.value_or(0), *w.expected_bytes);
  const int64_t pending = w.pending_bytes.value_or(0);
  if (w.phase || pending == 0) return {};
  return pending > 0 ? fmt::format(", {} announced bytes are outstanding", pending)
                     : fmt::format(", {} bytes have landed that no expect_tx announced", -pending);
}

std::string awaited_text(const sim::BlockedWait& w) {
  using K = sim::BlockedWait::Kind;
  const std::string object = text_of(w.object);
  switch (w.kind) {
    case K::mbarrier: {
      const std::string phase = w.phase ? fmt::format("phase {} (parity {})", *w.phase, w.parity.value_or(0))
                                        : fmt::format("a phase of parity {}", w.parity.value_or(0));
      return fmt::format("{} of {}{}{}", phase, object, arrivals_text(w, "arrivals"), bytes_text(w));
    }
    case K::cta_barrier:
    case K::cluster_barrier:
      return object + arrivals_text(w, "threads");
    case K::registers:
      return w.free ? fmt::format("{} registers (setmaxnreg to {}): the CTA has {} free",
                                  w.wanted.value_or(0), w.limit.value_or(0), *w.free)
                    : fmt::format("{} registers of the CTA's pool", w.wanted.value_or(0));
    case K::tensor_memory:
      return w.by_peer
                 ? fmt::format("the same allocation of {} columns of tensor memory by the pair's other CTA",
                               w.wanted.value_or(0))
                 : fmt::format("{} columns of tensor memory (tcgen05.alloc): not so many are free together",
                               w.wanted.value_or(0));
    case K::convergence:
      return w.object.number == 0 ? "other lanes of its warp or warpgroup" : object + ", which are elsewhere";
    case K::wgmma_group:
      return object + ": not all warps of the warpgroup have issued the same wgmma";
    case K::bulk_group:
    case K::cp_async_group:
      return object;
    case K::memory:
      break;
  }
  if (w.object.kind == sim::Object::Kind::none)
    return "a value in memory or a barrier that it tests over and over";
  return fmt::format("a change of {}, which holds 0x{:x}", object, w.value.value_or(0));
}

}  // namespace

std::string text_of(const sim::BlockedWait& wait) {
  const std::string out = awaited_text(wait);
  return wait.alike > 1 ? fmt::format("{} ({} groups of lanes like this one)", out, wait.alike) : out;
}

}  // namespace palladion::report
