// The words of --schedule and --check.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/support/exit_code.h"
#include "sim/check/core/options.h"
#include "sim/explore/conditions.h"
#include "verify/verdict/watch.h"

namespace palladion::cli {

using verify::no_checks;

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
std::string name(const sim::check::Options& checks);

}  // namespace palladion::cli
