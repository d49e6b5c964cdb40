#pragma once
// What a group of SMs waits for until L2 has served the requests of a quantum.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/clock/memory/request.h"
#include "sim/clock/sm/l1.h"

namespace palladion::sim::hardware {

inline constexpr ClusterOfGroup no_cluster{~0U};

// So many cycles after an answer.
struct Due {
  bool waits = false;
  uint32_t answer = 0, offset = 0;
};

// A load of a warp, or a copy of a cluster (`id`), that waits for a request; or what waits for two `parts`.
struct Pending {
  uint32_t request = no_request;
  uint32_t also = no_request;  // an earlier request that brings some of its lines
  uint32_t warp = 0;
  ClusterOfGroup cluster = no_cluster;
  uint64_t id = 0;
  Cycles extra = 0;   // cycles from the request's end until a copy lands
  uint64_t load = 0;  // of a copy by TMA, on SM `sm`: its number there
  uint32_t sm = 0;
  Cycle not_before;
  std::array<Due, 2> parts{};
};

// A store, or a copy to GMEM (of a cluster), which lands no sooner than at `not_before`.
struct Write {
  uint32_t request = 0, sm = 0;
  ClusterOfGroup cluster = no_cluster;
  uint64_t id = 0;
  Cycle not_before;
};

class Answers {
 public:
  // Returns the answer's number.
  uint32_t wait(const Pending& p) {
    pending_.push_back(p);
    return static_cast<uint32_t>(pending_.size() - 1);
  }
  // What needs values of two requests has both when the later one has come.
  Due join(uint32_t warp, const Due& a, const Due& b) {
    if (!a.waits) return b;
    if (a.answer == b.answer) return {true, a.answer, std::max(a.offset, b.offset)};
    return {true, wait({.warp = warp, .parts = {a, b}}), 0};
  }

  // The requests have been served.
  void serve(const Batch& batch) {
    const auto done = [&](uint32_t r) { return r == no_request ? Cycle() : batch.requests[r].done; };
    times_.clear();
    for (const Pending& p : pending_) {
      Cycle time = std::max({done(p.request), done(p.also), p.not_before});
      for (const Due& part : p.parts)
        if (part.waits) time = std::max(time, times_[part.answer] + part.offset);
      times_.push_back(time);
    }
  }
  Cycle time(uint32_t answer) const { return times_[answer]; }
  std::span<const Pending> pending() const { return pending_; }
  void clear() { pending_.clear(); }

 private:
  std::vector<Pending> pending_;
  std::vector<Cycle> times_;  // by number
};

}  // namespace palladion::sim::hardware
