// Every combination of settings, ranked by time.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "isa/host/outcome.h"
#include "verify/schedules/progress.h"
#include "verify/sweep/axes.h"
#include "verify/sweep/state.h"

namespace palladion::verify {

struct SweepReport {
  std::vector<Axis> axes;
  std::vector<Timed> all;  // in the order of the combinations
  size_t taken_over = 0;   // of an earlier sweep
  bool interrupted = false;
  double seconds = 0;
  unsigned threads = 1;
  std::vector<std::string> notes;

  // Indices into `all`: those with a time, the fastest first, behind all others those that are slower than
  // their cycles; of equal ones the first combination.
  std::vector<size_t> ranking() const;
  // Those that are invalid, or did not end.
  std::vector<size_t> without_time() const;
};

struct SweepRequest {
  std::vector<Axis> axes;  // in the order given
  unsigned threads = 1;
  std::string state;     // a file that keeps what is done; empty: none
  bool resumes = false;  // the file must exist
};

// Times one configuration, which has its settings, or says why it has no time; from several threads. What
// `known` has of its key is taken over. Timed::done false: it was interrupted.
using KnownTime = std::function<const Timed*(uint64_t key)>;
using TimeOne = std::function<void(Timed& timed, const KnownTime& known)>;

// The error: the file of the state cannot be read or written.
host::Outcome<SweepReport> sweep(const SweepRequest& request, const TimeOne& time_one,
                                 const Progress<uint64_t>& progress = {});

}  // namespace palladion::verify
