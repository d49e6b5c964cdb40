#include "traces/scopes.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

namespace palladion::traces {
namespace {

// The next word of a line.
std::string_view word(std::string_view& line) {
  while (line.starts_with(' ')) line.remove_prefix(1);
  const std::string_view out = line.substr(0, line.find(' '));
  line.remove_prefix(out.size());
  while (line.starts_with(' ')) line.remove_prefix(1);
  return out;
}

template <class T>
bool number(std::string_view& line, T& value) {
  const std::string_view text = word(line);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

bool read_line(ScopeTimes& t, std::string_view line) {
  const std::string_view key = word(line);
  if (key == "what") return t.what = line, true;
  if (key == "kernel") return t.kernel = line, true;
  if (key == "sm_clock_mhz") return number(line, t.sm_clock_mhz);
  if (key == "lane") {
    ScopeLane lane;
    const bool ok = number(line, lane.cta) && number(line, lane.warpgroup) && number(line, lane.sm) &&
                    (line.empty() || number(line, lane.lost));
    t.lanes.push_back(std::move(lane));
    return ok;
  }
  Scope scope;
  if (key != "scope" || t.lanes.empty() || !number(line, scope.from) || !number(line, scope.to)) return false;
  if (scope.to < scope.from || line.empty()) return false;
  scope.name = line;
  t.lanes.back().scopes.push_back(std::move(scope));
  return true;
}

Track lane_track(const Track& process, uint64_t cta, const ScopeLane* lane) {
  Track t{.parent = process.id, .kind = TrackKind::group, .order = 1 << 20, .name = "scopes of the author"};
  std::string place = fmt::format("{}/scopes", process.id);
  const uint64_t all = track_id(place);
  if (cta != ~0ULL) {
    place += fmt::format("/{}", cta);
    t = {.parent = all,
         .kind = TrackKind::cta,
         .order = static_cast<int>(cta),
         .name = fmt::format("CTA {}", cta)};
  }
  if (lane != nullptr) {
    t = {.parent = track_id(place), .kind = TrackKind::role, .order = static_cast<int>(lane->warpgroup)};
    t.name = fmt::format("warpgroup {}, on SM {}", lane->warpgroup, lane->sm);
    place += fmt::format("/{}", lane->warpgroup);
  }
  t.id = track_id(place);
  return t;
}

bool add_lane(Sink& sink, const Track& track, const ScopeLane& lane, uint64_t shift) {
  if (!sink.add(track)) return false;
  for (const Scope& s : lane.scopes) {
    Event e{.track = track.id, .from = s.from + shift, .to = s.to + shift, .category = Category::scope};
    e.name = s.name;
    e.args = {{"cycles", s.to - s.from}};
    if (!sink.add(e)) return false;
  }
  return true;
}

using Means = std::map<std::pair<uint32_t, std::string>, std::pair<uint64_t, uint64_t>>;  // sum, count

Means means_of(const ScopeTimes& times) {
  Means out;
  for (const ScopeLane& lane : times.lanes)
    for (const Scope& s : lane.scopes) {
      auto& [sum, count] = out[{lane.warpgroup, s.name}];
      sum += s.to - s.from;
      ++count;
    }
  return out;
}

}  // namespace

std::string to_text(const ScopeTimes& t) {
  std::string out = fmt::format("what {}\nkernel {}\nsm_clock_mhz {}\n", t.what, t.kernel, t.sm_clock_mhz);
  for (const ScopeLane& lane : t.lanes) {
    out += fmt::format("lane {} {} {} {}\n", lane.cta, lane.warpgroup, lane.sm, lane.lost);
    for (const Scope& s : lane.scopes) out += fmt::format("scope {} {} {}\n", s.from, s.to, s.name);
  }
  return out;
}

tl::expected<ScopeTimes, std::string> scopes_from(std::string_view text) {
  ScopeTimes t;
  for (size_t n = 1; !text.empty(); ++n) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty() && !line.starts_with('#') && !read_line(t, line))
      return tl::make_unexpected(
          fmt::format("line {}: `{}` is none of what, kernel, sm_clock_mhz, lane, scope", n, line));
  }
  return t;
}

bool add_scopes(Sink& sink, const ScopeTimes& times, const Track& process, uint64_t first, uint64_t last,
                uint64_t shift) {
  bool begun = false;
  uint64_t cta = ~0ULL;
  for (const ScopeLane& lane : times.lanes) {
    if (lane.cta < first || lane.cta > last) continue;
    if (!begun && !sink.add(lane_track(process, ~0ULL, nullptr))) return false;
    begun = true;
    if (lane.cta != cta && !sink.add(lane_track(process, lane.cta, nullptr))) return false;
    cta = lane.cta;
    if (!add_lane(sink, lane_track(process, lane.cta, &lane), lane, shift)) return false;
  }
  return true;
}

std::string compare_scopes(const ScopeTimes& simulated, const ScopeTimes& device) {
  const Means here = means_of(simulated), there = means_of(device);
  std::string out;
  for (const auto& [key, mean] : here) {
    const auto other = there.find(key);
    const double a = static_cast<double>(mean.first) / static_cast<double>(mean.second);
    out += fmt::format("warpgroup {} {:<16} simulated {:>10.0f}", key.first, key.second, a);
    if (other != there.end()) {
      const double b = static_cast<double>(other->second.first) / static_cast<double>(other->second.second);
      out += fmt::format(", device {:>10.0f} cycles on average", b);
      if (b > 0) out += fmt::format(", {:+.1f} %", 100 * (a - b) / b);
    } else {
      out += ", not on the device";
    }
    out += '\n';
  }
  return out;
}

}  // namespace palladion::traces
