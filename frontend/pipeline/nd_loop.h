#pragma once
// A loop over a grid of any rank whose steps are dealt to the programs along named axes.
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "frontend/control/control.h"
#include "frontend/pipeline/block_spec.h"

namespace palladion::plgpu {
// What the body of plgpu::nd_loop gets in each step.
struct NDLoopInfo {
  pl::Indices index;       // in the grid
  pl::Scalar local_index;  // how many steps this program did before
  // That this program does; none in a dynamic_scheduling_loop, where nobody knows.
  std::optional<pl::Scalar> num_local_steps;
};
// The options of plgpu::nd_loop.
struct NDLoopOptions {
  AxisNames collective_axes = {};  // axes whose programs share the iterations
  // Goes through the grid tile by tile (row-major), which must divide it.
  std::optional<std::vector<int64_t>> tiling = {};
};

// The steps of this program: local_index * axis size + axis index, row-major.
class NDLoop {
 public:
  NDLoop(pl::Indices grid, const NDLoopOptions& options, std::source_location loc);
  // Iterations of this program.
  const pl::Scalar& num_local_steps() const { return steps_; }
  NDLoopInfo at(const pl::Scalar& local_index) const;  // indices and number of an iteration

 private:
  pl::Indices grid_;
  std::vector<int64_t> tiling_;
  pl::Scalar program_;
  int64_t programs_ = 1;
  pl::Scalar steps_;
};

// Calls body(info) once; it runs for each index of the grid that falls to this program.
template <class Body>
void nd_loop(pl::Indices grid, const NDLoopOptions& options, Body&& body,
             std::source_location loc = std::source_location::current()) {
  static_assert(
      std::invocable<Body&, const NDLoopInfo&>,
      "plgpu::nd_loop(grid, options, body): the body takes (const plgpu::NDLoopInfo&); one that also takes a "
      "carry needs its initial value");
  const frontend::VerbScope at(loc);
  const NDLoop loop(std::move(grid), options, loc);
  frontend::record_loop(
      0, loop.num_local_steps(), 1, 1,
      [&](const pl::Scalar& i) {
        const NDLoopInfo info = [&] {
          const frontend::VerbScope here(loc);
          return loop.at(i);
        }();
        body(info);
      },
      "plgpu::nd_loop");
}

// carry = body(info, carry); gives the last one.
template <class Body, class Init>
  requires(!std::same_as<Init, std::source_location>)
frontend::CarryResult<Init> nd_loop(pl::Indices grid, const NDLoopOptions& options, Body&& body,
                                    const Init& init_carry,
                                    std::source_location loc = std::source_location::current()) {
  using State = frontend::CarryResult<Init>;
  static_assert(
      std::invocable<Body&, const NDLoopInfo&, const State&>,
      "plgpu::nd_loop(grid, options, body, init): the body takes (const plgpu::NDLoopInfo&, carry)");
  if constexpr (std::invocable<Body&, const NDLoopInfo&, const State&>) {
    static_assert(
        !std::is_void_v<std::invoke_result_t<Body&, const NDLoopInfo&, const State&>>,
        "plgpu::nd_loop(grid, options, body, init): the body returns the next carry, it returns nothing");
  }
  const frontend::VerbScope at(loc);
  frontend::Recorder& r = frontend::Recorder::current();
  const NDLoop loop(std::move(grid), options, loc);
  const frontend::Carry carry = frontend::copy_carry(r, frontend::flatten(init_carry));
  frontend::record_loop(
      0, loop.num_local_steps(), 1, 1,
      [&](const pl::Scalar& i) {
        const NDLoopInfo info = [&] {
          const frontend::VerbScope here(loc);
          return loop.at(i);
        }();
        const auto next = body(info, frontend::rebuild(carry, init_carry));
        frontend::assign_carry(r, carry, frontend::flatten(next), "nd_loop");
      },
      "plgpu::nd_loop");
  return frontend::rebuild(carry, init_carry);
}

}  // namespace palladion::plgpu
