#pragma once
// What the machine and its checkers report about a run: faults, races, misused barriers, deadlocks,
// unsupported instructions.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/core/diagnostic.h"
#include "isa/core/module.h"

namespace palladion::sim {

// error: PTX calls it undefined or a race, in an execution that took place. strict: breaks the letter
// of PTX, shipped kernels do it. unknown: the checker cannot decide, and states why. unsupported: the
// machine does not run it.
enum class FindingSeverity : uint8_t { error, strict, unknown, unsupported };

// The place in the grid where something happened.
struct Site {
  isa::Dim3 cta{0, 0, 0};   // its coordinates in the grid
  uint32_t warp = 0;        // in the CTA
  uint32_t lanes = 0;       // mask of the lanes concerned
  uint32_t ptx_line = 0;    // 0 = unknown
  isa::SourceLoc source;    // the author's line, when known
  std::string instruction;  // its PTX text
  std::string what;         // "asynchronous write", "waits for": the site's part in the finding
  std::string role;         // "warpgroup 1, issues wgmma"; empty: unknown
  uint64_t occurrence = 0;  // the warp's n-th execution of this instruction, from 1; 0: unknown
};

// A load whose values another access may change: lanes of a warp of a cluster at an instruction. Of a wgmma
// `warp` is the first of its warpgroup, and `lanes` has a bit for each warp whose part of D depends on the
// bytes.
struct RacingRead {
  uint32_t pc = 0;       // indexes Program::code
  uint32_t cluster = 0;  // in the grid
  uint32_t warp = 0;     // in the cluster
  uint32_t lanes = 0;    // mask
  friend bool operator==(const RacingRead&, const RacingRead&) = default;
};

// A warp that could still provide what another one waits for.
struct Arriver {
  isa::Dim3 cta{0, 0, 0};  // its coordinates in the grid
  uint32_t warp = 0;       // in the CTA
  uint32_t lanes = 0;      // mask
  std::optional<uint32_t>
      site;  // of Finding::sites: where it waits itself, or one that waits in the same way
};

// What lanes of a warp wait for when nothing can continue, as numbers; Finding::notes has it in words. A
// number that a wait of this kind does not have, or that is not known, is absent.
struct BlockedWait {
  std::string kind;                           // "mbarrier", "cta_barrier": a Wait::Kind
  std::string object;                         // "mbarrier `full`[1] of CTA (0,0,0)"
  std::optional<int64_t> phase;               // mbarrier: the number of the awaited phase, from 0
  std::optional<uint32_t> parity;             // mbarrier: that must have completed
  std::optional<uint64_t> expected_arrivals;  // mbarrier: its count; barriers: threads
  std::optional<uint64_t> pending_arrivals;   // of these, those that have not come
  std::optional<int64_t>
      pending_bytes;              // mbarrier: its transaction count; below 0: landed, and not yet announced
  uint64_t alike = 1;             // groups of lanes that wait here in the same way
  std::vector<Arriver> arrivers;  // empty without checkers; empty with them: no warp is left that could
};

struct Finding {  // what is wrong with a run, or cannot be decided: one finding of `palladion check`
  static constexpr size_t most_reads = 1 << 16;       // kept in `reads`
  std::string code;                                   // "PLD3001"
  FindingSeverity severity = FindingSeverity::error;  // how sure, and how bad
  bool fatal = false;                                 // the grid was stopped
  std::string message;                                // the first line: what is wrong
  std::vector<Site> sites;         // the sites involved, the victim first; of a deadlock all that wait
  std::string object;              // "`a` bytes [0, 128)", "mbarrier `full`[1] of CTA (0,0,0)"
  std::string missing;             // the edge that is missing, or was dropped, and why
  std::vector<std::string> notes;  // of a deadlock: one a site, what it waits for
  std::vector<BlockedWait> waits;  // of a deadlock: waits[i] is that of sites[i]; further sites do not wait
  std::string rule;                // title of the section in the PTX manual
  std::string help;                // what to change
  uint64_t count = 1;              // how often this pair of sites was seen
  // Of a race that stands for others of the same mistake: the PTX lines of their first two sites. Not
  // printed.
  std::vector<std::array<uint32_t, 2>> alike;
  // Of a race of loads with stores: the loads, each once or more; empty of other findings. Not printed.
  std::vector<RacingRead> reads;
  bool every_read = true;  // false: there were more than `most_reads`, or one that is not known
};

// Adds the loads of the same mistake.
void add_reads(Finding& into, const Finding& from);
std::string render(const Finding& finding);

}  // namespace palladion::sim
