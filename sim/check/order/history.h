#pragma once
// What was done: records that the shadow memory points to.
#include <array>
#include <memory>
#include <vector>

#include "sim/check/order/order.h"
#include "sim/check/order/view.h"

namespace palladion::sim::check {

// From this point on the accesses of an asynchronous operation are visible to these lanes, and to every actor
// whose view includes them at that time.
struct Publication {
  WarpOfCluster warp;
  uint32_t lanes = 0;
  uint32_t time = 0;
  uint8_t rank = any_rank;  // only what it did in this CTA's shared memory
  bool reads_only = false;
  bool own_lanes = false;  // each lane's own part only (cp.async.wait_group)
  uint32_t parts = ~0U;    // of which lanes' parts it tells, where each lane issued its own bytes
  static constexpr uint8_t any_rank = 0xFF;
};

// An asynchronous operation. It has two milestones, "reads done" and "writes done"; the publications say to
// which actors they are visible.
struct AsyncRecord {
  uint64_t id = 0;
  ClusterOfGrid cluster;
  Origin issuer;
  uint32_t occurrence = 0;
  const char* name = "";
  isa::AsyncFamily family = isa::AsyncFamily::none;
  isa::AsyncGroup group = isa::AsyncGroup::none;
  bool async_proxy = true;  // cp.async, st.async and red.async belong to the generic proxy
  bool reduces = false;
  bool lane_exact = false;  // cp.async, st.async, red.async: each lane issued its own bytes
  uint8_t layout = 0;
  uint64_t operands = 0;   // of a store from shared memory: equal ones copy the same bytes; 0: not known
  bool committed = false;  // to a bulk, cp.async or wgmma group
  bool landed = false;
  std::vector<SharedAddress> mbarriers;  // that it completes on; where each lane has bytes, that lane's
  std::vector<Publication> published;
  ViewRef known_to_asker;  // of a request to cancel a launch: what its thread had done and knew. Else null
  std::shared_ptr<AsyncRecord> overwrote;  // whose bytes it overwrote last; null: of none
  struct Released {
    WarpOfCluster warp;
    uint32_t lanes = 0;
    uint32_t time = 0;  // of the warp, up to which the issuer knows what they did
  };
  std::vector<Released> released_by;  // had waited for `overwrote`, then synchronised with the issuer
  struct Joined {
    WarpOfCluster warp;
    uint32_t time = 0;
    uint32_t stored = 0;  // when the warp had last stored to shared memory; 0: never
    // By warp of the warpgroup: up to when this one knew, as it issued its part, what the other had stored
    // there.
    std::array<uint32_t, 4> known{};
    bool knows(WarpOfCluster other, uint32_t when) const {
      return other == warp || known[other % known.size()] >= when;
    }
  };
  std::vector<Joined> joined;  // of a wgmma: the warps that have issued it, and when
  uint32_t warpgroup = 0;      // of a wgmma
  bool apart = false;          // of a wgmma: a warp does not know what another one of them had stored
  // Of tensor memory: whose commits or waits cover it, by how it was issued; and of tcgen05.mma a number that
  // those share which the tensor core performs in order (accumulator, shape and kind are the same).
  static constexpr uint32_t no_stream = ~0U;
  uint32_t stream = no_stream;
  uint64_t pipeline = 0;
  bool tensor_load = false, tensor_store = false;  // tcgen05.ld, tcgen05.st
  bool is_tensor() const { return family == isa::AsyncFamily::tcgen05; }
  bool is_tensor_copy() const { return is_tensor() && pipeline == 0 && !tensor_load && !tensor_store; }
};

// One execution of an instruction that touched memory, or several in one interval of the warp's time.
struct Record {
  enum Flags : uint8_t {
    reads = 1,
    writes = 2,
    strong = 4,
    atomic = 8,
    barrier = 16,
    tensormap = 32,
    fill = 64,
    summarised = 128  // stands for accesses of several CTAs that nothing can be ordered after
  };
  ClusterOfGrid cluster;
  Pc pc;
  uint32_t time = 0;
  uint32_t lanes = 0;
  WarpOfCluster warp;
  uint8_t flags = 0;
  isa::Scope scope = isa::Scope::cta;
  uint32_t content = 0;  // of a store to shared memory: equal ones store equal values; 0: not known
  bool valued = false;   // a store to global memory whose values the shadow memory has
  uint8_t element = 0;   // of a strong access: bytes of one element, which is an operation of its own; else 0
  std::shared_ptr<AsyncRecord> async;  // null: an access of lanes
};

// A reference from shadow memory: which record, and which lane touched which byte of the 16.
//   bits 8..31  index of the record, 0 = none
//   bits 0..4   the lane that touched byte 0 (or would have)
//   bits 5..7   log2 of the bytes a lane touched: byte b belongs to lane + (b >> size);
//               7: every byte by all lanes of the record
using Ref = uint32_t;
inline constexpr uint32_t every_lane = 7;
constexpr Ref make_ref(uint32_t record, uint32_t size_log2, Lane lane) {
  return record << 8 | size_log2 << 5 | lane;
}
constexpr uint32_t record_of(Ref r) { return r >> 8; }
constexpr uint32_t size_of(Ref r) { return r >> 5 & 7; }
constexpr uint32_t lane_of(Ref r, uint32_t byte) { return ((r & 31) + (byte >> size_of(r))) & 31; }

}  // namespace palladion::sim::check
