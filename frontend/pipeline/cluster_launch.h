#pragma once
// Cluster launch control of Blackwell: a cluster that is done takes over the work of one that has not
// started. The grid has a program for each piece of work; the chip hands out the programs that nobody has
// begun.
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "frontend/memory/scoped.h"
#include "frontend/pipeline/nd_loop.h"

namespace palladion::plgpu {

// SMEM for the answers of try_cluster_cancel: (16,) bytes, or (num_buffers, 16).
SmemType TryClusterCancelResult(std::optional<int64_t> num_buffers = std::nullopt,
                                std::source_location loc = std::source_location::current());

// Asks, asynchronously, for a program that has not started, for the whole cluster. Called by all Pallas
// threads of all CTAs; the first thread of the first CTA asks, and each CTA gets the answer at the same place
// of its SMEM. `result`: 16 bytes of SMEM. `barrier` counts an arrival of each Pallas thread of the CTA
// (num_arrivals = number of threads); its phase completes when the answer is there. Before the next request
// into the same bytes all threads of the cluster must have read them (dynamic_scheduling_loop sees to it). A
// request after an answer that gave nothing is undefined (PLD3141 in the machine).
void try_cluster_cancel(const Ref& result, const BarrierRef& barrier,
                        std::source_location loc = std::source_location::current());

// The answer, after the wait for its barrier: the indices of the program along these axes of the grid, and
// whether there is one. The indices mean nothing when there is none.
std::pair<pl::Indices, pl::Scalar> query_cluster_cancel(
    const Ref& result, const std::vector<std::string>& grid_names,
    std::source_location loc = std::source_location::current());

struct DynamicSchedulingOptions {  // of plgpu::dynamic_scheduling_loop
  // thread_name of the kernel; must be given when it has several threads.
  std::string thread_axis = {};
  // All axes of the cluster; must be given when it has several CTAs.
  std::vector<std::string> cluster_axes = {};
};

}  // namespace palladion::plgpu

namespace palladion::frontend {
void record_dynamic_loop(const std::vector<std::string>& grid_names,
                         const plgpu::DynamicSchedulingOptions& options,
                         const std::function<void(const plgpu::NDLoopInfo&)>& body, std::source_location loc);
}  // namespace palladion::frontend

namespace palladion::plgpu {

// Calls the body for this program, then for each program that the cluster takes over, until none is left. The
// next one is asked for while the body runs. All Pallas threads of all CTAs call it, once a kernel. The body
// gets the indices along `grid_names` and how many steps this program did before; their number is not known.
template <class Body>
void dynamic_scheduling_loop(const std::vector<std::string>& grid_names,
                             const DynamicSchedulingOptions& options, Body&& body,
                             std::source_location loc = std::source_location::current()) {
  static_assert(std::invocable<Body&, const NDLoopInfo&>,
                "plgpu::dynamic_scheduling_loop(grid_names, options, body): the body takes (const "
                "plgpu::NDLoopInfo&); one that also takes a carry needs its initial value");
  frontend::record_dynamic_loop(grid_names, options, [&](const NDLoopInfo& info) { body(info); }, loc);
}

// carry = body(info, carry); gives the last one.
template <class Body, class Init>
  requires(!std::same_as<Init, std::source_location>)
frontend::CarryResult<Init> dynamic_scheduling_loop(
    const std::vector<std::string>& grid_names, const DynamicSchedulingOptions& options, Body&& body,
    const Init& init_carry, std::source_location loc = std::source_location::current()) {
  using State = frontend::CarryResult<Init>;
  static_assert(std::invocable<Body&, const NDLoopInfo&, const State&>,
                "plgpu::dynamic_scheduling_loop(grid_names, options, body, init): the body takes (const "
                "plgpu::NDLoopInfo&, carry)");
  if constexpr (std::invocable<Body&, const NDLoopInfo&, const State&>) {
    static_assert(
        !std::is_void_v<std::invoke_result_t<Body&, const NDLoopInfo&, const State&>>,
        "plgpu::dynamic_scheduling_loop(grid_names, options, body, init): the body returns the next "
        "carry, it returns nothing");
  }
  const frontend::VerbScope at(loc);
  frontend::Recorder& r = frontend::Recorder::current();
  const frontend::Carry carry = frontend::copy_carry(r, frontend::flatten(init_carry));
  frontend::record_dynamic_loop(
      grid_names, options,
      [&](const NDLoopInfo& info) {
        const auto next = body(info, frontend::rebuild(carry, init_carry));
        frontend::assign_carry(r, carry, frontend::flatten(next), "dynamic_scheduling_loop");
      },
      loc);
  return frontend::rebuild(carry, init_carry);
}

}  // namespace palladion::plgpu
