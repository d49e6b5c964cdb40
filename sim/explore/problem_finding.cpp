#include "sim/explore/problem_finding.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <tuple>

#include "sim/check/catalogue/catalogue.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::sim::check {
namespace {

const SyncOp& op_at(const Skeleton& s, const OpRef& r) { return s.threads[r.thread].ops[r.position]; }

// How an operation is reported, and the code of its phase being uncertain.
struct Kind {
  Part part;
  Code code;
  const char* rule = "";  // empty: the code's
};

Kind kind_of(const Skeleton& s, const OpRef& r) {
  const SyncOp& op = op_at(s, r);
  const bool cluster = !s.objects.empty() && s.objects[op.object].kind == SyncObject::Kind::cluster_barrier;
  switch (op.kind) {
    case SyncKind::wait:
      return {{.does = Does::waits}, Code::ambiguous_phase};
    case SyncKind::bar_arrive:
    case SyncKind::bar_pass:
      if (cluster) return {{.does = Does::arrives}, Code::unpaired_cluster_barrier, "barrier.cluster"};
      return {{.does = Does::arrives}, Code::barrier_of_two_groups};
    case SyncKind::arrive:
      if (op.count != 0) return {{.does = Does::arrives}, Code::shared_stage_mbarrier};
      return {{.does = op.tx < 0 ? Does::lands : Does::signals, .expected = std::max<int64_t>(op.tx, 0)},
              Code::late_expect_tx,
              "Tracking asynchronous operations by the mbarrier object"};
    case SyncKind::init:
    case SyncKind::inval:
      return {{.does = op.kind == SyncKind::init ? Does::initialises : Does::invalidates},
              Code::unordered_mbarrier_init};
    case SyncKind::registers_inc:
    case SyncKind::registers_dec:
      return {{.does = Does::requests_registers}, Code::unreleased_registers};
    default:
      return {{.does = Does::uses}, Code::shared_stage_mbarrier};
  }
}

Object object_of(const Skeleton& s, const OpRef& r) {
  const SyncOp& op = op_at(s, r);
  return op.kind == SyncKind::nothing ? Object() : s.objects[op.object].object;
}

// What the search knows of it: the object, and of an mbarrier the parity.
BlockedWait blocked(const Skeleton& s, const OpRef& r) {
  using K = BlockedWait::Kind;
  const SyncOp& op = op_at(s, r);
  BlockedWait b;
  b.object = object_of(s, r);
  switch (op.kind) {
    case SyncKind::wait:
      b.kind = K::mbarrier;
      b.parity = op.parity ? 1 : 0;
      break;
    case SyncKind::bar_pass:
      b.kind = s.objects[op.object].kind == SyncObject::Kind::cluster_barrier ? K::cluster_barrier
                                                                              : K::cta_barrier;
      break;
    case SyncKind::registers_inc:
      b.kind = K::registers;
      b.wanted = op.count;
      break;
    default:
      b.kind = K::convergence;
  }
  return b;
}

// The end of the schedule that shows the problem: how far each thread goes.
Statement witness_of(const Skeleton& s, const std::vector<uint32_t>& witness) {
  constexpr size_t shown = 12;
  std::vector<uint32_t> position(s.threads.size());
  std::vector<Site> moves;
  for (size_t i = 0; i < witness.size(); ++i) {
    const uint32_t t = witness[i];
    const SyncOp& op = s.threads[t].ops[position[t]++];
    if (i + 1 < witness.size() && witness[i + 1] == t) continue;
    Site move = op.place < s.places.size() ? s.places[op.place] : Site();
    move.warp = s.threads[t].warp;
    move.part.does = s.threads[t].agent ? Does::lands : Does::passes;
    moves.push_back(std::move(move));
  }
  const bool all = moves.size() <= shown;
  Statement out{.phrase = all ? Phrase::schedule_that_shows : Phrase::schedule_ends_so, .values = {}};
  for (size_t i = all ? 0 : moves.size() - shown; i < moves.size(); ++i) out.values.emplace_back(moves[i]);
  return out;
}

// The number of the phase that a wait awaits is one less than that in which it is executed.
int64_t phase_of(const Skeleton& s, const OpRef& r, uint32_t phase) {
  return op_at(s, r).kind == SyncKind::wait ? int64_t{phase} - 1 : int64_t{phase};
}

// The exploration takes the rule of a code from the catalogue; it knows less than the checkers about fixes.
void classify(Finding& f, Code code, const char* rule = "") {
  f.code = code;
  f.rule = rule;
  f.help = say<Phrase::no_help>();
}

void describe_deadlock(const Skeleton& s, const Problem& p, Finding& f) {
  complete(f, Code::possible_deadlock);
  f.message = say<Phrase::deadlock_in_other_schedule>(p.blocked.size());
  f.what.emplace<Deadlock>().warps = p.blocked.size();
  std::set<std::tuple<std::string, uint32_t, std::optional<uint32_t>>> seen;
  constexpr size_t shown = 8;
  for (const OpRef& r : p.blocked) {
    Site site = site_of(s, r, {.does = Does::waits});
    site.wait = blocked(s, r);
    if (f.sites.size() == shown ||
        !seen.insert({site.instruction, op_at(s, r).object, site.wait->parity}).second)
      continue;
    f.sites.push_back(std::move(site));
  }
}

// The thread would have to be delayed for a whole phase: shipped kernels rely on that not happening.
void describe_missed(const Skeleton& s, const Problem& p, Finding& f) {
  classify(f, Code::ambiguous_phase);
  f.severity = FindingSeverity::strict;
  f.message = say<Phrase::wait_can_miss_phase>(p.other_phase - p.phase);
  f.sites.push_back(site_of(s, p.op, {.does = Does::waits}));
  f.missing = say<Phrase::next_phase_without_waiter>();
  f.help = say<Phrase::wait_in_next_phase>();
}

void describe_ambiguous(const Skeleton& s, const Problem& p, Finding& f) {
  const Kind k = kind_of(s, p.op);
  classify(f, k.code, k.rule);
  const bool waits = op_at(s, p.op).kind == SyncKind::wait;
  const int64_t phase = phase_of(s, p.op, p.phase), other = phase_of(s, p.op, p.other_phase);
  f.message =
      waits ? say<Phrase::wait_of_two_phases>(phase, other) : say<Phrase::signal_in_two_phases>(phase, other);
  f.sites.push_back(site_of(s, p.op, k.part));
  f.missing = waits ? say<Phrase::next_phase_without_waiter>() : say<Phrase::no_order_after_phase>();
}

void describe_error(const Skeleton& s, const Problem& p, Finding& f) {
  const Kind k = kind_of(s, p.op);
  f.sites.push_back(site_of(s, p.op, k.part));
  switch (p.error) {
    case SyncError::uninitialised:
      classify(f, Code::unordered_mbarrier_init);
      f.message = say<Phrase::no_valid_mbarrier>();
      f.missing = say<Phrase::no_order_with_init>();
      return;
    case SyncError::too_many_arrivals:
      classify(f, Code::surplus_arrival);
      f.message = say<Phrase::more_arrivals_than_pending>();
      return;
    case SyncError::tx_range:
      classify(f, Code::transaction_count_overflow);
      f.message = say<Phrase::transaction_count_out_of_range>();
      return;
    case SyncError::barrier_threads:
      classify(f, Code::differing_barrier_counts, k.rule);
      f.message = say<Phrase::other_thread_counts>();
      return;
    case SyncError::barrier_overflow:
      classify(f, Code::repeated_barrier_arrival, k.rule);
      f.message = say<Phrase::more_threads_than_expected>();
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

Site site_of(const Skeleton& skeleton, const OpRef& op, const Part& part) {
  const SyncThread& t = skeleton.threads[op.thread];
  const uint32_t place = op_at(skeleton, op).place;
  Site s;
  if (place < skeleton.places.size()) s = skeleton.places[place];
  s.warp = t.warp;
  s.part = part;
  for (uint32_t i = 0; i <= op.position; ++i) s.occurrence += t.ops[i].place == place;
  if (t.agent) s.occurrence = 0;
  return s;
}

Finding to_finding(const Skeleton& skeleton, const Problem& p) {
  Finding f;
  f.object = object_of(skeleton, p.op);
  switch (p.kind) {
    case Problem::Kind::deadlock:
      p.missed ? describe_missed(skeleton, p, f) : describe_deadlock(skeleton, p, f);
      break;
    case Problem::Kind::ambiguous:
      describe_ambiguous(skeleton, p, f);
      f.severity = FindingSeverity::strict;
      break;
    case Problem::Kind::overrun:
      classify(f, Code::unobserved_phase);
      f.message = say<Phrase::arrival_in_other_schedule>(p.phase, p.phase - 1);
      f.sites.push_back(site_of(skeleton, p.op, {.does = Does::arrives}));
      f.missing = say<Phrase::ordered_wait_before>();
      break;
    case Problem::Kind::error:
      describe_error(skeleton, p, f);
      break;
  }
  f.notes.push_back(witness_of(skeleton, p.witness));
  if (skeleton.frozen.empty()) return f;
  f.severity = FindingSeverity::unknown;
  f.notes.push_back(say<Phrase::values_of_recorded_run>(skeleton.frozen.front()));
  return f;
}

}  // namespace palladion::sim::check
