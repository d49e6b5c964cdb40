#include "frontend/pipeline/nd_loop.h"

#include <fmt/format.h>

#include "frontend/core/verbs.h"

namespace palladion::plgpu {

using pl::Indices;
using pl::Scalar;

NDLoop::NDLoop(Indices grid, const NDLoopOptions& options, std::source_location loc)
    : grid_(std::move(grid)) {
  if (grid_.empty()) fail(Code::bad_grid, "nd_loop: the grid has no dimensions", loc);
  if (options.collective_axes.empty())
    fail(Code::unknown_axis, "nd_loop: collective_axes must name at least one axis", loc,
         "the axes over which the steps are dealt");
  Scalar total(1);
  for (Scalar& g : grid_) {
    if (g.is_constant() && g.as_int() < 1)
      fail(Code::bad_grid, fmt::format("nd_loop: a grid dimension is {}, it must be at least 1", g.as_int()),
           loc);
    total = total * g;
  }
  if (options.tiling) {
    tiling_ = *options.tiling;
    if (tiling_.size() != grid_.size())
      fail(Code::bad_grid,
           fmt::format("nd_loop: tiling has {} dimensions, the grid has {}", tiling_.size(), grid_.size()),
           loc);
    for (size_t i = 0; i < grid_.size(); ++i) {
      if (!grid_[i].is_constant())
        fail(Code::bad_grid, "nd_loop: tiling needs a grid whose sizes are known while recording", loc);
      if (tiling_[i] < 1 || grid_[i].as_int() % tiling_[i] != 0) {
        fail(Code::bad_grid,
             fmt::format("nd_loop: Tiling {} does not divide grid {} in dimension {}", tiling_[i],
                         grid_[i].as_int(), i),
             loc);
      }
    }
  }
  for (const std::string& name : options.collective_axes) {
    const int64_t size = pl::axis_size(name, loc);
    program_ = program_ * size + pl::axis_index(name, loc);
    programs_ *= size;
  }
  // ceil((total - program) / programs): program < programs, so nothing is negative but the sum for programs
  // beyond the grid.
  steps_ = pl::maximum(total - program_ + (programs_ - 1), 0) / programs_;
  if (total.is_constant() && total.as_int() % programs_ == 0) steps_ = Scalar(total.as_int() / programs_);
}

NDLoopInfo NDLoop::at(const Scalar& local_index) const {
  NDLoopInfo info{Indices(grid_.size(), Scalar(0)), local_index, steps_};
  Scalar rest = local_index * programs_ + program_;
  const auto take = [&](const Scalar& size) {
    const Scalar digit = rest % size;
    rest = rest / size;
    return digit;
  };
  if (tiling_.empty()) {
    for (size_t i = grid_.size(); i-- > 1;) info.index[i] = take(grid_[i]);
    info.index[0] = rest;
    return info;
  }
  for (size_t i = grid_.size(); i-- > 0;) info.index[i] = take(tiling_[i]);
  for (size_t i = grid_.size(); i-- > 1;)
    info.index[i] = take(grid_[i] / tiling_[i]) * tiling_[i] + info.index[i];
  info.index[0] = rest * tiling_[0] + info.index[0];
  return info;
}

}  // namespace palladion::plgpu
