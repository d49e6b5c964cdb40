#pragma once
// The values of a finding as words: objects, warps, what a site does, waits, sentences.
#include <optional>
#include <string>
#include <string_view>

#include "report/text/numbers.h"
#include "sim/launch/finding.h"

namespace palladion::report {

std::string_view word(sim::FindingSeverity severity);   // "error"
std::string_view name_of(sim::Does does);               // "reads_by_descriptor": for other programs
std::string_view name_of(sim::Object::Kind kind);       // "shared_memory"
std::string_view name_of(sim::BlockedWait::Kind kind);  // "cta_barrier"
std::string_view name_of(sim::Phrase phrase);           // "outside_shared"

// "`a`[1] bytes [0, 128) of CTA (1,0,0)"
std::string text_of(const sim::Object& object);
// "warp 4 lanes 0-3 of CTA (0,0,0)"
std::string text_of(const sim::WarpLanes& actor);
// "warpgroup 1, issues wgmma"; empty when nothing is known
std::string text_of(const sim::Role& role);
// "writes, asynchronously (earlier)"
std::string text_of(const sim::Part& part, bool has_source);
// What follows "waits for": "phase 0 (parity 0) of mbarrier `full`: 0 of 1 arrivals have come"
std::string text_of(const sim::BlockedWait& wait);
// `home`: the CTA of the finding's first site, which is not named.
std::string text_of(const sim::Statement& statement, const std::optional<isa::Dim3>& home = {});

// " lane 3", " lanes 0-15", " lanes 0x00ff00ff"; nothing for a whole warp.
std::string lanes_text(uint32_t lanes);
// "gemm.cpp:41"; without a source, the line of the PTX, in `ptx_name` when that is known.
std::string place_text(const sim::Site& site, std::string_view ptx_name = {});

}  // namespace palladion::report
