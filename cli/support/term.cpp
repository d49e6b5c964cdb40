#include "cli/support/term.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace palladion::cli {

namespace {

std::atomic<bool> interrupt_seen = false;
static_assert(std::atomic<bool>::is_always_lock_free, "set in a signal handler");

extern "C" void on_interrupt(int) { interrupt_seen.store(true, std::memory_order_relaxed); }

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

std::string paint(std::string_view text, Style style, bool color) {
  static constexpr std::array<int, 8> codes = {0, 1, 2, 31, 32, 33, 34, 36};
  if (!color || style == Style::plain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[size_t(style)], text);
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
}

Progress::Progress(std::string label, uint64_t total)
    : label_(std::move(label)),
      total_(total),
      watched_(::isatty(STDERR_FILENO) != 0 && !drawing.exchange(true)) {}

Progress::~Progress() {
  finish();
  if (watched_) drawing = false;
}

void Progress::update(uint64_t done) {
  using namespace std::chrono_literals;
  if (!watched_) return;
  const auto now = Clock::now();
  if (now - start_ < 500ms || (drawn_ && now - last_draw_ < 100ms)) return;
  last_draw_ = now;
  drawn_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::fputs(("\r" + line(label_, done, total_, seconds, terminal_columns()) + "\x1b[K").c_str(), stderr);
  std::fflush(stderr);
}

void Progress::finish() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

std::string Progress::line(std::string_view label, uint64_t done, uint64_t total, double seconds,
                           int columns) {
  if (total == 0) return fmt::format("{} {}, {}", label, human_count(double(done)), human_seconds(seconds));
  done = std::min(done, total);
  const std::string tail = fmt::format(" {} %, {}", done * 100 / total, human_seconds(seconds));
  // One column stays free: some terminals wrap when the last one is written.
  const int room = std::min(40, columns - 1 - int(label.size()) - int(tail.size()) - 3);
  if (room < 5) return fmt::format("{}{}", label, tail);
  const auto full = size_t(double(done) / double(total) * room);
  return fmt::format("{} [{}{}]{}", label, std::string(full, '#'), std::string(size_t(room) - full, '-'),
                     tail);
}

void install_interrupt_handler() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  // The default comes back with the first one; calls in progress are not cut short.
  action.sa_flags = int(SA_RESETHAND | SA_RESTART);
  ::sigaction(SIGINT, &action, nullptr);
}

const std::atomic<bool>& interrupt_flag() { return interrupt_seen; }

}  // namespace palladion::cli
