#pragma once
// What a finding is about, by the names that the author gave.
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/core/module.h"
#include "sim/launch/index.h"

namespace palladion::sim {

struct Range {                // [from, to)
  uint64_t from = 0, to = 0;  // the first, and the one behind the last
  friend auto operator<=>(const Range&, const Range&) = default;
};

// An array, or one of its leading elements: `full`[1].
struct Named {
  std::string name;               // the author's
  std::optional<uint64_t> index;  // of the element; none: the array
  std::vector<Range> bytes;       // within it; empty: all
  friend bool operator==(const Named&, const Named&) = default;
};

// What a finding is about.
struct Object {
  // What it is; the comments say what the other members mean then.
  enum class Kind : uint8_t {
    none,
    shared_memory,
    global_memory,
    tensor_memory,
    mbarrier,
    barrier,  // `number` is its id
    cluster_barrier,
    registers,     // of a warp: `names` are PTX registers, `ranges` their places among `number` of them
    accumulators,  // of a warpgroup: `ranges` are rows and columns, `number` is N
    descriptor,    // of the operand `names`: `number` has its bits
    lanes,         // of a warp: `number` is their mask
    warpgroup,     // `number` is its place in the CTA
    kernel,
    register_pool,  // that setmaxnreg takes from
    wgmma_groups,
    bulk_groups,
    cp_async_groups,
  };
  Kind kind = Kind::none;     // what it is
  std::vector<Named> names;   // of memory and mbarriers; empty: no array lies there
  std::vector<Range> ranges;  // of memory without a name: offsets in the CTA's window, or addresses; columns
  Range lanes;                // of tensor memory; empty: all
  uint64_t number = 0;        // see Kind
  std::optional<isa::Dim3> cta;   // where clusters have several
  std::optional<WarpOfCta> warp;  // of registers
  bool past_end = false;          // `names` is the array that ends before it
  bool several_ctas = false;      // of `cta` and of others
  friend bool operator==(const Object&, const Object&) = default;
};

// A warp, or lanes of it.
struct WarpLanes {
  std::optional<isa::Dim3> cta;  // where clusters have several
  WarpOfCta warp;                // which one
  uint32_t lanes = 0;            // mask; 0: all
  friend bool operator==(const WarpLanes&, const WarpLanes&) = default;
};

}  // namespace palladion::sim
