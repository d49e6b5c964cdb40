#include "verify/verdict/arbitrary.h"

#include <algorithm>
#include <iterator>

#include "sim/check/catalogue/code.h"
#include "sim/check/values/stored_terms.h"
#include "sim/launch/phrases/phrase.h"

namespace palladion::verify {
namespace {

using sim::check::Arbitrary;
using sim::check::OtherValues;

bool is_of(const sim::Finding& f, sim::check::Code code) { return f.code == code; }

bool of_shared_memory(const sim::Finding& f) {
  return is_of(f, sim::check::Code::uninitialised_shared_memory);
}
bool of_tensor_memory(const sim::Finding& f) {
  return is_of(f, sim::check::Code::uninitialised_tensor_memory);
}

void add(Arbitrary& what, const sim::Finding& f) {
  if (const auto* const race = std::get_if<sim::Race>(&f.what))
    std::ranges::copy(race->reads, std::back_inserter(what.reads));
  else
    what.unwritten_reads.push_back(f.sites.front());
  what.shared_memory |= of_shared_memory(f);
  what.tensor_memory |= of_tensor_memory(f);
}

bool is_open(const sim::Finding& f) { return f.severity == sim::FindingSeverity::error && !f.fatal; }

// Threads store different values at one place, and nothing reads there.
bool is_of_stores(const sim::Finding& f) {
  if (is_of(f, sim::check::Code::lane_store_conflict)) return true;
  return std::holds_alternative<sim::Race>(f.what) && f.sites.size() == 2 &&
         std::ranges::all_of(f.sites, [](const sim::Site& s) {
           return s.part.does == sim::Does::writes && !s.part.asynchronous;
         });
}

bool is_of_reads(const sim::Finding& f) {
  const auto* const race = std::get_if<sim::Race>(&f.what);
  return of_shared_memory(f) || of_tensor_memory(f) ||
         (race != nullptr && race->every_read && !race->reads.empty());
}

// Sums of the same terms differ by the order of their additions alone, whatever the data are.
void examine_stores(std::span<SeenFinding* const> findings, const RunWithOthers& run) {
  using sim::check::StoredTerms;
  std::set<sim::SourcePlace> all;
  for (const SeenFinding* const s : findings)
    if (is_of_stores(s->finding)) all.merge(places_of_stores(s->finding));
  if (all.empty()) return;
  StoredTerms terms(std::move(all));
  if (run(terms) == Rerun::no_end) return;
  for (SeenFinding* const s : findings) {
    if (!is_of_stores(s->finding)) continue;
    if (terms.of(places_of_stores(s->finding)) != StoredTerms::Copies::reordered) continue;
    s->finding.severity = sim::FindingSeverity::strict;
    s->finding.notes.push_back(sim::say<sim::Phrase::same_terms>());
  }
}

enum class Answer : uint8_t { no_output_changes, an_output_changes, reads_not_changed };

Answer ask(const Arbitrary& what, const RunWithOthers& run) {
  for (uint32_t series = 0; series < OtherValues::series; ++series) {
    OtherValues other(what, series);
    if (run(other) != Rerun::as_usual) return Answer::an_output_changes;
    if (!other.changed_every_read()) return Answer::reads_not_changed;
  }
  return Answer::no_output_changes;
}

void drop_to_strict(sim::Finding& f) {
  f.severity = sim::FindingSeverity::strict;
  f.notes.push_back(sim::say<sim::Phrase::no_output_depends>(uint64_t{OtherValues::series}));
}

}  // namespace

bool is_about_stores(const SeenFinding& s) { return is_open(s.finding) && is_of_stores(s.finding); }
bool is_about_reads(const SeenFinding& s) { return is_open(s.finding) && is_of_reads(s.finding); }

std::set<sim::SourcePlace> places_of_stores(const sim::Finding& f) {
  std::set<sim::SourcePlace> all;
  for (const sim::Site& s : f.sites) all.insert(place_of(s));
  for (const sim::SourcePlaces& also : f.also) all.insert(also.begin(), also.end());
  return all;
}

void examine(std::span<SeenFinding* const> findings, const RunWithOthers& run) {
  examine_stores(findings, run);
  std::vector<SeenFinding*> unused;
  Arbitrary all;
  for (SeenFinding* const s : findings) {
    if (!is_of_reads(s->finding)) continue;
    Arbitrary one;
    add(one, s->finding);
    const Answer answer = ask(one, run);
    if (answer == Answer::reads_not_changed)
      s->finding.notes.push_back(sim::say<sim::Phrase::reads_not_changed>());
    if (answer != Answer::no_output_changes) continue;
    unused.push_back(s);
    add(all, s->finding);
  }
  if (unused.size() > 1 && ask(all, run) != Answer::no_output_changes) return;
  for (SeenFinding* const s : unused) drop_to_strict(s->finding);
}

}  // namespace palladion::verify
