#include "sim/explore/problem_text.h"

#include <fmt/format.h>

#include <set>

#include "sim/check/catalogue/catalogue.h"

namespace palladion::sim::check {
namespace {

const SyncOp& op_at(const Skeleton& s, const OpRef& r) { return s.threads[r.thread].ops[r.position]; }

// What an operation is, and the code of its phase being uncertain.
struct Words {
  const char* noun;
  Code code;
  const char* rule = "";  // empty: the code's
};

Words words(const Skeleton& s, const OpRef& r) {
  const SyncOp& op = op_at(s, r);
  const bool cluster = !s.objects.empty() && s.objects[op.object].kind == SyncObject::Kind::cluster_barrier;
  switch (op.kind) {
    case SyncKind::wait:
      return {"wait", Code::ambiguous_phase};
    case SyncKind::bar_arrive:
    case SyncKind::bar_pass:
      if (cluster)
        return {"arrival at the cluster barrier", Code::unpaired_cluster_barrier, "barrier.cluster"};
      return {"arrival", Code::barrier_of_two_groups};
    case SyncKind::arrive:
      if (op.count != 0) return {"arrival", Code::shared_stage_mbarrier};
      return {op.tx < 0 ? "landing" : "expect_tx", Code::late_expect_tx,
              "Tracking asynchronous operations by the mbarrier object"};
    case SyncKind::init:
    case SyncKind::inval:
      return {op.kind == SyncKind::init ? "init" : "inval", Code::unordered_mbarrier_init};
    case SyncKind::registers_inc:
    case SyncKind::registers_dec:
      return {"setmaxnreg", Code::unreleased_registers};
    default:
      return {"operation", Code::shared_stage_mbarrier};
  }
}

std::string object_name(const Skeleton& s, const OpRef& r) {
  const SyncOp& op = op_at(s, r);
  return op.kind == SyncKind::nothing ? std::string() : s.objects[op.object].name;
}

std::string awaits(const Skeleton& s, const OpRef& r) {
  const SyncOp& op = op_at(s, r);
  switch (op.kind) {
    case SyncKind::wait:
      return fmt::format("waits at {} for a phase of parity {} to complete", object_name(s, r),
                         static_cast<int>(op.parity));
    case SyncKind::bar_pass:
      return fmt::format("waits at {}", object_name(s, r));
    case SyncKind::registers_inc:
      return fmt::format("waits for {} registers of the CTA's pool", op.count);
    default:
      return "waits for other lanes of its warp or warpgroup";
  }
}

// What the search knows of it: the object, and of an mbarrier the parity.
BlockedWait blocked(const Skeleton& s, const OpRef& r) {
  const SyncOp& op = op_at(s, r);
  BlockedWait b;
  b.object = object_name(s, r);
  switch (op.kind) {
    case SyncKind::wait:
      b.kind = "mbarrier";
      b.parity = op.parity ? 1 : 0;
      break;
    case SyncKind::bar_pass:
      b.kind =
          s.objects[op.object].kind == SyncObject::Kind::cluster_barrier ? "cluster_barrier" : "cta_barrier";
      break;
    case SyncKind::registers_inc:
      b.kind = "registers";
      break;
    default:
      b.kind = "convergence";
  }
  return b;
}

std::string warp_name(const Skeleton& s, uint32_t thread) {
  const SyncThread& t = s.threads[thread];
  const bool several = s.threads.back().cta_rank != 0 || s.threads.front().cta_rank != 0;
  return several ? fmt::format("warp {} of CTA rank {}", t.warp, t.cta_rank) : fmt::format("warp {}", t.warp);
}

// The end of the schedule that shows the problem: how far each thread goes.
std::string witness_text(const Skeleton& s, const std::vector<uint32_t>& witness) {
  constexpr size_t shown = 12;
  std::vector<uint32_t> position(s.threads.size());
  std::vector<std::string> moves;
  for (size_t i = 0; i < witness.size(); ++i) {
    const uint32_t t = witness[i];
    const SyncOp& op = s.threads[t].ops[position[t]++];
    if (i + 1 < witness.size() && witness[i + 1] == t) continue;
    const std::string line = op.place < s.places.size() ? line_of(s.places[op.place]) : std::string("?");
    moves.push_back(s.threads[t].agent
                        ? fmt::format("the signal that {} issued at line {} lands", warp_name(s, t), line)
                        : fmt::format("{} goes past line {}", warp_name(s, t), line));
  }
  std::string out =
      moves.size() > shown ? "a schedule that shows it ends so: " : "a schedule that shows it: ";
  for (size_t i = moves.size() > shown ? moves.size() - shown : 0; i < moves.size(); ++i)
    out += moves[i] + (i + 1 < moves.size() ? "; " : "");
  return out;
}

std::string phase_text(const Skeleton& s, const OpRef& r, uint32_t phase) {
  const SyncOp& op = op_at(s, r);
  if (op.kind != SyncKind::wait) return fmt::format("{}", phase);
  return phase == 0 ? "-1 (before the first)" : fmt::format("{}", phase - 1);
}

// The exploration takes the rule of a code from the catalogue; it knows less than the checkers about fixes.
void classify(Finding& f, Code code, const char* rule = "") {
  f.code = name_of(code);
  f.rule = *rule != 0 ? rule : text_of(code).rule;
}

void tell_deadlock(const Skeleton& s, const Problem& p, Finding& f) {
  complete(f, Code::possible_deadlock);
  f.message = fmt::format("in another schedule no warp can continue: {} thread{} would wait forever",
                          p.blocked.size(), p.blocked.size() == 1 ? "" : "s");
  std::set<std::pair<std::string, std::string>> seen;
  constexpr size_t shown = 8;
  for (const OpRef& r : p.blocked) {
    const std::string text = awaits(s, r);
    const Site site = site_of(s, r, "waits");
    if (f.sites.size() == shown || !seen.insert({site.instruction, text}).second) continue;
    f.sites.push_back(site);
    f.notes.push_back(text);
    f.waits.push_back(blocked(s, r));
  }
}

// The thread would have to be delayed for a whole phase: shipped kernels rely on that not happening.
void tell_missed(const Skeleton& s, const Problem& p, Finding& f) {
  classify(f, Code::ambiguous_phase);
  f.severity = FindingSeverity::strict;
  const uint32_t late = p.other_phase - p.phase;
  f.message = fmt::format(
      "the wait can miss its phase: when {} phase{} complete{} before it is executed, it waits forever", late,
      late == 1 ? "" : "s", late == 1 ? "s" : "");
  f.sites.push_back(site_of(s, p.op, "waits"));
  f.missing = "nothing makes the completion of the next phase wait for this thread";
  f.help =
      "let only threads wait that take part in the next phase, or have them meet (bar.sync, bar.warp.sync) "
      "before one of them goes on";
}

void tell_ambiguous(const Skeleton& s, const Problem& p, Finding& f) {
  const Words w = words(s, p.op);
  classify(f, w.code, w.rule);
  const bool waits = op_at(s, p.op).kind == SyncKind::wait;
  f.message = fmt::format("the {} {} {} in one schedule, {} in another", w.noun,
                          waits ? "is satisfied by phase" : "falls into phase", phase_text(s, p.op, p.phase),
                          phase_text(s, p.op, p.other_phase));
  f.sites.push_back(site_of(s, p.op, w.noun));
  f.missing = waits ? "nothing makes the next phase wait for this thread"
                    : "nothing orders it after the completion of the phase before";
}

void tell_error(const Skeleton& s, const Problem& p, Finding& f) {
  const Words w = words(s, p.op);
  f.sites.push_back(site_of(s, p.op, w.noun));
  switch (p.error) {
    case SyncError::uninitialised:
      classify(f, Code::unordered_mbarrier_init);
      f.message = fmt::format("in another schedule the {} finds no valid mbarrier", w.noun);
      f.missing = "nothing orders it after the mbarrier.init, or before the mbarrier.inval";
      return;
    case SyncError::too_many_arrivals:
      classify(f, Code::surplus_arrival);
      f.message = "in another schedule more arrivals come than the phase has pending";
      return;
    case SyncError::tx_range:
      classify(f, Code::transaction_count_overflow);
      f.message = "in another schedule the transaction count leaves its range";
      return;
    case SyncError::barrier_threads:
      classify(f, Code::differing_barrier_counts, w.rule);
      f.message = "in another schedule threads meet at the barrier that do not agree on its thread count";
      return;
    case SyncError::barrier_overflow:
      classify(f, Code::repeated_barrier_arrival, w.rule);
      f.message = "in another schedule more threads arrive than the barrier expects";
      return;
    case SyncError::none:
      return;
  }
}

}  // namespace

std::string line_of(const Site& s) {
  if (!s.source.known()) return fmt::format("{}", s.ptx_line);
  return fmt::format("{}:{}", s.source.file.substr(s.source.file.find_last_of('/') + 1), s.source.line);
}

Site site_of(const Skeleton& skeleton, const OpRef& op, std::string what) {
  const SyncThread& t = skeleton.threads[op.thread];
  const uint32_t place = op_at(skeleton, op).place;
  Site s;
  if (place < skeleton.places.size()) s = skeleton.places[place];
  s.warp = t.warp;
  s.what = std::move(what);
  for (uint32_t i = 0; i <= op.position; ++i) s.occurrence += t.ops[i].place == place;
  if (t.agent) s.occurrence = 0;
  return s;
}

Finding to_finding(const Skeleton& skeleton, const Problem& p) {
  Finding f;
  f.object = object_name(skeleton, p.op);
  switch (p.kind) {
    case Problem::Kind::deadlock:
      p.missed ? tell_missed(skeleton, p, f) : tell_deadlock(skeleton, p, f);
      break;
    case Problem::Kind::ambiguous:
      tell_ambiguous(skeleton, p, f);
      f.severity = FindingSeverity::strict;
      break;
    case Problem::Kind::overrun:
      classify(f, Code::unobserved_phase);
      f.message = fmt::format(
          "in another schedule this arrival in phase {} comes before any wait has observed phase {}", p.phase,
          p.phase - 1);
      f.sites.push_back(site_of(skeleton, p.op, "arrives"));
      f.missing = "a wait for the phase before, ordered before this arrival";
      break;
    case Problem::Kind::error:
      tell_error(skeleton, p, f);
      break;
  }
  f.notes.push_back(witness_text(skeleton, p.witness));
  if (skeleton.frozen.empty()) return f;
  f.severity = FindingSeverity::unknown;
  f.notes.push_back("control flow and values are those of the recorded run: " + skeleton.frozen.front());
  return f;
}

}  // namespace palladion::sim::check
