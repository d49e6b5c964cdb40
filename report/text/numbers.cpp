#include "report/text/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace palladion::report {
namespace {

// Three significant digits, never in exponent form.
std::string three_digits(double number) {
  const double size = std::abs(number);
  return fmt::format("{:.{}f}", number, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

}  // namespace

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

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, " ");
  return digits;
}

std::string plural(uint64_t n, std::string_view word) {
  return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s");
}

}  // namespace palladion::report
