#include "cli/sweep/sweep_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/options/clock_settings.h"
#include "cli/support/files.h"
#include "cli/support/json.h"

namespace palladion::cli {
namespace {

// JsonWriter breaks lines between values alone: in strings it escapes them.
std::string in_one_line(const std::string& text) {
  std::string out;
  bool indent = false;
  for (const char c : text) {
    indent = c == '\n' || (indent && c == ' ');
    if (!indent) out += c;
  }
  return out;
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

std::string state_line(const Timed& t) {
  JsonWriter json;
  json.begin_object().member("key", fmt::format("{:016x}", t.key)).key("settings").begin_object();
  for (const auto& [name, value] : t.settings) json.member(name, value);
  json.end_object().member("values", name(t.values)).member("cycles", t.cycles);
  if (t.cycles == 0) {
    json.member("code", t.code).member("reason", t.reason);
  } else {
    json.member("microseconds", t.microseconds).member("tflops", t.tflops).member("gb_per_s", t.gb_per_s);
    json.member("critical", t.critical).member("busy", t.busy).member("limit", t.limit);
  }
  json.end_object();
  return in_one_line(json.text());
}

bool read_state_line(std::string_view line, Timed& t) {
  try {
    const auto json = nlohmann::json::parse(line);
    t.key = key_in(json.at("key").get<std::string>());
    t.settings = json.at("settings").get<std::map<std::string, std::string>>();
    t.values = json.at("values") == "full" ? sim::Values::full : sim::Values::none;
    t.cycles = json.at("cycles").get<uint64_t>();
    t.done = true;
    if (t.cycles == 0) {
      t.code = json.at("code").get<std::string>();
      t.reason = json.at("reason").get<std::string>();
      return true;
    }
    t.microseconds = json.at("microseconds").get<double>();
    t.tflops = json.at("tflops").get<double>();
    t.gb_per_s = json.at("gb_per_s").get<double>();
    t.critical = json.at("critical").get<std::string>();
    t.busy = json.at("busy").get<double>();
    t.limit = json.at("limit").get<std::string>();
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

Outcome<SweepState> SweepState::open(const std::string& file, bool must_exist,
                                     std::vector<std::string>& notes) {
  SweepState state;
  if (file.empty()) return state;
  state.file_ = file;
  const bool exists = std::filesystem::exists(file);
  if (!exists && must_exist)
    return user_error(fmt::format("--resume {}: there is no such file", file), "--state FILE begins one");
  std::string text;
  if (exists) {
    auto read = read_text(file);
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
  state.descriptor_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (state.descriptor_ < 0 || (whole < text.size() && ::ftruncate(state.descriptor_, off_t(whole)) != 0))
    return user_error(fmt::format("{}: cannot be written: {}", file, std::strerror(errno)));
  return state;
}

SweepState::SweepState(SweepState&& other) noexcept
    : file_(std::move(other.file_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      known_(std::move(other.known_)) {}

SweepState::~SweepState() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

const Timed* SweepState::find(uint64_t key) const {
  const auto at = known_.find(key);
  return at == known_.end() ? nullptr : &at->second;
}

tl::expected<void, std::string> SweepState::append(const Timed& timed) {
  if (descriptor_ < 0) return {};
  const std::string line = state_line(timed) + "\n";
  const std::lock_guard lock(mutex_);
  // One write a line: what is interrupted leaves whole lines behind.
  if (::write(descriptor_, line.data(), line.size()) == ssize_t(line.size())) return {};
  return tl::make_unexpected(fmt::format("{}: cannot be written: {}", file_, std::strerror(errno)));
}

}  // namespace palladion::cli
