// The terminal: whether it takes colour, and the progress of a command.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "cli/support/exit_code.h"
#include "isa/host/interrupt.h"
#include "report/text/numbers.h"
#include "report/text/paint.h"

namespace palladion::cli {

// What --color says, for the whole program.
enum class ColorChoice : uint8_t { automatic, always, never };
ColorChoice& color_choice();

// What was chosen; automatic: on a terminal that takes colour. NO_COLOR (https://no-color.org) and TERM=dumb
// turn it off there.
bool wants_color(std::FILE* stream);

// What a command does and how far it is, on stderr. On a terminal one line, redrawn in place after half a
// second: "matmul_ws [#######-------] 52 %, 3.1 s, 2.9 s left". Elsewhere a line now and then, so that a log
// shows life: after ten seconds, then at twice the time of the line before, at most five minutes later.
// Nothing while another Progress shows. A thread draws, so that work that never calls `update` is seen as
// well.
class Progress {
 public:
  Progress(std::string label, uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // From any thread.
  void update(uint64_t done) { done_.store(done, std::memory_order_relaxed); }
  void step() { done_.fetch_add(1, std::memory_order_relaxed); }
  // Erases the line before other text is printed; it comes back.
  void pause();

  // The line after `seconds`.
  static std::string line(std::string_view label, uint64_t done, uint64_t total, double seconds, int columns);
  // "matmul_ws: 52 %, 31.0 s, about 28.6 s left"
  static std::string log_line(std::string_view label, uint64_t done, uint64_t total, double seconds);

 private:
  using Clock = std::chrono::steady_clock;
  void watch();
  void erase();

  std::string label_;
  uint64_t total_;
  std::atomic<uint64_t> done_ = 0;
  bool watched_;
  bool terminal_;
  bool drawn_ = false;
  bool ended_ = false;
  Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable ending_;
  std::thread watcher_;
};

}  // namespace palladion::cli
