#pragma once
// What a kernel would gain if a part of the chip were better: the same run with parameters of the clock
// relaxed. A table as data; the caller decides how to run it.
#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/launch/clock.h"

namespace palladion::sim {

struct RelaxedKey {
  std::string_view key;  // of the parameter file, "hbm.read"
  double factor = 1;     // of its value; 0: free
};

struct RelaxedOps {
  std::span<const std::string_view> keys;  // of isa::op_keys()
  double slots = 1, interval = 1, latency = 1;
};

// Parts that are relaxed together first. No member saves more than all of them at once do, so that a group
// that saves little is looked at no further.
enum class RelaxedGroup : uint8_t { rates, latencies, tensor_rate, tensor_gaps, sm, barriers, launch };
inline constexpr size_t relaxed_group_count = 7;

// What a launch has; without it, parts of the chip are idle.
struct LaunchUses {
  bool atomics = true;   // in global memory
  bool clusters = true;  // of several CTAs
};

struct Relaxation {
  RelaxedGroup group = RelaxedGroup::rates;
  std::string_view name;    // "HBM without limit"
  std::string_view advice;  // what the author of a kernel can do to come near it
  std::span<const RelaxedKey> keys;
  RelaxedOps ops;
  bool no_bank_conflicts = false;     // only worth a run when there were some
  LaunchUses needs = {false, false};  // only worth a run with these
  // Only worth a run when one of these was occupied, or one of these waits was seen; both empty: always.
  std::span<const Resource> resources;
  std::span<const Stall> stalls;
};

std::span<const Relaxation> relaxations();

// Null when the file has no such key.
double* find_parameter(isa::ClockParameters& parameters, std::string_view key);
isa::ClockParameters relaxed(isa::ClockParameters parameters, const Relaxation& relaxation);
bool can_matter(const Relaxation& relaxation, const ClockReport& report, LaunchUses uses = {});

struct Gain {
  const Relaxation* relaxation = nullptr;
  uint64_t cycles = 0;  // of the run with it
  double saved = 0;     // of the time without it, 0..1; below 0: it takes longer
};
// All relaxations of a group that can matter, at once.
struct GroupGain {
  std::vector<const Relaxation*> members;
  uint64_t cycles = 0;
  double saved = 0;
  bool tried_alone = false;  // its members were
};

// Less than this share of the time is no help.
inline constexpr double worth_a_change = 0.01;
inline constexpr size_t most_gains = 3;  // that are looked for

// How many runs the search takes, which is known before the first one.
struct RelaxPlan {
  uint64_t least = 0, most = 0;
};
RelaxPlan plan_relaxations(const ClockReport& report, LaunchUses uses = {});

struct Relaxed {
  std::vector<Gain> gains;        // of relaxations that were tried alone, what saves most first
  std::vector<GroupGain> groups;  // of several members each
  uint64_t runs = 0;
};
struct RelaxOptions {
  LaunchUses uses;
  unsigned threads = 1;                     // of the host
  std::function<void(uint64_t done)> done;  // after each run, from any thread, one call at a time
};
// The cycles of a run with these parameters on so many threads; nothing when there is no answer.
using RunWith = std::function<std::optional<uint64_t>(const isa::ClockParameters&, unsigned threads)>;

// Finds the three relaxations that save most, of those that can matter to `report`, which came of
// `parameters`: each group at once, then the members of those groups that save more than the third best
// member so far. The same runs for any number of threads; `run` is called from several of them.
Relaxed try_relaxations(const isa::ClockParameters& parameters, const ClockReport& report, const RunWith& run,
                        const RelaxOptions& options = {});

}  // namespace palladion::sim
