#include "sim/launch/schedule.h"

#include <charconv>

namespace palladion::sim {

std::optional<Schedule> schedule_named(std::string_view text) {
  if (text == "functional") return Schedule{};
  if (text == "latest") return Schedule{Schedule::Kind::latest, 0};
  if (text == "earliest") return Schedule{Schedule::Kind::earliest, 0};
  if (text == "hardware") return Schedule{Schedule::Kind::hardware, 0};
  if (!text.starts_with("seeded:")) return std::nullopt;
  text.remove_prefix(7);
  Schedule s{Schedule::Kind::seeded, 0};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), s.seed);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return s;
}

std::string name(const Schedule& schedule) {
  switch (schedule.kind) {
    case Schedule::Kind::functional:
      return "functional";
    case Schedule::Kind::latest:
      return "latest";
    case Schedule::Kind::earliest:
      return "earliest";
    case Schedule::Kind::hardware:
      return "hardware";
    case Schedule::Kind::seeded:
      return "seeded:" + std::to_string(schedule.seed);
  }
  return "functional";
}

}  // namespace palladion::sim
