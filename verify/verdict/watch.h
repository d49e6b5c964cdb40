#pragma once
// The observers of one run: its checkers, and others beside them.
#include <optional>
#include <span>

#include "sim/check/checker.h"
#include "sim/check/observers.h"

namespace palladion::verify {

inline constexpr sim::check::Options no_checks{
    .race = false, .barrier = false, .memory = false, .numerics = false};

class Watch {
 public:
  // `others` must outlive the run.
  explicit Watch(const sim::check::Options& checks, std::span<sim::Observer* const> others = {});
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // For RunOptions::observer; null: nothing observes.
  sim::Observer* observer() { return observer_; }
  // After the run: what the checkers covered; null without checkers.
  const sim::check::Coverage* coverage() const { return checker_ ? &checker_->coverage() : nullptr; }

 private:
  std::optional<sim::check::Checker> checker_;
  std::optional<sim::check::Observers> several_;
  sim::Observer* observer_ = nullptr;
};

}  // namespace palladion::verify
