#include "verify/schedules/schedules.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "sim/schedule/worker_pool.h"

namespace palladion::verify {
namespace {

using sim::check::Conditions;
using Kind = sim::Schedule::Kind;

class SideBySide {
 public:
  SideBySide(const TrialSetup& setup, std::span<const Conditions> conditions, unsigned together,
             TakeTrial take, const FirstTrial& first)
      : setup_(setup),
        conditions_(conditions),
        together_(together),
        take_(std::move(take)),
        first_(first),
        ran_(conditions.size()) {}

  bool run() {
    const unsigned threads = setup_.run.threads != 0 ? setup_.run.threads : sim::hardware_threads();
    sim::WorkerPool(threads).for_each(std::min({size_t{threads}, size_t{together_}, conditions_.size()}),
                                      [&](size_t, unsigned) { work(); });
    return more_;
  }

 private:
  void work() {
    for (size_t i; next(i);) {
      Trial trial = try_under(setup_, conditions_[i], i == 0 ? first_.recorder : nullptr,
                              i == 0 ? first_.more : std::span<sim::Observer* const>());
      const std::lock_guard lock(mutex_);
      ran_[i].emplace(std::move(trial));
      while (more_ && taken_ < ran_.size() && ran_[taken_]) {
        more_ = take_(std::move(*ran_[taken_]));
        ran_[taken_++].reset();
      }
      room_.notify_all();
    }
  }

  // Results that wait for an earlier one hold their outputs: there are not many of them.
  bool next(size_t& i) {
    std::unique_lock lock(mutex_);
    room_.wait(lock,
               [&] { return !more_ || begun_ < taken_ + size_t{2} * together_ || begun_ == ran_.size(); });
    if (!more_ || stopped(setup_.run) || begun_ == ran_.size()) return false;
    i = begun_++;
    return true;
  }

  const TrialSetup& setup_;
  std::span<const Conditions> conditions_;
  unsigned together_;
  TakeTrial take_;
  const FirstTrial& first_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::vector<std::optional<Trial>> ran_;
  size_t begun_ = 0, taken_ = 0;
  bool more_ = true;
};

}  // namespace

std::vector<Conditions> adverse_conditions() {
  std::vector<Conditions> out;
  for (const Kind kind : {Kind::functional, Kind::latest, Kind::earliest})
    out.push_back({.schedule = {kind, 0}, .order = {}});
  return out;
}

std::vector<Conditions> random_conditions(uint64_t first_seed, unsigned number) {
  std::vector<Conditions> out;
  for (unsigned i = 0; i < number; ++i)
    out.push_back({.schedule = {Kind::seeded, first_seed + i}, .order = {}});
  return out;
}

bool try_all(const TrialSetup& setup, std::span<const Conditions> conditions, unsigned together,
             TakeTrial take, const FirstTrial& first) {
  return SideBySide(setup, conditions, together, std::move(take), first).run();
}

bool stopped(const sim::RunOptions& run) {
  return run.stop != nullptr && run.stop->load(std::memory_order_relaxed);
}

}  // namespace palladion::verify
