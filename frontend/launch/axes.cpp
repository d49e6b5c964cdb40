// The position of a program: along the axes of the grid, the cluster and the threads.
#include <fmt/format.h>

#include "frontend/core/program_ids.h"
#include "frontend/core/scalar.h"
#include "frontend/core/verbs.h"

namespace palladion::pl {

using frontend::Binary;

namespace {

Scalar special(Recorder& r, isa::Special s, int component) {
  return Scalar::from_register(
      DType::s32, r.at_entry("mov.u32", {Operand::special_reg(s, component)}, isa::Type::b32), true);
}

Scalar grid_position(Recorder& r, size_t axis) {
  const auto& grid = r.mesh().grid;
  const bool clustered = !r.mesh().cluster.empty();
  int64_t inner = 1;
  for (size_t i = axis + 1; i < grid.size(); ++i) inner *= grid[i].size;
  Scalar position;
  r.in_prologue([&] {
    const Scalar linear = special(r, clustered ? isa::Special::clusterid : isa::Special::ctaid, 0);
    position = binary(Binary::div, linear, Scalar(inner));
    if (axis > 0) position = binary(Binary::rem, position, Scalar(grid[axis].size));
    if (!position.is_constant()) position = Scalar::from_register(DType::s32, position.operand(), true);
  });
  return grid[axis].size == 1 ? Scalar(0) : position;
}

Scalar cluster_position(Recorder& r, size_t axis) {
  const auto& cluster = r.mesh().cluster;
  if (cluster[axis].size == 1) return Scalar(0);
  return special(r, isa::Special::cluster_ctaid, static_cast<int>(cluster.size() - 1 - axis));
}

[[noreturn]] void unknown_axis(const Recorder& r, const std::string& name) {
  std::string known;
  const auto add = [&](const frontend::Axis& a) {
    if (!a.name.empty()) known += (known.empty() ? "" : ", ") + a.name;
  };
  for (const auto& a : r.mesh().grid) add(a);
  for (const auto& a : r.mesh().cluster) add(a);
  add(r.mesh().thread);
  if (r.warp) add({r.warp->axis});
  fail(Code::unknown_axis, fmt::format("the kernel has no axis named \"{}\"", name),
       known.empty() ? "name the axes with grid_names, cluster_names and thread_name"
                     : "its axes are: " + known);
}

}  // namespace

Scalar axis_index(const std::string& name, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (name.empty()) unknown_axis(r, name);
  for (size_t i = 0; i < r.mesh().grid.size(); ++i)
    if (r.mesh().grid[i].name == name) return grid_position(r, i);
  for (size_t i = 0; i < r.mesh().cluster.size(); ++i)
    if (r.mesh().cluster[i].name == name) return cluster_position(r, i);
  if (r.mesh().thread.name == name && !name.empty()) {
    return Scalar::from_register(DType::s32, r.thread.index(), true);
  }
  if (r.warp && r.warp->axis == name && !name.empty())
    return Scalar::from_register(DType::s32, r.thread.warp_index(), true);
  unknown_axis(r, name);
}

int64_t axis_size(const std::string& name, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (name.empty()) unknown_axis(r, name);
  for (const auto& a : r.mesh().grid)
    if (a.name == name) return a.size;
  for (const auto& a : r.mesh().cluster)
    if (a.name == name) return a.size;
  if (r.mesh().thread.name == name && !name.empty()) return r.mesh().thread.size;
  if (r.warp && r.warp->axis == name && !name.empty()) return frontend::warps_per_group;
  unknown_axis(r, name);
}

namespace {
void check_program_axis(const Recorder& r, int axis) {
  const size_t axes =
      frontend::program_ids() != nullptr ? frontend::program_ids()->ids.size() : r.mesh().grid.size();
  if (axis < 0 || static_cast<size_t>(axis) >= axes) {
    fail(Code::unknown_axis, fmt::format("the grid has {} axes, there is no axis {}", axes, axis),
         "axes count from 0: pl::program_id(0) is the first dimension of the grid");
  }
}
}  // namespace

Scalar program_id(int axis, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  check_program_axis(r, axis);
  if (const auto* ids = frontend::program_ids()) return ids->ids[static_cast<size_t>(axis)];
  return grid_position(r, static_cast<size_t>(axis));
}

int64_t num_programs(int axis, std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  check_program_axis(r, axis);
  if (const auto* ids = frontend::program_ids()) return ids->sizes[static_cast<size_t>(axis)];
  return r.mesh().grid[static_cast<size_t>(axis)].size;
}

}  // namespace palladion::pl
