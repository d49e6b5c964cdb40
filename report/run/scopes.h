// The author's scopes (plgpu::profile_scope) of a run: from the buffer that the kernel wrote, or from a file
// that keeps a device's.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "frontend/core/launch.h"
#include "isa/host/outcome.h"
#include "traces/scopes.h"

namespace palladion::report {

using traces::RunScopes;

// Warpgroups' clocks are aligned by %globaltimer. `sm_clock_mhz` 0: measured by the two timers.
RunScopes scopes_of(const plgpu::Profile& profile, std::span<const std::byte> buffer, double sm_clock_mhz,
                    std::string what, std::string kernel);

host::Outcome<RunScopes> read_scopes(const std::string& file);
host::Outcome<void> write_scopes(const std::string& file, const RunScopes& scopes);

}  // namespace palladion::report
