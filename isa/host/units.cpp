#include "isa/host/units.h"

#include <charconv>
#include <cmath>
#include <initializer_list>

namespace palladion::host {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// A number that is not negative, and one of the units behind it, in either case of letters.
std::optional<double> number_with(std::string_view text, std::initializer_list<Unit> units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0) || std::isinf(value)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  for (const Unit& u : units)
    if (std::equal(unit.begin(), unit.end(), u.name.begin(), u.name.end(), same)) return value * u.factor;
  return std::nullopt;
}

}  // namespace

std::optional<uint64_t> bytes_in(std::string_view text) {
  constexpr double k = 1e3, ki = 1024;
  const auto bytes = number_with(text, {{"", 1},
                                        {"B", 1},
                                        {"K", k},
                                        {"KB", k},
                                        {"KiB", ki},
                                        {"M", k * k},
                                        {"MB", k * k},
                                        {"MiB", ki * ki},
                                        {"G", k * k * k},
                                        {"GB", k * k * k},
                                        {"T", k * k * k * k},
                                        {"TB", k * k * k * k},
                                        {"GiB", ki * ki * ki},
                                        {"TiB", ki * ki * ki * ki}});
  if (!bytes || *bytes > 0x1p63) return std::nullopt;
  uint64_t whole = 0;  // exactly, where it is a whole number without a unit
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  return error == std::errc() && end == text.data() + text.size() ? whole : static_cast<uint64_t>(*bytes);
}

std::optional<std::chrono::milliseconds> time_in(std::string_view text) {
  const auto ms =
      number_with(text, {{"", 1e3}, {"s", 1e3}, {"ms", 1}, {"min", 60e3}, {"m", 60e3}, {"h", 3600e3}});
  if (!ms || *ms > 1e15) return std::nullopt;
  return std::chrono::milliseconds(std::llround(*ms));
}

std::optional<double> megahertz_in(std::string_view text) {
  return number_with(text, {{"", 1}, {"MHz", 1}, {"GHz", 1e3}});
}

}  // namespace palladion::host
