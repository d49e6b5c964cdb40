#pragma once
// Warp-level code: the four warps of a warpgroup fork, each runs the body for itself, then they join.
#include <concepts>
#include <functional>
#include <source_location>
#include <string>

#include "frontend/core/scalar.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {

// The four warps of this Pallas thread as an axis: pl::axis_index(axis_name) is 0 .. 3 in the body.
struct WarpMesh {
  std::string axis_name;  // of the warp's number, 0 to 3
};

}  // namespace palladion::plgpu

namespace palladion::frontend {
void record_warps(const plgpu::WarpMesh& mesh, const std::function<void(const pl::Scalar&)>& body,
                  std::string_view verb);
}

namespace palladion::pl {

// Each warp runs the body for itself. It works on scalars and references: an Array, an allocation, wgmma, an
// arrival at a ClusterBarrier and a further core_map in it are Errors. A copy or a signal is issued by one
// lane of the warp, which alone waits for it with wait_smem_to_gmem. barrier_arrive counts as the arrival of
// the whole warpgroup, so that barriers need not know who arrives. Before the fork and at the join the
// warpgroup waits for all four, unless CompilerParams::unsafe_no_auto_barriers.
// A warp that waits for a barrier waits for each of its completions; where the warps join, the warpgroup goes
// on from there, also when one of them alone has waited (in JAX the others would wait for a past phase).
// Lanes meet behind a wait (bar.warp.sync; JAX has none): by the text of PTX, the lane that issues could pass
// whole phases before another lane of its warp has looked.
template <class Body>
void core_map(const plgpu::WarpMesh& mesh, Body&& body,
              std::source_location loc = std::source_location::current()) {
  static_assert(std::invocable<Body&>,
                "pl::core_map(WarpMesh, body): the body is a function without parameters");
  const frontend::VerbScope at(loc);
  frontend::record_warps(mesh, [&](const Scalar&) { body(); }, "pl::core_map");
}

}  // namespace palladion::pl

namespace palladion::plgpu {

// pl::core_map over a WarpMesh without a name: body(warp), warp 0 .. 3.
template <class Body>
void warp_map(Body&& body, std::source_location loc = std::source_location::current()) {
  static_assert(std::invocable<Body&, const Scalar&>,
                "plgpu::warp_map(body): the body takes the warp's number, (pl::Scalar warp)");
  const frontend::VerbScope at(loc);
  frontend::record_warps({}, [&](const Scalar& warp) { body(warp); }, "plgpu::warp_map");
}

}  // namespace palladion::plgpu
