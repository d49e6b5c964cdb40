#include "frontend/launch/vmap.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"

namespace palladion::pl {

using plgpu::KernelFunction;
using plgpu::Ref;

PallasCall vmap(const PallasCall& call, const VmapOptions& options) {
  return call.batched({options.in_axes, options.axis_size});
}

namespace {

std::string unused_axis_name(const plgpu::KernelOptions& o) {
  std::string name = "vmap";
  const auto taken = [&] { return std::ranges::find(o.grid_names, name) != o.grid_names.end(); };
  for (int i = 1; taken(); ++i) name = fmt::format("vmap_{}", i);
  return name;
}

Ref element(const Ref& ref, int axis, const Scalar& index) {
  std::vector<plgpu::Indexer> indices(static_cast<size_t>(axis), plgpu::Indexer(pl::all));
  indices.emplace_back(index);
  return ref.index(indices);
}

// What the body sees as its grid.
frontend::ProgramIds ids_without_first(const std::vector<int64_t>& grid) {
  frontend::ProgramIds ids;
  for (size_t i = 1; i < grid.size(); ++i) {
    ids.ids.push_back(program_id(static_cast<int>(i)));
    ids.sizes.push_back(grid[i]);
  }
  return ids;
}

}  // namespace

KernelFunction vmap(KernelFunction kernel, const VmapOptions& options, std::source_location loc) {
  plgpu::KernelOptions& o = kernel.options;
  std::vector<ShapeDtype> ins = o.in_types.list(), outs = o.out_type.list();
  const std::vector<int> axes = options.in_axes.value_or(std::vector<int>(ins.size(), 0));
  if (axes.size() != ins.size())
    fail(Code::bad_axis, fmt::format("vmap: in_axes has {} numbers for {} inputs", axes.size(), ins.size()),
         loc);
  if (options.axis_size < 1)
    fail(Code::bad_axis, "vmap of a kernel function needs an axis_size", loc,
         "its in_types are those of one element of the batch");
  for (size_t i = 0; i < ins.size(); ++i) {
    if (axes[i] > static_cast<int>(ins[i].shape.size()))
      fail(Code::bad_axis,
           fmt::format("vmap: an input {} cannot have its batch as dimension {}", to_string(ins[i]), axes[i]),
           loc);
    if (axes[i] >= 0) ins[i].shape.insert(ins[i].shape.begin() + axes[i], options.axis_size);
  }
  for (ShapeDtype& t : outs) t.shape.insert(t.shape.begin(), options.axis_size);
  if (!o.grid_names.empty() || o.grid.empty()) o.grid_names.insert(o.grid_names.begin(), unused_axis_name(o));
  o.grid.insert(o.grid.begin(), options.axis_size);
  o.in_types = ins;
  o.out_type = outs;
  kernel.body = [body = std::move(kernel.body), axes, grid = o.grid](const std::vector<Ref>& refs,
                                                                     plgpu::Scratch& scratch) {
    const Scalar index = program_id(0);
    std::vector<Ref> elements;
    for (size_t i = 0; i < refs.size(); ++i) {
      const int axis = i < axes.size() ? axes[i] : 0;
      elements.push_back(axis < 0 ? refs[i] : element(refs[i], axis, index));
    }
    const frontend::WithProgramIds here(ids_without_first(grid));
    body(elements, scratch);
  };
  return kernel;
}

}  // namespace palladion::pl
