#pragma once
// Volatile accesses of one warp's lanes that only lockstep orders: one writes what another one accesses by a
// different instruction, the two execute one of the instructions together, and no instruction at which lanes
// meet and no fence lies between. Volatile accesses are strong, so this is no data race; but nothing says
// that the lanes stay together.
#include <unordered_map>
#include <vector>

#include "sim/check/core/context.h"

namespace palladion::sim::check {

class Lockstep {
 public:
  explicit Lockstep(const ClusterContext& context);

  void on(const Access& a);
  void on(const WarpSynced& e) { met(e.origin); }
  void on(const Executed& e);
  void on(const Fenced& e) { met(e.origin); }
  void on(const CtaBarrierEvent& e) { met(e.origin); }
  void on(const ClusterBarrierEvent& e) { met(e.origin); }

 private:
  static constexpr size_t most_meetings = 64;  // of some lanes of a warp; then what was before is forgotten

  // The last access of a word.
  struct Last {
    Origin origin;        // with all lanes that executed it
    uint32_t lanes = 0;   // those of them that accessed the word; 0: none
    size_t meetings = 0;  // of the warp until then
  };
  struct Word {
    Last write, read;
  };
  struct Warp {
    std::unordered_map<uint64_t, Word> words;  // by address
    std::vector<uint32_t> meetings;            // lanes of each
  };

  Warp& warp_of(const Origin& origin);
  void met(const Origin& origin);
  // A lane that accessed the word, and `lane` did not meet since; 0: none. A mask.
  static uint32_t unmet(const Warp& warp, const Last& last, const Origin& now, Lane lane);
  void report(const Access& now, Lane lane, const Last& last, uint32_t other, bool wrote);

  const ClusterContext& context_;
  bool used_ = false;  // the program has volatile accesses
  std::vector<Warp> warps_;
};

}  // namespace palladion::sim::check
