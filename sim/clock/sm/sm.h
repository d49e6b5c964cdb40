#pragma once
// One SM's units as queues: when each is free again, and how long it was occupied.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "isa/arch/clock.h"
#include "sim/clock/memory/memory.h"

namespace palladion::sim::hardware {

// A warp scheduler with its issue slot and its execution pipes.
struct SubCore {
  uint64_t slot_free = 0;
  std::array<double, resource_count> pipe_free{};
  std::deque<uint32_t> waiting;  // warps that are ready, but another issues
  bool scheduled = false;        // an event is on its way for when the slot is free
};

// When the last so many things that wait in a queue leave it.
class Departures {
 public:
  void push(double time) { times_[next_++ % times_.size()] = time; }
  // Of the one that came `count` before the next; at most 64.
  double before(size_t count) const {
    return times_[(next_ - std::clamp<size_t>(count, 1, times_.size())) % times_.size()];
  }

 private:
  std::array<double, 64> times_{};
  size_t next_ = 0;
};

// Lines of GMEM that an SM keeps beside shared memory; sectors are filled one by one.
class L1Cache {
 public:
  void resize(uint64_t bytes);
  struct Line {
    uint64_t line = never;
    uint64_t used = 0;
    uint64_t filled = 0;   // cycle in which the sectors are there; `never` while a request is under way
    uint32_t request = 0;  // that brings them, in the batch of this quantum
    uint8_t sectors = 0;
    uint32_t epoch = 0;
  };
  // The line's entry, or nullptr.
  Line* find(uint64_t line);
  Line& allocate(uint64_t line, uint64_t time);
  // An acquire: nothing that is there may be read any more.
  void drop() { ++epoch_; }

 private:
  static constexpr size_t ways = 8;
  std::vector<Line> lines_;
  uint64_t sets_ = 0;
  uint32_t epoch_ = 0;
};

struct Sm {
  uint32_t id = 0;  // its place, GPC by GPC
  std::array<SubCore, 4> sub;
  double lsu_free = 0;   // address generation: one memory instruction after the other
  double port_free = 0;  // the data port of shared memory, loads and stores
  double tensor_free = 0;
  double tensor_share = 0;               // of the port's cycles that the instruction under way reads in
  std::array<double, 16> tensor_ends{};  // of the instructions it took last
  uint32_t tensor_taken = 0;
  // Of the warpgroups that used it last: when their instructions end, and would have ended without company.
  struct Products {
    uint64_t warpgroup = never;
    double end = 0, alone = 0;
  };
  std::array<Products, 4> products;
  double tma_free = 0;       // takes another copy from the queue
  double tma_copy_free = 0;  // has sent the requests of those it took
  uint64_t tma_loads = 0;    // copies from GMEM, so far
  Departures tma_queue;      // copies that wait to be taken
  Departures tma_next;       // that wait to send requests
  double tma_store_free = 0;
  double l1_free = 0;
  double lsu_held = 0;       // by stores that the cluster's network has not taken
  double dsm_out = 0;        // onto the cluster's network
  double dsm_in = 0;         // from it
  double dsm_done = 0;       // what it has asked of other SMs or written there
  double fence_free = 0;     // fences of a wide scope
  uint64_t landed = 0;       // the last of its asynchronous stores
  uint64_t told = 0;         // its last arrival at another SM's mbarrier is known to be there
  double copy_free = 0;      // bulk copies into the cluster
  Departures network_queue;  // stores onto the cluster's network
  Departures copies;
  bool crowded = false;   // all SMs of its CPC work: their ways to the cluster's network are shared
  double write_free = 0;  // its stores' way to L2
  uint64_t stored = 0;    // L2 has acknowledged all stores
  bool accessed = false;  // GMEM, since the last fence
  std::array<double, resource_count> busy{};
  L1Cache l1;
  std::unordered_map<uint64_t, double> changed;  // words of shared memory, by compare-and-swaps in loops
  std::unordered_set<uint64_t> descriptors;      // tensor maps that were used
  std::vector<uint8_t> fetched;                  // by pc: the instruction has been executed here before
  uint32_t next_sub = 0;                         // where the next CTA's first warp goes
};

// Shared-memory passes that a warp's access takes: lanes in the same pass touch different banks, or the
// same word. `bytes` a lane: 4 and less in one group of 32 lanes, 8 in two halves, 16 in four quarters.
uint32_t shared_passes(const uint64_t* addresses, uint32_t lanes, uint32_t bytes);
// The most lanes that name the same word.
uint32_t most_alike(const uint64_t* addresses, uint32_t lanes);
// Passes of an atomic, for which lanes that name the same word take turns too: the most lanes in one bank.
uint32_t atomic_passes(const uint64_t* addresses, uint32_t lanes, uint32_t bytes);
// The fewest passes for as many lanes.
uint32_t ideal_passes(uint32_t lanes, uint32_t bytes);

// The lines that a warp's access touches, appended in the order of lanes; returns how many.
uint32_t touched_lines(const uint64_t* addresses, uint32_t lanes, uint32_t bytes,
                       std::vector<LineAccess>& out);

}  // namespace palladion::sim::hardware
