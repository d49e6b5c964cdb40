#pragma once
// Asynchronous copies between global and shared memory (TMA and bulk copies).
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "frontend/arrays/array.h"
#include "frontend/core/older_names.h"
#include "frontend/core/words.h"
#include "frontend/refs/ref.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {

// What a copy brings for indices outside the array; PROMISE_IN_BOUNDS: there are none.
enum class OOBFillMode : uint8_t { ZEROS, UNDEFINED, PROMISE_IN_BOUNDS };

// How the CTAs of a pair share a copy whose arrival the first one tracks (sm_100, .cta_group::2).
struct CopyPartition {
  int axis = 0;  // -1: none
  // Each CTA gets its half of the source along this axis.
  static CopyPartition PARTITIONED(int axis) { return {axis}; }
  // Each CTA gets the whole source.
  static const CopyPartition REPLICATED;
};
inline constexpr CopyPartition CopyPartition::REPLICATED{-1};

PLD_OLDER_OPTION(OlderPartition,
                 ".partitioned_axis = n is .leader_tracked = plgpu::CopyPartition::PARTITIONED(n) today");

struct CopyInOptions {  // of plgpu::copy_gmem_to_smem
  // Multicast: every CTA along these cluster axes issues the copy, each fetches a part, all get the whole.
  AxisNames collective_axes = {};
  // An older name, which does not compile: the message says what it is today.
  OlderPartition partitioned_axis = {};
  OOBFillMode oob_mode = OOBFillMode::ZEROS;
  // False: nothing is copied, the barrier gets its arrival all the same.
  std::optional<Scalar> predicate;
  // Of a pair, the CTAs along the one collective axis, which is the cluster's last: the first CTA's barrier
  // alone gets the arrival, when the bytes of both are there. Both issue the copy; `dst` is what each gets.
  std::optional<CopyPartition> leader_tracked = std::nullopt;
};
// One arrival at `barrier` when all bytes are there.
void copy_gmem_to_smem(const Ref& src, const Ref& dst, const BarrierRef& barrier,
                       const CopyInOptions& options = {},
                       std::source_location loc = std::source_location::current());
// The options of plgpu::copy_smem_to_gmem.
struct CopyOutOptions {
  std::optional<Scalar> predicate;  // the copy happens where it holds
  bool commit_group = true;         // ends the group, as wait_smem_to_gmem counts them
  // add, min, max, inc, dec, and, or, xor; empty: a plain store.
  std::string reduction_op;
};
void copy_smem_to_gmem(const Ref& src, const Ref& dst, const CopyOutOptions& options = {},
                       std::source_location loc = std::source_location::current());
void commit_smem_to_gmem_group(std::source_location loc = std::source_location::current());
// Until at most n groups of this thread are on their way; `wait_read_only`: until SMEM may be overwritten.
void wait_smem_to_gmem(int n, bool wait_read_only = false,
                       std::source_location loc = std::source_location::current());

struct PrefetchOptions {  // of plgpu::async_prefetch
  // Each of the CTAs along these cluster axes fetches a part.
  AxisNames collective_axes = {};
  // False: nothing is fetched.
  std::optional<Scalar> predicate = std::nullopt;
};
// Into L2.
void async_prefetch(const Ref& ref, const PrefetchOptions& options = {},
                    std::source_location loc = std::source_location::current());

struct AsyncStoreOptions {  // of plgpu::async_store_smem
  Scalar cluster_idx;       // the CTA of the cluster that gets it
  std::string cluster_dim;  // the cluster's axis along which it is counted
  std::string atomic;       // add, min, max, inc, dec, and, or, xor; empty: a store
  bool optimized = true;    // an error when the stores would have bank conflicts
};
// Registers to the SMEM of another CTA, whose barrier gets one arrival when all bytes are there.
void async_store_smem(const Array& src, const Ref& ref, const BarrierRef& barrier,
                      const AsyncStoreOptions& options,
                      std::source_location loc = std::source_location::current());

}  // namespace palladion::plgpu
