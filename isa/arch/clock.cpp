#include "isa/arch/clock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "isa/arch/codes.h"
#include "isa/core/trim.h"

#include <isa/arch/clock_files.h>  // made by cmake/ClockFiles.cmake of isa/arch/clock/*.clock

namespace palladion::isa {
namespace {

constexpr std::pair<std::string_view, std::string_view> op_parts[] = {
    {"slots", "instructions"}, {"interval", "cycles"}, {"latency", "cycles"}, {"held", "cycles"}};
constexpr size_t optional_part = 3;

double& part(OpCost& cost, size_t i) {
  return i == 0 ? cost.slots : i == 1 ? cost.interval : i == 2 ? cost.latency : cost.held;
}

struct Line {
  std::string_view key, unit;
  double value = 0;
};

// key = value unit | ...
bool read(std::string_view text, Line& line) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  line.key = trimmed(text.substr(0, equals));
  const std::string_view rest = trimmed(text.substr(equals + 1, text.find('|') - equals - 1));
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line.value);
  line.unit = trimmed(rest.substr(static_cast<size_t>(end - rest.data())));
  return error == std::errc{} && !line.key.empty() && std::ranges::count(text, '|') == 3;
}

// Index of the unit that a latency key, or a parameter's key ("tma.queue", "op.tensor_load.slots"), belongs
// to; -1: to none that a chip may lack.
int unit_of_op(std::string_view op) {
  const auto has = [&](const ClockUnit& u) { return std::ranges::find(u.ops, op) != u.ops.end(); };
  const auto found = std::ranges::find_if(clock_units(), has);
  return found == clock_units().end() ? -1 : static_cast<int>(found - clock_units().begin());
}
int unit_of_key(std::string_view key) {
  const std::string_view first = key.substr(0, key.find('.'));
  if (first == "op") {
    key.remove_prefix(first.size() + 1);
    return unit_of_op(key.substr(0, key.find('.')));
  }
  const auto found = std::ranges::find(clock_units(), first, &ClockUnit::name);
  return found == clock_units().end() ? -1 : static_cast<int>(found - clock_units().begin());
}

// Reads a file, and those that it inherits before its own lines.
class Reader {
 public:
  explicit Reader(ClockParameters::Parents parents) : parents_(parents) {
    parameters_.ops.resize(op_keys().size());
    for (const ClockField& f : clock_fields()) add_place(std::string(f.key), parameters_.*f.member, f.unit);
    for (size_t k = 0; k < op_keys().size(); ++k)
      for (size_t i = 0; i < std::size(op_parts); ++i)
        add_place(fmt::format("op.{}.{}", op_keys()[k], op_parts[i].first), part(parameters_.ops[k], i),
                  op_parts[i].second, i == optional_part);
  }

