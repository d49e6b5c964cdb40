#pragma once
// A sentence of a finding as values: which one, and of what it speaks. report/text words it.
#include <concepts>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sim/launch/site.h"

namespace palladion::sim {

// The list is in sim/launch/phrases.
enum class Phrase : uint16_t;

// A wait in a cycle of waits.
struct CycleStep {
  WarpLanes actor;  // who waits
  Object object;    // that it waits for
  friend bool operator==(const CycleStep&, const CycleStep&) = default;
};

struct Statement;

// What a sentence speaks of.
using PhraseValue = std::variant<int64_t, double, std::string, Object, WarpLanes, Site, CycleStep, Statement>;

// A sentence; false: none.
struct Statement {
  Phrase phrase{};                  // which one
  std::vector<PhraseValue> values;  // in the order of its template
  explicit operator bool() const { return phrase != Phrase{}; }
  friend bool operator==(const Statement&, const Statement&) = default;
};

}  // namespace palladion::sim
