#include "sim/check/core/consequences.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/check/catalogue/catalogue.h"
#include "sim/check/core/merge_groups.h"
#include "sim/launch/codes.h"

namespace palladion::sim::check {
namespace {

constexpr size_t most_notes = 4;  // of consequences, each with its lines

template <size_t n>
bool is_one_of(const Finding& f, const std::array<Code, n>& codes) {
  return std::ranges::any_of(codes, [&](Code code) { return f.code == code; });
}

bool is_error(const Finding& f) { return f.severity == FindingSeverity::error; }
bool is_deadlock(const Finding& f) { return f.fatal && std::holds_alternative<Deadlock>(f.what); }
// The machine stopped at an mbarrier that cannot take an operation.
bool is_fault(const Finding& f) {
  return f.fatal && std::holds_alternative<Fault>(f.what) &&
         (f.code == sim::Code::mbarrier_range || f.code == sim::Code::mbarrier_not_initialised ||
          f.code == sim::Code::mbarrier_bytes);
}
// It is what stopped the run; other fatal ones have such a finding under them.
bool is_stop(const Finding& f) {
  return f.fatal && !std::holds_alternative<Misuse>(f.what) && !std::holds_alternative<Race>(f.what);
}

// --- reads before the write of a race ---------------------------------------------------------------------
bool covers(const std::vector<Range>& all, const std::vector<Range>& some) {
  return std::ranges::all_of(some, [&](const Range& s) {
    return std::ranges::any_of(all, [&](const Range& a) { return a.from <= s.from && s.to <= a.to; });
  });
}

bool covers(const Object& race, const Object& read) {
  if (race.kind != read.kind || (!read.ranges.empty() && !covers(race.ranges, read.ranges))) return false;
  return std::ranges::all_of(read.names, [&](const Named& n) {
    return std::ranges::any_of(race.names, [&](const Named& r) {
      const bool all = r.bytes.empty(), some = !n.bytes.empty() && covers(r.bytes, n.bytes);
      return r.name == n.name && r.index == n.index && (all || some);
    });
  });
}

bool is_early_read(const Finding& f) {
  return f.code == Code::uninitialised_shared_memory && !f.fatal && f.sites.size() == 1;
}

bool explains_early_read(const Finding& race, const Finding& read) {
  const bool reads =
      !std::ranges::all_of(race.sites, [](const Site& s) { return s.part.does == Does::writes; });
  return is_early_read(read) && std::holds_alternative<Race>(race.what) && !race.fatal && reads &&
         is_at(race, place_of(read.sites.front())) && covers(race.object, read.object);
}

// --- mbarriers whose phases are off -----------------------------------------------------------------------
// Each says by itself what is wrong with an mbarrier.
constexpr std::array definite{
    Code::surplus_arrival,      Code::arrival_by_all_lanes,  Code::miscounted_deferred_arrival,
    Code::wrong_first_parity,   Code::misused_mbarrier_form, Code::missing_expect_tx,
    Code::wrong_expected_bytes, Code::late_expect_tx,        Code::duplicate_copy};
// Rounds mix: the mistake itself, or what comes of one.
constexpr std::array vague{Code::wrong_parity, Code::unobserved_phase, Code::shared_stage_mbarrier,
                           Code::ambiguous_phase};
constexpr std::array exploring{Code::possible_deadlock, Code::differing_step_counts};

void add_mbarriers(std::vector<Object>& out, const Statement& statement) {
  for (const PhraseValue& v : statement.values)
    if (const auto* const object = std::get_if<Object>(&v);
        object != nullptr && object->kind == Object::Kind::mbarrier)
      out.push_back(*object);
}

// Its own, or those at which the threads of a race had waited; of a copy that several issue, where it
// completes.
std::vector<Object> mbarriers_of(const Finding& f) {
  if (f.object.kind == Object::Kind::mbarrier) return {f.object};
  std::vector<Object> out;
  if (!std::holds_alternative<Race>(f.what)) return out;
  for (const Statement& note : f.notes) add_mbarriers(out, note);
  if (f.code == Code::duplicate_copy) add_mbarriers(out, f.missing);
  return out;
}

// Stages of one array count as one: one piece of the program serves them.
bool are_alike(const Object& a, const Object& b) {
  return a.names.empty() || b.names.empty() ? a.names.empty() && b.names.empty() && a.ranges == b.ranges
                                            : names_of(a) == names_of(b);
}

bool share_mbarrier(const Finding& a, const Finding& b) {
  const std::vector<Object> of_a = mbarriers_of(a);
  return std::ranges::any_of(mbarriers_of(b), [&](const Object& o) {
    return std::ranges::any_of(of_a, [&](const Object& p) { return are_alike(o, p); });
  });
}

// How well it explains that the phases of its mbarriers are off; 0: not at all.
int rank_as_cause(const Finding& f) {
  const bool known = is_one_of(f, definite) || is_one_of(f, vague);
  if (!is_error(f) || !known || mbarriers_of(f).empty()) return 0;
  if (std::holds_alternative<Deadlock>(f.what)) return 1;
  if (f.code == Code::duplicate_copy) return 5;
  const bool misuse = std::holds_alternative<Misuse>(f.what);
  if (!misuse && !std::holds_alternative<Race>(f.what)) return 0;
  if (is_one_of(f, definite)) return 4;
  return misuse ? 3 : 2;
}

// What relies on the phases of its mbarriers.
bool relies_on_phases(const Finding& f) {
  if (is_deadlock(f)) return is_barrier(f.object.kind);
  if (is_stop(f)) return false;
  if (std::holds_alternative<Race>(f.what)) return f.missing.phrase != Phrase::no_proxy_fence;
  return is_one_of(f, definite) || is_one_of(f, vague) || is_one_of(f, exploring);
}

bool explains_phases(const Finding& cause, const Finding& f) {
  return relies_on_phases(f) && rank_as_cause(cause) > 0 && share_mbarrier(cause, f);
}

// The machine stopped at an instruction of the cause.
bool explains_fault(const Finding& cause, const Finding& f) {
  return is_fault(f) && !f.sites.empty() && rank_as_cause(cause) > 0 && !is_deadlock(cause) &&
         is_at(cause, place_of(f.sites.front()));
}

// --- operations that nothing waits for --------------------------------------------------------------------
bool does(const Finding& f, Does what) {
  return std::ranges::any_of(f.sites, [&](const Site& s) { return s.part.does == what; });
}

// It is about the end of an asynchronous operation.
bool lacks_end_of_operation(const Finding& f) {
  constexpr std::array codes{
      Code::ignored_wait_result, Code::commit_by_other_thread, Code::commit_before_operation,
      Code::use_before_wait_st,  Code::wrong_parity,           Code::uncovered_bulk_store};
  return is_error(f) && !is_stop(f) && f.code != Code::tensor_memory_freed_in_use &&
         (is_one_of(f, codes) || is_one_of(f, definite) || is_missing_wait(f.missing.phrase));
}

// All operations of `f`, where it stands for several.
bool share_operation(const Finding& cause, const Finding& f) {
  for (const SourcePlaces& also : f.also)
    for (size_t i = 0; i < std::min(also.size(), f.sites.size()); ++i)
      if (f.sites[i].part.asynchronous && !is_at(cause, also[i])) return false;
  return std::ranges::any_of(f.sites, [&](const Site& s) {
    return s.part.asynchronous && std::ranges::any_of(cause.sites, [&](const Site& other) {
             const bool operation = other.part.asynchronous || other.part.does == Does::signals;
             return operation && place_of(other) == place_of(s);
           });
  });
}

// The exit of a CTA, or the freeing of its tensor memory, does not wait for it either.
bool explains_exit(const Finding& cause, const Finding& f) {
  const bool exit = does(f, Does::exits), frees = f.code == Code::tensor_memory_freed_in_use;
  if (is_stop(f) || (!exit && !frees) || does(cause, Does::exits)) return false;
  return lacks_end_of_operation(cause) && share_operation(cause, f);
}

// A thread waits for groups that another one has issued: that is why nothing covers them.
bool explains_vain_wait(const Finding& cause, const Finding& f) {
  return f.code == Code::uncovered_bulk_store && f.message.phrase == Phrase::wait_group_of_others &&
         cause.code == Code::uncovered_bulk_store && is_error(cause);
}

// --- the cluster barrier ----------------------------------------------------------------------------------
bool arrives_twice(const Finding& f) {
  return f.code == Code::unpaired_cluster_barrier && f.message.phrase == Phrase::second_cluster_arrival;
}

// Two CTAs that nothing has brought together, or only the barrier at which a thread arrived twice.
bool is_race_of_ctas(const Finding& f, const Finding* twice) {
  if (f.code != Code::cluster_race) return false;
  if (f.missing.phrase == Phrase::never_synchronised) return true;
  return twice != nullptr && std::ranges::any_of(f.missing.values, [&](const PhraseValue& v) {
           const auto* const site = std::get_if<Site>(&v);
           return site != nullptr && is_at(*twice, place_of(*site));
         });
}

bool explains_cluster(const Finding& cause, const Finding& f) {
  if (is_stop(f) || !is_error(cause)) return false;
  if (arrives_twice(cause))
    return (f.code == Code::unpaired_cluster_barrier && !arrives_twice(f)) || is_race_of_ctas(f, &cause) ||
           f.code == Code::access_before_cta_start || f.code == Code::exit_before_remote_access;
  return cause.code == Code::access_before_cta_start && is_race_of_ctas(f, nullptr) && !f.sites.empty() &&
         std::ranges::any_of(f.sites, [&](const Site& s) { return is_at(cause, place_of(s)); });
}

// --- other barriers ---------------------------------------------------------------------------------------
// Rounds of a named barrier mix, until threads wait there for ever.
bool explains_hang(const Finding& cause, const Finding& f) {
  return is_deadlock(f) && f.object.kind == Object::Kind::barrier && cause.object.kind == f.object.kind &&
         cause.object.number == f.object.number && is_error(cause) &&
         (cause.code == Code::repeated_barrier_arrival || cause.code == Code::barrier_of_two_groups);
}

// Threads take a barrier for the end of a copy; its issuer's warp, which needs none, reads as early.
bool explains_read_of_issuer(const Finding& cause, const Finding& f) {
  return f.code == Code::read_before_copy_completion &&
         (cause.code == Code::barrier_as_copy_completion ||
          cause.code == Code::cluster_barrier_as_copy_completion) &&
         lines_of(f, places_of(f)) == lines_of(cause, places_of(cause));
}

// The mbarrier has ended: a copy that is under way was to signal there, or a thread uses it still.
bool explains_dead_mbarrier(const Finding& cause, const Finding& f) {
  if (cause.code != Code::phase_without_wait && cause.code != Code::invalid_mbarrier) return false;
  if (f.code == Code::invalid_mbarrier) return cause.code != f.code && share_mbarrier(cause, f);
  return is_fault(f) && !f.sites.empty() && is_at(cause, place_of(f.sites.front()));
}

// All threads initialise: several warps, and with them the lanes of each.
bool explains_lanes_that_initialise(const Finding& cause, const Finding& f) {
  return f.severity == FindingSeverity::strict && is_error(cause) && f.code == cause.code &&
         f.code == Code::repeated_mbarrier_init && !f.sites.empty() && f.object.kind == cause.object.kind &&
         names_of(f.object) == names_of(cause.object) && is_at(cause, place_of(f.sites.front()));
}

// What makes a run fail is not a note of what does not.
bool explains(const Finding& cause, const Finding& f) {
  if (cause.severity > f.severity) return false;
  return explains_early_read(cause, f) || explains_exit(cause, f) || explains_vain_wait(cause, f) ||
         explains_cluster(cause, f) || explains_hang(cause, f) || explains_read_of_issuer(cause, f) ||
         explains_dead_mbarrier(cause, f) || explains_lanes_that_initialise(cause, f);
}

// --- all together -----------------------------------------------------------------------------------------
// Of each finding its cause, or itself. Of several mistakes of an mbarrier the best cause is one, the first
// of those that are as good.
std::vector<size_t> causes_of(const std::vector<Finding>& all) {
  std::vector<size_t> cause(all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    cause[i] = i;
    int best = rank_as_cause(all[i]);
    for (size_t k = 0; k < all.size(); ++k) {
      const int rank = k == i ? 0 : rank_as_cause(all[k]);
      const bool better = rank > best || (rank == best && rank != 0 && k < cause[i]);
      if (!better || !(explains_phases(all[k], all[i]) || explains_fault(all[k], all[i]))) continue;
      cause[i] = k;
      best = rank;
    }
    for (size_t k = 0; k < all.size() && cause[i] == i; ++k)
      if (k != i && explains(all[k], all[i])) cause[i] = k;
  }
  // Along the chain; a circle has no cause.
  for (size_t i = 0; i < all.size(); ++i) {
    size_t root = i;
    for (size_t steps = 0; cause[root] != root && steps <= all.size(); ++steps) root = cause[root];
    if (cause[root] == root)
      cause[i] = root;
    else
      cause[i] = i;
  }
  return cause;
}

Statement statement_of(const Finding& f) {
  if (f.message) return f.message;
  return say<Phrase::title_of_code>(std::string(text_of(static_cast<Code>(f.code.number())).title));
}

// Whether an output depends on the values of a race may be tried, and makes it an error or not. So it is to
// hold for what follows.
void add_values(Finding& cause, const Finding& follows) {
  auto* const race = std::get_if<Race>(&cause.what);
  if (race == nullptr || !is_error(follows) || is_early_read(follows)) return;
  if (std::holds_alternative<Race>(follows.what) && !follows.fatal)
    add_reads(cause, follows);
  else
    race->every_read = false;
}

// "from it follows PLD4306: ...", with the lines.
Statement note_of(const Finding& f) {
  if (is_early_read(f)) return f.message;
  Statement out = is_deadlock(f) ? say<Phrase::deadlock_follows>(statement_of(f))
                                 : say<Phrase::finding_follows>(f.code.name(), statement_of(f));
  for (const Site& s : f.sites)
    if (!is_deadlock(f) && out.values.size() <= 3) out.values.emplace_back(s);
  return out;
}

void add_consequences(Finding& cause, const std::vector<const Finding*>& of) {
  size_t left = 0;
  const size_t own = cause.notes.size();
  for (const Finding* f : of) {
    cause.fatal |= f->fatal;
    add_values(cause, *f);
    Statement note = note_of(*f);
    if (std::ranges::find(cause.notes, note) != cause.notes.end()) continue;
    if (cause.notes.size() < own + most_notes || is_deadlock(*f))
      cause.notes.push_back(std::move(note));
    else
      ++left;
  }
  if (left != 0) cause.notes.push_back(say<Phrase::more_findings_follow>(left));
}

}  // namespace

void drop_consequences(std::vector<Finding>& findings, std::vector<size_t>* part_of) {
  const std::vector<size_t> cause = causes_of(findings);
  for (size_t i = 0; i < findings.size(); ++i) {
    std::vector<const Finding*> of;
    for (size_t k = 0; k < findings.size(); ++k)
      if (k != i && cause[k] == i) of.push_back(&findings[k]);
    if (!of.empty()) add_consequences(findings[i], of);
  }
  std::vector<size_t> now(findings.size());
  std::vector<Finding> kept;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (cause[i] != i) continue;
    now[i] = kept.size();
    kept.push_back(std::move(findings[i]));
  }
  if (part_of != nullptr)
    for (size_t& part : *part_of) part = now[cause[part]];
  findings = std::move(kept);
}

}  // namespace palladion::sim::check
