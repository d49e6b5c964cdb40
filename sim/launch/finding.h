#pragma once
// What the machine and its checkers report about a run, as values: report/text words it.
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "isa/core/code_text.h"
#include "sim/launch/statement.h"

namespace palladion::sim {

// error: PTX calls it undefined or a race, in an execution that took place. strict: breaks the letter
// of PTX, shipped kernels do it. unknown: the checker cannot decide, and states why. unsupported: the
// machine does not run it.
enum class FindingSeverity : uint8_t { error, strict, unknown, unsupported };

// A load whose values another access may change: lanes of a warp of a cluster at an instruction. Of a wgmma
// `warp` is the first of its warpgroup, and `lanes` has a bit for each warp whose part of D depends on the
// bytes.
struct RacingRead {
  Pc pc;                  // of the load
  ClusterOfGrid cluster;  // that executes it
  WarpOfCluster warp;     // see above
  uint32_t lanes = 0;     // mask
  friend bool operator==(const RacingRead&, const RacingRead&) = default;
};

// --- what is wrong --------------------------------------------------------------------------------
// A rule of barriers, copies, registers or memory is broken.
struct Misuse {};

// Two accesses that nothing orders: the later one is the first site.
struct Race {
  static constexpr size_t most_reads = 1 << 16;  // kept in `reads`
  bool equal_values = false;                     // both write the same values
  std::vector<RacingRead> reads;                 // the loads of a race with stores, each once or more
  bool every_read = true;  // false: there were more than `most_reads`, or one that is not known
};

// No thread can continue. The sites that wait have a `wait`; the others explain it.
struct Deadlock {
  uint64_t warps = 0;            // that wait
  bool for_host = false;         // for a write of the host, which does not come while a kernel runs
  std::vector<CycleStep> cycle;  // of waits, when that is the reason
  uint64_t clusters = 1;         // that are blocked; the finding describes one
  uint64_t other_places = 0;     // where lanes wait as well, beyond the sites
  bool more_clusters = false;    // clusters that have not started wait for room
};

// The run was ended, since it goes on and on.
struct Endless {
  // Which limit was reached: of one warp, of one warp without a store, a barrier, a copy or a strong load, or
  // of all warps together.
  enum class Why : uint8_t { longest_warp, without_effect, all_warps };
  Why why = Why::all_warps;   // the limit that was reached
  uint64_t instructions = 0;  // warp instructions after which it was ended
  uint64_t other_places = 0;  // where warps were, beyond the sites
};

// An instruction that the machine cannot complete.
struct Fault {};

// What the machine does not run: the message says why.
struct Unsupported {};

// --- a finding ------------------------------------------------------------------------------------
// Where a site is.
struct SourcePlace {
  std::string file;       // the author's, where it is known
  uint32_t line = 0;      // there
  uint32_t ptx_line = 0;  // 0: unknown
  friend auto operator<=>(const SourcePlace&, const SourcePlace&) = default;
};
// Of the sites of a finding, in their order.
using SourcePlaces = std::vector<SourcePlace>;
// Where the site's instruction stands.
SourcePlace place_of(const Site& site);

struct Finding {         // what is wrong with a run, or cannot be decided: one finding of `palladion check`
  isa::CodeNumber code;  // "PLD4309"
  std::string kernel;    // symbol of the entry that was launched
  FindingSeverity severity = FindingSeverity::error;                       // how sure, and how bad
  bool fatal = false;                                                      // the grid was stopped
  std::variant<Misuse, Race, Deadlock, Endless, Fault, Unsupported> what;  // the kind, with what it alone has
  Statement message;               // what is wrong; empty: the code's title, or `what` says it
  Object object;                   // what it is about
  std::vector<Site> sites;         // the sites involved, the victim first; of a deadlock all that wait
  Statement missing;               // the edge that is missing, or was dropped, and why
  std::vector<Statement> notes;    // what helps to see why
  Statement help;                  // what to change; empty: the code's
  std::string rule;                // title of the section in the PTX manual; empty: the code's
  uint64_t count = 1;              // how often it was seen
  std::vector<SourcePlaces> also;  // those of the sites of the same mistake elsewhere
};

// Adds the loads of the same mistake.
void add_reads(Finding& into, const Finding& from);

}  // namespace palladion::sim
