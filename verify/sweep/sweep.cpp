#include "verify/sweep/sweep.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <utility>

#include "sim/schedule/worker_pool.h"

namespace palladion::verify {

using namespace host;

namespace {

class Sweep {
 public:
  Sweep(const TimeOne& time_one, const Progress<uint64_t>& progress, SweepReport& report, SweepState& state)
      : time_one_(time_one), progress_(progress), report_(report), state_(state) {}

  void run() {
    report_.all.resize(combinations(report_.axes));
    sim::WorkerPool(report_.threads).for_each(report_.all.size(), [&](size_t i, unsigned) {
      if (!progress_.stopped() && !broken_) one(i);
    });
    report_.interrupted = progress_.stopped();
  }
  const std::string& trouble() const { return trouble_; }

 private:
  void one(size_t i) {
    Timed& timed = report_.all[i];
    timed.settings = combination(report_.axes, i);
    bool taken_over = false;
    time_one_(timed, [&](uint64_t key) {
      const Timed* known = state_.find(key);
      taken_over = known != nullptr;
      return known;
    });
    if (!timed.done) return;
    if (timed.key != 0 && !taken_over)
      if (const auto kept = state_.append(timed); !kept) give_up(kept.error());
    finish(taken_over);
  }

  void finish(bool taken_over) {
    const std::lock_guard lock(mutex_);
    if (taken_over) ++report_.taken_over;
    ++done_;
    if (progress_.step) progress_.step(done_);
  }

  void give_up(const std::string& why) {
    const std::lock_guard lock(mutex_);
    trouble_ = why;
    broken_ = true;
  }

  const TimeOne& time_one_;
  const Progress<uint64_t>& progress_;
  SweepReport& report_;
  SweepState& state_;
  std::mutex mutex_;
  uint64_t done_ = 0;
  std::atomic<bool> broken_ = false;
  std::string trouble_;
};

}  // namespace

std::vector<size_t> SweepReport::ranking() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].done && all[i].cycles != 0) out.push_back(i);
  std::ranges::stable_sort(out, {}, [&](size_t i) { return std::pair(!all[i].slow.empty(), all[i].cycles); });
  return out;
}

std::vector<size_t> SweepReport::without_time() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < all.size(); ++i)
    if (all[i].done && all[i].cycles == 0) out.push_back(i);
  return out;
}

Outcome<SweepReport> sweep(const SweepRequest& request, const TimeOne& time_one,
                           const Progress<uint64_t>& progress) {
  const auto start = std::chrono::steady_clock::now();
  SweepReport report{.axes = request.axes, .threads = request.threads};
  auto state = SweepState::open(request.state, request.resumes, report.notes);
  if (!state) return tl::make_unexpected(state.error());
  Sweep all(time_one, progress, report, *state);
  all.run();
  if (!all.trouble().empty()) return user_error(all.trouble());
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace palladion::verify
