// The words of --schedule and --check.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "isa/host/outcome.h"
#include "sim/check/core/options.h"
#include "sim/explore/conditions.h"

namespace palladion::cli {

struct NameAndDoc {
  std::string_view name, doc;
};
std::span<const NameAndDoc> schedule_words();
std::span<const NameAndDoc> check_words();

// "latest,resident=1": a schedule, then what `check --explore` varies.
Outcome<sim::check::Conditions> conditions_in(const std::string& text);
// A schedule alone.
Outcome<sim::Schedule> schedule_in(const std::string& text);

// "all", "none", "race,memory". Faults and deadlocks may be named: they are always reported.
Outcome<sim::check::Options> checks_in(const std::string& text);
inline constexpr sim::check::Options no_checks{
    .race = false, .barrier = false, .memory = false, .numerics = false};
std::string name(const sim::check::Options& checks);

}  // namespace palladion::cli
