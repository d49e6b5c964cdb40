#include "cuda/driver/launch/other_values.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "sim/check/core/merge.h"
#include "verify/verdict/arbitrary.h"
#include "verify/verdict/watch.h"

namespace palladion::cuda::driver {
namespace {

constexpr size_t most_experiments = 16;

verify::Rerun run_with(const Launched& l, sim::Observer& other) {
  sim::GlobalMemory& memory = state().machine->memory();
  const Changes::Pages usual = l.changes.undo();
  Changes changes(memory, std::numeric_limits<size_t>::max());
  sim::Observer* const observers[] = {&other, &changes};
  verify::Watch watch(verify::no_checks, observers);
  const sim::RunResult result = l.again(*watch.observer());
  Changes::Pages left = changes.undo();
  put(memory, usual);
  if (!result.completed) return verify::Rerun::no_end;
  left.insert(l.changes.before().begin(), l.changes.before().end());  // what it did not write
  const bool same = result.printed == l.result.printed && std::ranges::all_of(left, [&](const auto& page) {
                      const auto& [at, bytes] = page;
                      return std::memcmp(memory.find(at, bytes.size()), bytes.data(), bytes.size()) == 0;
                    });
  return same ? verify::Rerun::as_usual : verify::Rerun::another_output;
}

}  // namespace

void examine_values(const Launched& l, std::vector<sim::Finding>& findings) {
  static auto* const decisive = new std::set<std::string>;  // kernels whose outputs depended on such values
  if (!l.again || !l.result.completed || !l.changes.complete() || decisive->contains(l.kernel)) return;
  std::vector<verify::SeenFinding> seen;
  for (sim::Finding& f : sim::check::merge(std::move(findings))) seen.push_back({.finding = std::move(f)});
  std::vector<verify::SeenFinding*> examined;
  for (verify::SeenFinding& s : seen)
    if (verify::can_be_examined(s) && examined.size() < most_experiments) examined.push_back(&s);
  verify::examine(examined, [&](sim::Observer& other) { return run_with(l, other); });
  if (std::ranges::any_of(examined, [](const auto* s) { return verify::can_be_examined(*s); }))
    decisive->insert(l.kernel);
  findings.clear();
  for (verify::SeenFinding& s : seen) findings.push_back(std::move(s.finding));
}

}  // namespace palladion::cuda::driver
