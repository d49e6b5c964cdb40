// How long a process and all that it started were ready to run and waited for a processor, which is the
// host's doing and not theirs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <vector>

namespace palladion::labs {

// The processes below `ancestor`, without itself; empty where /proc numbers processes as another namespace
// does.
std::vector<pid_t> descendants(pid_t ancestor);

class RunQueue {
 public:
  explicit RunQueue(pid_t first) : first_(first) {}

  // Since the call before: the wait of the thread that waited longest (/proc/PID/task/TID/schedstat, its
  // second field). 0 where the kernel does not count it.
  std::chrono::nanoseconds waited();

 private:
  pid_t first_;
  std::map<pid_t, std::chrono::nanoseconds> of_threads_;
};

// A limit of wall time that time in the run queue extends, to four times its length at most: who starts many
// processes to wait for one another gains no more than that.
class WallLimit {
 public:
  explicit WallLimit(std::chrono::nanoseconds length) : length_(length) {}

  void extend(std::chrono::nanoseconds waited) { extended_ += waited; }
  // Of the time since the begin.
  bool is_reached(std::chrono::nanoseconds elapsed) const {
    return elapsed >= 4 * length_ || elapsed - extended_ >= length_;
  }

 private:
  std::chrono::nanoseconds length_, extended_{};
};

}  // namespace palladion::labs
