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

struct Relaxation {
  std::string_view name;    // "HBM without limit"
  std::string_view advice;  // what the author of a kernel can do to come near it
  std::span<const RelaxedKey> keys;
  RelaxedOps ops;
  bool no_bank_conflicts = false;  // only worth a run when there were some
  // Only worth a run when one of these was occupied, or one of these waits was seen; both empty: always.
  std::span<const Resource> resources;
  std::span<const Stall> stalls;
};

std::span<const Relaxation> relaxations();

// Null when the file has no such key.
double* find_parameter(isa::ClockParameters& parameters, std::string_view key);
isa::ClockParameters relaxed(const isa::ClockParameters& parameters, const Relaxation& relaxation);
bool can_matter(const Relaxation& relaxation, const ClockReport& report);

struct Gain {
  const Relaxation* relaxation = nullptr;
  uint64_t cycles = 0;  // of the run with it
  double saved = 0;     // of the time without it, 0..1; below 0: it takes longer
};

struct RelaxOptions {
  unsigned threads = 1;                                       // runs at once
  std::function<void(uint64_t done, uint64_t all)> progress;  // from any thread, one call at a time
};
// The cycles of a run with these parameters; nothing when there is no answer.
using RunWith = std::function<std::optional<uint64_t>(const isa::ClockParameters&)>;

// Runs everything that can matter to `report`, which came of `parameters`. What saves most is first; `run`
// is called from several threads.
std::vector<Gain> try_relaxations(const isa::ClockParameters& parameters, const ClockReport& report,
                                  const RunWith& run, const RelaxOptions& options = {});

}  // namespace palladion::sim
