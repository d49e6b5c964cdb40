#include "verify/verdict/arbitrary.h"

#include <algorithm>
#include <iterator>

#include "sim/check/catalogue/code.h"
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

bool can_be_examined(const SeenFinding& s) {
  const sim::Finding& f = s.finding;
  if (f.severity != sim::FindingSeverity::error || f.fatal) return false;
  const auto* const race = std::get_if<sim::Race>(&f.what);
  return of_shared_memory(f) || of_tensor_memory(f) ||
         (race != nullptr && race->every_read && !race->reads.empty());
}

void examine(std::span<SeenFinding* const> findings, const RunWithOthers& run) {
  std::vector<SeenFinding*> unused;
  Arbitrary all;
  for (SeenFinding* const s : findings) {
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
