#include "sim/explore/conditions.h"

#include <fmt/format.h>

#include <charconv>

namespace palladion::sim::check {
namespace {

constexpr uint64_t most_resident = 4096;  // clusters: each CTA may have all shared memory of an SM

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string name(const StartOrder& order) {
  if (order.kind == StartOrder::Kind::descending) return "descending";
  return order.kind == StartOrder::Kind::ascending ? "ascending" : fmt::format("random:{}", order.seed);
}

std::optional<StartOrder> order_named(std::string_view text) {
  if (text == "ascending") return StartOrder{};
  if (text == "descending") return StartOrder{StartOrder::Kind::descending, 0};
  if (!text.starts_with("random:")) return std::nullopt;
  const auto seed = number(text.substr(7));
  if (!seed) return std::nullopt;
  return StartOrder{StartOrder::Kind::random, *seed};
}

bool take(Conditions& c, std::string_view key, std::string_view value) {
  if (key == "order") {
    const auto order = order_named(value);
    if (order) c.order = *order;
    return order.has_value();
  }
  const auto n = number(value);
  if (key == "cancels") {  // of none is a choice, too
    if (!n || *n >= RunOptions{}.cancels) return false;
    c.cancels = static_cast<uint32_t>(*n);
    return true;
  }
  uint64_t* const into = key == "resident"     ? &c.resident
                         : key == "fail_waits" ? &c.fail_waits
                         : key == "elect"      ? &c.elect
                         : key == "lanes"      ? &c.lanes
                                               : nullptr;
  if (into == nullptr || !n || *n == 0) return false;
  *into = *n;
  return true;
}

}  // namespace

void Conditions::apply(RunOptions& options) const {
  options.schedule = schedule;
  options.resident_clusters = resident;
  options.order = order;
  options.fail_waits = fail_waits;
  options.elect = elect;
  options.lanes = lanes;
  options.cancels = cancels;
}

std::string name(const Conditions& c) {
  std::string text = sim::name(c.schedule);
  if (c.resident != 0) text += fmt::format(",resident={}", c.resident);
  if (c.order.kind != StartOrder::Kind::ascending) text += ",order=" + name(c.order);
  if (c.fail_waits != 0) text += fmt::format(",fail_waits={}", c.fail_waits);
  if (c.elect != 0) text += fmt::format(",elect={}", c.elect);
  if (c.lanes != 0) text += fmt::format(",lanes={}", c.lanes);
  if (c.cancels != RunOptions{}.cancels) text += fmt::format(",cancels={}", c.cancels);
  return text;
}

std::optional<Conditions> conditions_named(std::string_view text) {
  size_t comma = text.find(',');
  const auto schedule = schedule_named(text.substr(0, comma));
  if (!schedule) return std::nullopt;
  Conditions c{.schedule = *schedule, .order = {}};
  while (comma != std::string_view::npos) {
    text.remove_prefix(comma + 1);
    comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos || !take(c, word.substr(0, equals), word.substr(equals + 1)))
      return std::nullopt;
  }
  return c;
}

std::vector<Conditions> hostile_waits_and_leaders() {
  using K = Schedule::Kind;
  return {{.schedule = {K::functional, 0}, .order = {}, .fail_waits = 1},
          {.schedule = {K::latest, 0}, .order = {}, .fail_waits = 2},
          {.schedule = {K::functional, 0}, .order = {}, .elect = 1},
          {.schedule = {K::latest, 0}, .order = {}, .elect = 2},
          {.schedule = {K::seeded, 1}, .order = {}, .fail_waits = 3, .elect = 3}};
}

std::vector<std::vector<Conditions>> hostile_residencies(uint64_t clusters, uint64_t room) {
  std::vector<std::vector<Conditions>> out;
  if (clusters <= 1) return out;
  const StartOrder ascending, descending{StartOrder::Kind::descending, 0},
      random{StartOrder::Kind::random, 1};
  const Schedule usual;
  if (room > 1) out.push_back({{usual, 1, ascending}, {usual, 1, descending}, {usual, 1, random}});
  out.push_back({{usual, 0, descending}, {usual, 0, random}});
  if (clusters > room && clusters <= most_resident) out.push_back({{usual, clusters, ascending}});
  return out;
}

}  // namespace palladion::sim::check
