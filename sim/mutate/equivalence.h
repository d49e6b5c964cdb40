#pragma once
// Mutants that no checker can catch, because the broken instruction had no effect. Each rule uses the
// original program and the facts of one run of it; none uses the checkers.
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sim/mutate/facts.h"
#include "sim/mutate/mutate.h"

namespace palladion::sim::check {

struct EquivalenceRule {
  std::string_view name;  // "not executed"
  std::string_view doc;   // when it holds, and why nothing is lost then
};
std::span<const EquivalenceRule> equivalence_rules();

// The first rule by which the mutant behaves as the original; nothing when no rule applies.
const EquivalenceRule* equivalent(const isa::Module& module, const isa::ArchSpec& arch, const RunFacts& facts,
                                  const Mutant& mutant);

}  // namespace palladion::sim::check
