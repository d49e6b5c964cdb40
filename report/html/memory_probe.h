// What the kernel's memory looks like, seen while it runs: the tiles that TMA moves and where their elements
// lie in shared memory, the worst access of each instruction to the banks, rectangles of tensor memory,
// fragments of matrix instructions. An observer: it changes nothing in the run.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "isa/formats/tensor_map.h"
#include "report/json/document.h"
#include "sim/launch/observer.h"
#include "sim/launch/per_cluster.h"
#include "traces/choice.h"

namespace palladion::report {

// Of one cluster, or of several together.
struct MemorySeen {
  struct Tile {
    isa::TensorMap map;
    uint32_t offset = 0;  // in the CTA's shared memory
    bool load = true;     // into shared memory
    sim::Pc pc;
  };
  // The accesses of one instruction to shared memory.
  struct Accesses {
    uint64_t warps = 0;               // warp-wide accesses
    uint64_t extra = 0;               // passes beyond the fewest that so many lanes can need
    uint32_t passes = 0, fewest = 0;  // of the worst access
    uint32_t bytes = 0, lanes = 0;    // of it
    std::array<uint32_t, 32> offsets{};
    bool writes = false;
  };
  struct Rectangle {  // of tensor memory
    uint32_t lane = 0, lanes = 0, column = 0, columns = 0;
    sim::Pc pc;
    std::string_view what;
    auto operator<=>(const Rectangle&) const = default;
  };
  // 16 bytes of shared memory that threads fill: the lane that does so first.
  struct Filled {
    sim::Pc pc;
    sim::WarpOfCta warp;
    sim::Lane lane;
    bool copied = false;  // by cp.async; else stored
  };
  using TileKey = std::tuple<uint32_t, bool, std::string>;

  std::map<TileKey, Tile> tiles;
  uint64_t other_tiles = 0;  // copies whose layout is not shown: im2col, interleaved, packed elements
  std::map<sim::Pc, Accesses> accesses;
  std::map<Rectangle, uint64_t> rectangles;  // and how often
  std::map<uint32_t, Filled> filled;         // by offset / 16
  bool filled_whole = true;                  // false: there were more

  void take(const MemorySeen& other);
  void fill(uint32_t chunk, const Filled& by);
};

class MemoryProbe final : public sim::Observer {
 public:
  explicit MemoryProbe(traces::CtaChoice ctas);
  ~MemoryProbe() override;

  void start(const sim::RunView& run) override;
  void observe(sim::ClusterState& cluster, sim::ClusterEvents& events) override;
  void retire(sim::ClusterState& cluster) override;

  // {"instructions": by pc, "objects", "tiles", "accesses", "tensor_memory", "fragments", "filled"}; empty
  // when nothing ran.
  json::object json() const;

 private:
  class Cluster;

  traces::CtaChoice ctas_;
  sim::RunView run_;
  json::array instructions_, objects_, fragments_;  // of the program
  int operand_bits_ = 0;
  sim::PerCluster<Cluster> alive_;
  MemorySeen seen_;
};

}  // namespace palladion::report
