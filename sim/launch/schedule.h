#pragma once
// A schedule decides when: which warp runs next and when asynchronous operations read and land.
// Every schedule is legal; every run is repeated exactly by its name.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace palladion::sim {

struct Schedule {  // the order in which warps and asynchronous operations run: docs/concepts/schedules.md
  // Who decides which warp is next.
  enum class Kind : uint8_t {
    functional,  // fair and fast: round robin, asynchronous work follows soon after its issue
    seeded,      // random choices from `seed`
    latest,      // asynchronous work waits until no warp can continue
    earliest,    // asynchronous work is done at its issue
    hardware,    // cycle-approximate: units of the SM, L2 and HBM as queues (sim/clock)
  };
  Kind kind = Kind::functional;  // which of them
  uint64_t seed = 0;             // of Kind::seeded
};

// "functional", "seeded:7", "latest", "earliest", "hardware"; none for other words.
std::optional<Schedule> schedule_named(std::string_view text);
std::string name(const Schedule& schedule);

}  // namespace palladion::sim
