#pragma once
// A place of a finding: which warp executed which instruction, and its part in the finding.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "isa/core/diagnostic.h"
#include "sim/launch/object.h"

namespace palladion::sim {

// What an instruction does in a finding: does.inc has the list.
enum class Does : uint8_t {
  nothing,
#define PLD_DOES(name, words) name,
#include "sim/launch/does.inc"
#undef PLD_DOES
};

// What the instruction of a site contributes to the finding.
struct Part {
  Does does = Does::nothing;     // reads, writes, arrives, ...
  bool asynchronous = false;     // an operation that the instruction issued does it
  bool earlier = false;          // it came before the finding's first site
  bool as_other_ctas = false;    // instructions of other CTAs do the same
  std::optional<int64_t> phase;  // of the mbarrier
  uint64_t number = 0;           // an mbarrier's count, a descriptor's bits, a .cta_group, warps in a loop
  uint64_t arrivals = 0;         // of a signal
  int64_t expected = 0, delivered = 0;  // bytes
  Range lines;  // of a loop: the author's where the site has a source, else of the PTX
  friend bool operator==(const Part&, const Part&) = default;
};

// What a warp has issued up to now.
struct Role {
  // Bits of `issues`.
  enum Issues : uint8_t { bulk_loads = 1, bulk_stores = 2, cp_async = 4, wgmma = 8, tcgen05 = 16 };
  std::optional<uint32_t> warpgroup;  // where a CTA has several
  uint8_t issues = 0;                 // kinds of asynchronous operations
  friend bool operator==(const Role&, const Role&) = default;
};

// A warp that could still provide what another one waits for.
struct Arriver {
  isa::Dim3 cta{0, 0, 0};  // its coordinates in the grid
  WarpOfCta warp;          // that could
  uint32_t lanes = 0;      // mask
  std::optional<uint32_t>
      site;  // of Finding::sites: where it waits itself, or one that waits in the same way
  friend bool operator==(const Arriver&, const Arriver&) = default;
};

// What lanes of a warp wait for when nothing can continue. A number that a wait of this kind does not have,
// or that is not known, is absent.
struct BlockedWait {
  // What is waited for.
  enum class Kind : uint8_t {
    memory,  // lanes spin on a value
    convergence,
    mbarrier,
    cta_barrier,
    cluster_barrier,
    bulk_group,
    cp_async_group,
    wgmma_group,
    registers,
    tensor_memory,
  };
  Kind kind = Kind::memory;                   // what is waited for
  Object object;                              // which one
  std::optional<int64_t> phase;               // mbarrier: the number of the awaited phase, from 0
  std::optional<uint32_t> parity;             // mbarrier: that must have completed
  std::optional<uint64_t> expected_arrivals;  // mbarrier: its count; barriers: threads
  std::optional<uint64_t> pending_arrivals;   // of these, those that have not come
  std::optional<int64_t>
      pending_bytes;  // mbarrier: its transaction count; below 0: landed, and not yet announced
  std::optional<int64_t> expected_bytes, delivered_bytes;  // mbarrier, in the phase: known to the checkers
  std::optional<uint64_t> wanted;  // registers of the CTA, or columns of tensor memory
  std::optional<uint64_t> limit;   // registers a thread that setmaxnreg asks for
  std::optional<uint64_t> free;    // registers
  std::optional<uint64_t> value;   // memory: what is there
  bool by_peer = false;            // tensor memory: the pair's other CTA does not ask for the same columns
  uint64_t alike = 1;              // groups of lanes that wait here in the same way
  bool examined = false;           // the checkers have looked for arrivers
  std::vector<Arriver> arrivers;   // empty though examined: no warp is left that could
  friend bool operator==(const BlockedWait&, const BlockedWait&) = default;
};

// A warp at an instruction.
struct Site {
  isa::Dim3 cta{0, 0, 0};           // its coordinates in the grid
  WarpOfCta warp;                   // that executes
  uint32_t lanes = 0;               // mask of the lanes concerned
  uint32_t ptx_line = 0;            // 0 = unknown
  isa::SourceLoc source;            // the author's line, when known
  isa::Frames frames;               // where it was inlined, the innermost first; empty: it was not
  std::string instruction;          // its PTX text
  Part part;                        // what it contributes
  Role role;                        // what its warp has issued
  uint64_t occurrence = 0;          // the warp's n-th execution of this instruction, from 1; 0: unknown
  std::optional<BlockedWait> wait;  // of a deadlock: what it waits for
  friend bool operator==(const Site&, const Site&) = default;
};

}  // namespace palladion::sim
