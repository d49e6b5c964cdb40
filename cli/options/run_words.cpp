#include "cli/options/run_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/options/words.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

constexpr NameAndDoc schedules[] = {
    {"functional", "fair and fast"},
    {"hardware", "the chip's own, with its clock: cycles, and where they went"},
    {"earliest", "asynchronous work is done as early as it may be"},
    {"latest", "asynchronous work waits until no warp can continue"},
    {"seeded:N", "random choices, repeated exactly by their seed"},
};
constexpr std::string_view schedule_names = "functional, hardware, seeded:N, latest, earliest";

constexpr NameAndDoc checks[] = {
    {"race", "conflicting accesses that nothing orders: threads, asynchronous operations, both proxies"},
    {"barrier", "mbarriers, named barriers, cluster barriers and groups against the rules of PTX"},
    {"memory", "uninitialised bytes, layouts that do not match, memory that is already released"},
    {"numerics", "infinities, NaNs and results that depend on an order"},
    {"fault", "always on: bad addresses, misaligned accesses, illegal instructions and operands"},
    {"deadlock", "always on: a run in which no warp can continue, and what each warp waits for"},
};

bool always_on(std::string_view word) { return word == "fault" || word == "deadlock"; }

// The first word that exists nowhere, when another one was meant: "did you mean `latest`?".
std::string meant(const std::string& text, const std::string& otherwise) {
  std::vector<std::string> known = {"functional", "hardware", "seeded", "latest", "earliest"};
  for (const std::string_view part : split(text, ",")) {
    const std::string_view word = part.substr(0, part.find_first_of(":="));
    const std::string near = nearest(word, known);
    if (!near.empty() && near != word) return fmt::format("did you mean `{}`?", near);
    known = {"resident", "order", "fail_waits", "elect", "lanes", "cancels"};
  }
  return otherwise;
}

}  // namespace

std::span<const NameAndDoc> schedule_words() { return schedules; }
std::span<const NameAndDoc> check_words() { return checks; }

Outcome<sim::check::Conditions> conditions_in(const std::string& text) {
  if (const auto conditions = sim::check::conditions_named(text)) return *conditions;
  return user_error(
      fmt::format("there is no schedule `{}`", text),
      meant(text, fmt::format("valid names: {}; then, with commas, resident=N, order=descending, "
                              "order=random:N, fail_waits=N, elect=N, lanes=N, cancels=N",
                              schedule_names)));
}

Outcome<sim::Schedule> schedule_in(const std::string& text) {
  if (const auto schedule = sim::schedule_named(text)) return *schedule;
  return user_error(fmt::format("there is no schedule `{}`", text), meant(text, std::string(schedule_names)));
}

Outcome<sim::check::Options> checks_in(const std::string& text) {
  std::vector<std::string_view> words = split(text, ",");
  const size_t given = words.size();
  std::erase_if(words, always_on);
  if (words.empty() && given != 0) words = {"none"};
  std::string unknown;
  if (const auto named = sim::check::options_named(fmt::format("{}", fmt::join(words, ",")), &unknown))
    return *named;
  return user_error(
      fmt::format("there is no check `{}`", unknown),
      suggestion(unknown, {"all", "none", "race", "barrier", "memory", "numerics", "fault", "deadlock"}));
}

std::string name(const sim::check::Options& o) {
  const std::pair<std::string_view, bool> all[] = {
      {"race", o.race}, {"barrier", o.barrier}, {"memory", o.memory}, {"numerics", o.numerics}};
  std::vector<std::string_view> on;
  for (const auto& [check, is_on] : all)
    if (is_on) on.push_back(check);
  if (on.size() == std::size(all)) return "all";
  return on.empty() ? "none" : fmt::format("{}", fmt::join(on, ","));
}

}  // namespace palladion::cli
