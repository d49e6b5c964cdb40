// The terminal: colour and progress only on a terminal, and Ctrl-C as a flag.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace palladion::cli {

enum class Style { plain, bold, dim, red, green, yellow, blue, cyan };

// True on a terminal that takes colour; NO_COLOR (https://no-color.org) and TERM=dumb turn it off.
bool wants_color(std::FILE* stream);

// `text` in `style` when `color`, else unchanged.
std::string paint(std::string_view text, Style style, bool color);

// "1.5 s", "312 ms", "45 us": three digits.
std::string human_seconds(double seconds);
// "384 MiB"
std::string human_bytes(uint64_t bytes);
// "1 234 567" is hard to grep: "1.23 M" for text, exact numbers are in the JSON.
std::string human_count(double count);

// One line on stderr, redrawn in place: "matmul_ws [#######-------] 52 %, 3.1 s". Draws nothing when
// stderr is no terminal, in the first half second of work, nor while another Progress does.
class Progress {
 public:
  Progress(std::string label, uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Cheap enough for every call back of a run: draws ten times a second at most.
  void update(uint64_t done);
  void finish();

  // The line that update(done) draws after `seconds`.
  static std::string line(std::string_view label, uint64_t done, uint64_t total, double seconds, int columns);

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  uint64_t total_;
  bool watched_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_draw_ = start_;
};

// From here on the first Ctrl-C only sets the flag, so that a run can end with its results so far; the second
// one ends the program as usual.
void install_interrupt_handler();
const std::atomic<bool>& interrupt_flag();
inline bool interrupted() { return interrupt_flag().load(std::memory_order_relaxed); }

}  // namespace palladion::cli
