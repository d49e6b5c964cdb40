// The results of a sweep, and the file that stores them: a line of JSON a configuration, written whole when
// the configuration is done.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "isa/host/descriptor.h"
#include "isa/host/outcome.h"
#include "report/json/document.h"
#include "sim/launch/clock.h"

namespace palladion::verify {

// What ptxas does to a kernel that its cycles do not show.
struct SlowReason {
  isa::CodeNumber code;
  std::string reason;

  bool operator==(const SlowReason&) const = default;
};
report::json::object json_of(const SlowReason& slow);

// One configuration.
struct Timed {
  uint64_t key = 0;  // of everything that its time depends on
  std::map<std::string, std::string> settings;
  bool done = false;
  uint64_t cycles = 0;  // 0: none, see `reason`
  double microseconds = 0, tflops = 0, gb_per_s = 0;
  std::string critical;  // the busiest resource, and for which share of the time
  double busy = 0;
  std::string limit;  // "tensor core", "waiting: mbarrier"
  sim::Values values = sim::Values::none;
  isa::CodeNumber code;  // why there is no time, where that has one
  std::string reason;
  std::vector<SlowReason> slow;  // why it is slower than its cycles
};

// One line, without its end.
std::string state_line(const Timed& timed);
// False when it is no such line.
bool read_state_line(std::string_view line, Timed& timed);

class SweepState {
 public:
  // No file: nothing is kept. `must_exist`: for --resume. A last line that was cut short is dropped, and
  // reported in `notes`; any other line that cannot be read is an error: the file is something else. The file
  // without that line replaces the old one.
  static host::Outcome<SweepState> open(const std::string& file, bool must_exist,
                                        std::vector<std::string>& notes);
  SweepState(SweepState&& other) noexcept;
  ~SweepState();  // what was appended is on the disk

  const Timed* find(uint64_t key) const;
  // A whole line or nothing, from any thread; on the disk a second later. The error is a sentence.
  tl::expected<void, std::string> append(const Timed& timed);

 private:
  SweepState() = default;
  std::string file_;
  host::Descriptor descriptor_;
  uint64_t size_ = 0;  // bytes, of whole lines
  std::chrono::steady_clock::time_point synced_;
  std::map<uint64_t, Timed> known_;
  std::mutex mutex_;
};

}  // namespace palladion::verify
