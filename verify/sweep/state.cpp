#include "verify/sweep/state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <utility>

#include "isa/host/files.h"

namespace palladion::verify {

using namespace host;
using report::append, report::array_of, report::json_line, report::object_of;
namespace json = report::json;

namespace {

// Numbers are kept as texts: Boost.JSON 1.81 may read a double as its neighbour.
std::string exact(double number) { return fmt::format("{}", number); }

std::string text_in(const json::object& line, std::string_view key) {
  return std::string(std::string_view(line.at(key).as_string()));
}

double number_in(const json::object& line, std::string_view key) {
  const std::string text = text_in(line, key);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

uint64_t key_in(const std::string& hex) {
  uint64_t key = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), key, 16);
  return key;
}

tl::unexpected<Failure> no_state(const std::string& file, size_t line) {
  return user_error(fmt::format("{}:{}: this is no line of a sweep's state", file, line),
                    "--state takes a new file, or one that an earlier sweep wrote");
}

}  // namespace

json::object json_of(const SlowReason& slow) { return {{"code", slow.code.name()}, {"reason", slow.reason}}; }

std::string state_line(const Timed& t) {
  json::object line = {{"key", fmt::format("{:016x}", t.key)},
                       {"settings", object_of(t.settings)},
                       {"values", t.values == sim::Values::full ? "full" : "none"},
                       {"cycles", t.cycles}};
  if (t.cycles == 0)
    append(line, {{"code", t.code.name()}, {"reason", t.reason}});
  else
    append(line, {{"microseconds", exact(t.microseconds)},
                  {"tflops", exact(t.tflops)},
                  {"gb_per_s", exact(t.gb_per_s)},
                  {"critical", t.critical},
                  {"busy", exact(t.busy)},
                  {"limit", t.limit},
                  {"slow", array_of(t.slow, json_of)}});
  return json_line(line);
}

bool read_state_line(std::string_view text, Timed& t) {
  try {
    const json::object line = json::parse(text).as_object();
    t.key = key_in(text_in(line, "key"));
    t.settings.clear();
    for (const auto& [name, value] : line.at("settings").as_object())
      t.settings.emplace(name, value.as_string());
    t.values = text_in(line, "values") == "full" ? sim::Values::full : sim::Values::none;
    t.cycles = line.at("cycles").to_number<uint64_t>();
    t.done = true;
    if (t.cycles == 0) {
      t.code = isa::CodeNumber(text_in(line, "code"));
      t.reason = text_in(line, "reason");
      return true;
    }
    t.microseconds = number_in(line, "microseconds");
    t.tflops = number_in(line, "tflops");
    t.gb_per_s = number_in(line, "gb_per_s");
    t.critical = text_in(line, "critical");
    t.busy = number_in(line, "busy");
    t.limit = text_in(line, "limit");
    t.slow.clear();
    if (const json::value* const slow = line.if_contains("slow"))
      for (const json::value& each : slow->as_array())
        t.slow.push_back(
            {isa::CodeNumber(text_in(each.as_object(), "code")), text_in(each.as_object(), "reason")});
    return true;
  } catch (const std::exception&) {  // no JSON, or a member is missing or of another kind
    return false;
  }
}

Outcome<SweepState> SweepState::open(const std::string& file, bool must_exist,
                                     std::vector<std::string>& notes) {
  SweepState state;
  if (file.empty()) return state;
  state.file_ = file;
  std::error_code unknown;
  const bool exists = std::filesystem::exists(file, unknown);
  if (unknown) return user_error(fmt::format("{}: {}", file, unknown.message()));
  if (!exists && must_exist)
    return user_error(fmt::format("--resume {}: there is no such file", file), "--state FILE begins one");
  std::string text;
  if (exists) {
    auto read = read_text(file, most_of_records);
    if (!read) return user_error(read.error());
    text = std::move(*read);
  }
  size_t whole = 0;
  for (size_t number = 1; whole < text.size(); ++number) {
    const size_t end = text.find('\n', whole);
    Timed timed;
    const bool good = end != std::string::npos && read_state_line({text.data() + whole, end - whole}, timed);
    const bool last = end == std::string::npos || end + 1 == text.size();
    if (!good && (!last || whole == 0)) return no_state(file, number);
    if (!good) {
      notes.push_back(fmt::format("{}:{}: the last line was cut short and is done again", file, number));
      break;
    }
    state.known_.insert_or_assign(timed.key, std::move(timed));
    whole = end + 1;
  }
  if (!exists || whole < text.size())
    if (const auto written = write_text(file, std::string_view(text).substr(0, whole)); !written)
      return user_error(written.error());
  state.size_ = whole;
  state.descriptor_ = Descriptor(::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!state.descriptor_)
    return user_error(fmt::format("{}: cannot be written: {}", file, std::strerror(errno)));
  return state;
}

SweepState::SweepState(SweepState&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::move(other.descriptor_)),
      size_(other.size_),
      known_(std::move(other.known_)) {}

SweepState::~SweepState() {
  if (descriptor_) ::fdatasync(descriptor_.get());
}

const Timed* SweepState::find(uint64_t key) const {
  const auto at = known_.find(key);
  return at == known_.end() ? nullptr : &at->second;
}

tl::expected<void, std::string> SweepState::append(const Timed& timed) {
  using namespace std::chrono;
  if (!descriptor_) return {};
  const std::string line = state_line(timed) + "\n";
  const std::lock_guard lock(mutex_);
  // One write a line: a sweep that is killed leaves complete lines, but perhaps the last.
  const ssize_t put = ::write(descriptor_.get(), line.data(), line.size());
  if (put == ssize_t(line.size())) {
    size_ += line.size();
    const auto now = steady_clock::now();
    if (now - synced_ >= 1s) ::fdatasync(descriptor_.get()), synced_ = now;
    return {};
  }
  const int why = put < 0 ? errno : ENOSPC;
  if (put > 0) (void)!::ftruncate(descriptor_.get(), off_t(size_));  // no line may follow a part of one
  return tl::make_unexpected(fmt::format("{}: cannot be written: {}", file_, std::strerror(why)));
}

}  // namespace palladion::verify
