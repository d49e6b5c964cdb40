#include "cli/support/term.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "isa/core/visible.h"

namespace palladion::cli {

namespace {

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

int terminal_columns() {
  winsize size{};
  constexpr int usual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

// Three significant digits, never in exponent form.
std::string three_digits(double number) {
  const double size = std::abs(number);
  return fmt::format("{:.{}f}", number, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

}  // namespace

bool wants_color(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  return ::isatty(::fileno(stream)) != 0 && !is_set("NO_COLOR") && !dumb;
}

std::string human_seconds(double seconds) {
  if (seconds >= 1 || seconds == 0) return three_digits(seconds) + " s";
  if (seconds >= 1e-3) return three_digits(seconds * 1e3) + " ms";
  return three_digits(seconds * 1e6) + " us";
}

std::string human_bytes(uint64_t bytes) {
  static constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  double size = double(bytes);
  size_t unit = 0;
  while (size >= 1024 && unit + 1 < units.size()) size /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{} {}", three_digits(size), units[unit]);
}

std::string human_count(double count) {
  static constexpr std::array<const char*, 5> units = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  while (std::abs(count) >= 1000 && unit + 1 < units.size()) count /= 1000, ++unit;
  return unit == 0 ? fmt::format("{}", count) : three_digits(count) + units[unit];
}

namespace {

std::atomic<bool> drawing = false;  // by some Progress

// Straight to the descriptor: nothing stays in a buffer when the program is ended.
void draw(const std::string& text) { (void)!::write(STDERR_FILENO, text.data(), text.size()); }

// ", 28.6 s left" at the rate so far; nothing while there is none.
std::string left_text(uint64_t done, uint64_t total, double seconds, std::string_view about) {
  if (done == 0 || done >= total || seconds < 1) return {};
  return fmt::format(", {}{} left", about,
                     human_seconds(seconds * static_cast<double>(total - done) / static_cast<double>(done)));
}

}  // namespace

Progress::Progress(std::string label, uint64_t total)
    : label_(isa::visible(label)),
      total_(total),
      watched_(!drawing.exchange(true)),
      terminal_(::isatty(STDERR_FILENO) != 0) {
  if (watched_) watcher_ = std::thread([this] { watch(); });
}

Progress::~Progress() {
  if (!watched_) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  watcher_.join();
  erase();
  drawing = false;
}

void Progress::watch() {
  using namespace std::chrono_literals;
  Clock::duration next = terminal_ ? Clock::duration(500ms) : Clock::duration(10s);
  std::unique_lock lock(mutex_);
  while (!ending_.wait_until(lock, start_ + next, [this] { return ended_; })) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (terminal_) {
      draw("\r" + line(label_, done_, total_, seconds, terminal_columns()) + "\x1b[K");
      drawn_ = true;
      next = Clock::now() - start_ + 100ms;
    } else {
      draw(log_line(label_, done_, total_, seconds) + "\n");
      next += std::min<Clock::duration>(next, 5min);
    }
  }
}

void Progress::pause() {
  const std::lock_guard lock(mutex_);
  erase();
}

void Progress::erase() {
  if (std::exchange(drawn_, false)) draw("\r\x1b[K");
}

std::string Progress::log_line(std::string_view label, uint64_t done, uint64_t total, double seconds) {
  if (total <= 1) return fmt::format("{}: running, {}", label, human_seconds(seconds));
  done = std::min(done, total);
  return fmt::format("{}: {} of {}, {}{}", label, done, total, human_seconds(seconds),
                     left_text(done, total, seconds, "about "));
}

std::string Progress::line(std::string_view label, uint64_t done, uint64_t total, double seconds,
                           int columns) {
  if (total == 0) return fmt::format("{} {}, {}", label, human_count(double(done)), human_seconds(seconds));
  done = std::min(done, total);
  const std::string short_tail = fmt::format(" {} %, {}", done * 100 / total, human_seconds(seconds));
  const std::string long_tail = short_tail + left_text(done, total, seconds, "");
  const bool fits = label.size() + long_tail.size() + 10 < static_cast<size_t>(std::max(columns, 0));
  const std::string& tail = fits ? long_tail : short_tail;
  // One column stays free: some terminals wrap when the last one is written.
  const int room = std::min(40, columns - 1 - int(label.size()) - int(tail.size()) - 3);
  if (room < 5) return fmt::format("{}{}", label, tail);
  const auto full = size_t(double(done) / double(total) * room);
  return fmt::format("{} [{}{}]{}", label, std::string(full, '#'), std::string(size_t(room) - full, '-'),
                     tail);
}

}  // namespace palladion::cli
