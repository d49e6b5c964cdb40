#pragma once
// A second opinion on what is ordered, coarse and independent of the checkers: happens-before among warps and
// asynchronous operations, without what the arrivals that announce bytes release, or without one barrier.
// Lanes of a warp are one; 16 bytes are one place, and so is the quarter of a column of tensor memory.
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "sim/launch/event.h"
#include "sim/launch/phases.h"

namespace palladion::sim::check {

class ReducedOrder {
 public:
  // Without the releases of arrivals that announce bytes.
  ReducedOrder() = default;
  // Without this barrier.
  explicit ReducedOrder(Pc barrier_pc) : without_(barrier_pc) {}

  void accessed(uint32_t warp, uint64_t byte, uint64_t bytes, const Access& access);
  void issued(uint32_t warp, const AsyncIssue& issue, uint64_t shared_bytes);
  void joined(uint32_t warp, uint64_t id) { open_[{warp, isa::AsyncGroup::wgmma}].push_back(id); }
  void committed(uint32_t warp, isa::AsyncGroup kind);
  void waited(uint32_t warp, isa::AsyncGroup kind, uint64_t allowed, bool read_only);
  void deferred(uint64_t id, std::span<const uint64_t> awaited);
  void committed_products(uint32_t warp, uint64_t id);  // tcgen05.commit
  void mbarrier(uint32_t warp, const MbarrierEvent& event);
  void barrier(uint32_t warp, Pc pc, std::array<uint64_t, 3> generation, bool pass);
  void fenced(uint32_t warp, const isa::Fence& fence);
  // Tensor memory: tcgen05.ld and .st, their waits, fences; columns that are freed.
  void accessed(uint32_t warp, const TensorAccess& access);
  void waited_for_tensor_memory(uint32_t warp, bool stores);
  void fenced_tensor_memory(uint32_t warp, bool after);
  void freed(uint32_t warp, CtaRank rank, const TensorAllocated& columns);

  // Every two conflicting accesses are ordered, with a proxy fence between them where one is needed.
  bool complete() const { return complete_; }

 private:
  static constexpr size_t most_products = 4096;  // of a warp; more are not examined

  // The view of an actor: how far each warp's accesses are visible to the generic proxy and to other proxies,
  // and which operations are done; `tensor`: those that its last tcgen05.fence::after covers.
  struct Knowledge {
    std::vector<uint32_t> warps, async_proxy;
    std::set<uint64_t> done, read, tensor;
    void join(const Knowledge& other);
  };
  struct Record {
    bool async = false, writes = false, tensor = false;
    uint32_t warp = 0, time = 0;
    uint64_t operation = 0;
  };
  struct TensorAccesses {
    std::vector<uint64_t> loads, stores, awaited;
  };

  Knowledge& of(uint32_t warp);
  bool before(const Record& record, const Knowledge& knowledge, bool by_async) const;
  void touch(uint64_t byte, uint64_t bytes, const Record& record);
  void touch_place(uint64_t place, const Record& record);
  void check_initialised(uint32_t warp, SharedAddress mbarrier);

  std::map<uint32_t, Knowledge> warps_;
  std::map<uint32_t, NewestPhases<Knowledge>> mbarriers_;  // what arrived
  std::map<std::array<uint64_t, 3>, Knowledge> barriers_;
  std::map<std::pair<uint32_t, isa::AsyncGroup>, std::vector<uint64_t>> open_;
  std::map<std::pair<uint32_t, isa::AsyncGroup>, std::vector<std::vector<uint64_t>>> groups_;
  std::map<uint64_t, std::vector<uint64_t>> deferred_;
  uint32_t without_ = ~0u;
  std::map<uint32_t, std::vector<uint64_t>> products_;  // of tcgen05, by warp
  std::map<uint32_t, std::set<uint64_t>> known_;        // by warp: what was done before its last product
  std::map<uint64_t, std::set<uint64_t>> known_to_;     // by commit
  std::map<uint32_t, TensorAccesses> tensor_;           // by warp
  std::map<uint32_t, Record> inits_;                    // by mbarrier
  uint64_t tensor_accesses_ = 0;
  std::unordered_map<uint64_t, std::vector<Record>> places_;  // looked up, never iterated
  bool complete_ = true;
};

}  // namespace palladion::sim::check
