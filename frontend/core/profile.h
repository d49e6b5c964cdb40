#pragma once
// Timelines from inside a kernel: scopes record %clock64 at their entry and exit, once a warpgroup, into a
// buffer that the launcher adds. The same instructions run in the machine and on a device.
#include <cstdint>
#include <functional>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "frontend/core/recorder.h"

namespace palladion::frontend {

void record_scope_event(const std::string& name, bool exit);
void run_user_code(const std::function<void()>& body);

}  // namespace palladion::frontend

namespace palladion::plgpu {

// Runs the body under a name. Scopes may lie in one another and in loops. Records nothing, and costs
// nothing, unless CompilerParams::profile_space has room for events.
template <class Body>
auto profile_scope(const std::string& name, Body&& body,
                   std::source_location loc = std::source_location::current()) {
  using Value = std::invoke_result_t<Body&>;
  const frontend::VerbScope at(loc);
  frontend::record_scope_event(name, false);
  if constexpr (std::is_void_v<Value>) {
    frontend::run_user_code(body);
    frontend::record_scope_event(name, true);
  } else {
    std::optional<Value> value;
    frontend::run_user_code([&] { value.emplace(body()); });
    frontend::record_scope_event(name, true);
    return *value;
  }
}

// What one warpgroup recorded.
struct ProfiledWarpgroup {
  struct Event {         // an entry into a profile_scope, or an exit from one
    uint32_t scope = 0;  // index in Profile::scopes
    bool exit = false;   // else entry
    uint64_t clock = 0;  // %clock64, SM cycles
  };
  uint64_t cta = 0;                         // linear id in the grid
  uint32_t warpgroup = 0, sm = 0;           // its number in the grid; %smid
  uint64_t clock_start = 0, clock_end = 0;  // %clock64 at the kernel's entry and end
  uint64_t time_start = 0, time_end = 0;    // %globaltimer, ns, at the same places
  std::vector<Event> events;                // in the order of time
  uint64_t lost = 0;                        // events for which profile_space had no room
};

// The buffer after a run; warpgroups that did not come to their end are left out.
std::vector<ProfiledWarpgroup> read_profile(const Profile& profile, std::span<const std::byte> buffer);

}  // namespace palladion::plgpu
