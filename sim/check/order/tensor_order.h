#pragma once
// Which operations on tensor memory are complete for whom (PTX, "tcgen05 Memory Consistency Model"). A commit
// covers all that its thread issued before; tcgen05.wait::ld and wait::st cover the loads and stores of their
// warp. So operations are numbered in streams, one a source, and a publication says: all of this stream
// before this number is complete for these lanes from this time on.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/check/order/history.h"

namespace palladion::sim::check {

// The tensor core performs the two in the order of their issue (PTX, "tcgen05 pipelined instructions").
inline bool pipelined(const AsyncRecord& earlier, const AsyncRecord& later) {
  const bool is_product = later.pipeline != 0;
  return is_product && (earlier.pipeline == later.pipeline || earlier.is_tensor_copy());
}

class TensorOrder {
 public:
  struct Publication {
    uint64_t before = 0;  // ids of the stream less than this
    WarpOfCluster warp;
    uint32_t lanes = 0;
    uint32_t time = 0;
  };
  // What the thread that executed tcgen05.fence::after_thread_sync knew then.
  struct Fence {
    ViewRef view;  // null: it never did
    uint32_t time = 0;
  };

  explicit TensorOrder(uint32_t warps)
      : streams_(size_t{warps} * streams_a_warp), fences_(size_t{warps} * 32) {}

  static uint32_t thread_stream(WarpOfCluster warp, Lane lane) { return warp * streams_a_warp + lane; }
  static uint32_t load_stream(WarpOfCluster warp) { return warp * streams_a_warp + 32; }
  static uint32_t store_stream(WarpOfCluster warp) { return warp * streams_a_warp + 33; }
  // Loads whose results an instruction has read: over, but PTX lets that order registers alone.
  static uint32_t read_stream(WarpOfCluster warp) { return warp * streams_a_warp + 34; }
  static bool is_thread(uint32_t stream) { return stream % streams_a_warp < 32; }
  static WarpOfCluster warp_of(uint32_t stream) { return WarpOfCluster(stream / streams_a_warp); }

  // Loads and stores have numbers of their own, apart from those of asynchronous operations in flight.
  uint64_t next_access() { return ++accesses_; }
  uint64_t end_of_accesses() const { return accesses_ + 1; }

  void publish(uint32_t stream, const Publication& p);
  // True when `knows(publication)` is, of one that covers the operation.
  template <class Knows>
  bool complete(const AsyncRecord& op, Knows&& knows) const {
    for (const std::vector<Publication>& of_waiter : streams_[op.stream].waiters) {
      auto p = std::ranges::upper_bound(of_waiter, op.id, {}, &Publication::before);
      for (; p != of_waiter.end(); ++p)
        if (knows(*p)) return true;
    }
    return false;
  }
  // Has any thread ever observed that the operation is complete?
  bool covered(const AsyncRecord& op) const {
    return complete(op, [](const Publication&) { return true; });
  }

  // The last commit of a thread; `empty`: the thread had issued nothing.
  struct Commit {
    uint64_t id = 0;
    bool empty = false;
    Origin origin;
  };
  void committed(uint32_t stream, uint64_t id, const Origin& origin) {
    streams_[stream].committed = {id, !streams_[stream].issued, origin};
  }
  void issued(uint32_t stream) { streams_[stream].issued = true; }
  const Commit& last_commit(uint32_t stream) const { return streams_[stream].committed; }

  void fence(WarpOfCluster warp, uint32_t lanes, const ViewRef& view, uint32_t time);
  const Fence& last_fence(WarpOfCluster warp, Lane lane) const { return fences_[size_t{warp} * 32 + lane]; }

 private:
  static constexpr uint32_t streams_a_warp = 35;
  struct Stream {
    std::vector<std::vector<Publication>> waiters;  // by the lanes that waited; numbers ascend
    Commit committed;
    bool issued = false;  // anything
  };

  std::vector<Stream> streams_;
  std::vector<Fence> fences_;  // by lane of the cluster
  uint64_t accesses_ = 1ULL << 63;
};

}  // namespace palladion::sim::check