  void read_file(std::string_view text, std::string_view file) {
    at_ = {std::string(file), 0, 0};
    for (; !text.empty();) {
      const auto end = text.find('\n');
      ++at_.line;
      take(trimmed(text.substr(0, std::min(end, text.find('#')))));
      text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    at_.line = 0;
  }

  tl::expected<ClockParameters, Diagnostics> result() {
    for (const auto& [key, place] : places_)
      if (place.state == State::missing && !place.optional && !is_absent(place.clock_unit))
        error(ClockCode::missing_parameter,
              fmt::format("the parameter `{}` ({}) is missing", key, place.unit));
    if (!errors_.empty()) return tl::make_unexpected(std::move(errors_));
    return std::move(parameters_);
  }

 private:
  enum class State : uint8_t { missing, inherited, given };  // given: in this file
  struct Place {
    double* value = nullptr;
    std::string_view unit;  // "cycles"
    int clock_unit = -1;    // index in clock_units()
    bool optional = false;
    State state = State::missing;
  };

  void add_place(const std::string& key, double& value, std::string_view unit, bool optional = false) {
    places_[key] = {&value, unit, unit_of_key(key), optional};
  }

  void take(std::string_view line) {
    constexpr std::string_view inherit_word = "inherit ", without_word = "without ";
    if (line.empty()) return;
    if (line.starts_with(inherit_word)) return inherit(trimmed(line.substr(inherit_word.size())));
    if (line.starts_with(without_word)) return leave_out(trimmed(line.substr(without_word.size())));
    value(line);
  }

  void value(std::string_view text) {
    Line line;
    if (!read(text, line))
      return error(ClockCode::unreadable_line,
                   fmt::format("`{}`: expected `key = value unit | spread | date | source`", text));
    const auto place = places_.find(std::string(line.key));
    if (place == places_.end())
      return error(ClockCode::unknown_parameter, fmt::format("unknown parameter `{}`", line.key));
    Place& p = place->second;
    if (line.unit != p.unit || !(line.value >= 0))
      return error(ClockCode::bad_value, fmt::format("`{}` is {} {}: it must be a number of {}, not negative",
                                                     line.key, line.value, line.unit, p.unit));
    if (p.state == State::given)
      return error(ClockCode::bad_value, fmt::format("`{}` is given twice", line.key));
    if (p.clock_unit >= 0 && (left_out_ >> p.clock_unit & 1) != 0)
      return contradiction(line.key, p.clock_unit);
    if (p.clock_unit >= 0) parameters_.absent &= ~(1U << p.clock_unit);
    p.state = State::given;
    *p.value = line.value;
  }

  void inherit(std::string_view name) {
    const auto is_missing = [](const auto& p) { return p.second.state == State::missing; };
    if (parameters_.absent != 0 || !std::ranges::all_of(places_, is_missing))
      return error(ClockCode::bad_inheritance,
                   fmt::format("`inherit {}` must stand before all parameters, once", name));
    if (std::ranges::find(chain_, name) != chain_.end())
      return error(ClockCode::bad_inheritance,
                   fmt::format("`{}` inherits itself: {} -> {}", name, fmt::join(chain_, " -> "), name));
    const std::string_view text = parents_(name);
    if (text.empty())
      return error(ClockCode::bad_inheritance, fmt::format("there is no file `{}` to inherit", name));
    const SourceLoc here = at_;
    chain_.emplace_back(name);
    read_file(text, fmt::format("{}.clock", name));
    chain_.pop_back();
    left_out_ = 0;
    at_ = here;
    for (auto& [key, place] : places_)
      if (place.state == State::given) place.state = State::inherited;
  }

  void leave_out(std::string_view name) {
    const auto unit = std::ranges::find(clock_units(), name, &ClockUnit::name);
    if (unit == clock_units().end())
      return error(ClockCode::unknown_parameter, fmt::format("unknown unit `{}`", name));
    const auto index = static_cast<int>(unit - clock_units().begin());
    for (auto& [key, place] : places_) {
      if (place.clock_unit != index) continue;
      if (place.state == State::given) contradiction(key, index);
      place.state = State::missing;
      *place.value = 0;
    }
    parameters_.absent |= 1U << index;
    left_out_ |= 1U << index;
  }

  void contradiction(std::string_view key, int unit) {
    error(ClockCode::bad_value, fmt::format("`{}` is given, although the chip is without {}", key,
                                            clock_units()[static_cast<size_t>(unit)].name));
  }

  bool is_absent(int unit) const { return unit >= 0 && (parameters_.absent >> unit & 1) != 0; }

  void error(ClockCode code, std::string message) {
    Diagnostic d;
    d.code = code;
    d.message = std::move(message);
    d.loc = at_;
    errors_.push_back(std::move(d));
  }

  ClockParameters::Parents parents_;
  SourceLoc at_;
  std::vector<std::string> chain_;  // of inherited files that are being read
  uint32_t left_out_ = 0;           // units, by this file
  ClockParameters parameters_{};
  std::map<std::string, Place> places_;
  Diagnostics errors_;
};

}  // namespace

tl::expected<ClockParameters, Diagnostics> ClockParameters::parse(std::string_view text,
                                                                  std::string_view file, Parents parents) {
  Reader reader(parents);
  reader.read_file(text, file);
  return reader.result();
}

tl::expected<ClockParameters, Diagnostics> ClockParameters::parse(std::string_view text,
                                                                  std::string_view file) {
  return parse(text, file, clock_file);
}

std::string_view ClockParameters::absent_unit_of(std::string_view key) const {
  if (absent == 0) return {};
  const int unit = unit_of_op(key);
  return unit >= 0 && (absent >> unit & 1) != 0 ? clock_units()[static_cast<size_t>(unit)].name
                                                : std::string_view{};
}

ClockParameters ClockParameters::at_sm_clock() const {
  ClockParameters p = *this;
  const double slower = sm_clock / sm_clock_measured;
  for (double* latency :
       {&p.hbm_latency, &p.hbm_spread, &p.hbm_loaded_latency, &p.hbm_scattered, &p.hbm_write_queue})
    *latency *= slower;
  p.sm_clock_measured = sm_clock;
  return p;
}

const OpCost& ClockParameters::cost(std::string_view key) const {
  const int i = op_key(key);
  PLD_CHECK(i >= 0);  // tests hold every op's key against the list
  return ops[static_cast<size_t>(i)];
}

std::string_view clock_file(std::string_view arch) {
  for (const ClockFile& f : clock_files)
    if (f.arch == arch) return f.text;
  return {};
}

const ClockParameters* find_clock(std::string_view arch) {
  static const std::map<std::string_view, ClockParameters> all = [] {
    std::map<std::string_view, ClockParameters> parsed;
    for (const ClockFile& f : clock_files) {
      auto p = ClockParameters::parse(f.text, f.arch);
      PLD_CHECK(p.has_value());  // tests read every file of isa/arch/clock
      parsed.emplace(f.arch, std::move(*p));
    }
    return parsed;
  }();
  const auto found = all.find(arch);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace palladion::isa
