#include "frontend/launch/pallas_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/core/program_ids.h"
#include "frontend/core/verbs.h"
#include "frontend/pipeline/pipeline.h"

namespace palladion::pl {

using Spec = plgpu::BlockSpec;
using plgpu::Ref;

namespace {

constexpr std::string_view verb = "pallas_call";

// One array of the call: its type and its blocks over the whole grid.
struct Argument {
  ShapeDtype type;
  Spec spec;
};

struct Call {
  std::vector<Argument> ins, outs;
  std::vector<int64_t> grid;
  std::vector<bool> sequential;
  size_t batch_axes = 0;  // leading axes of the grid that the body does not know
};

std::vector<bool> semantics(const PallasCallOptions& o, const std::source_location& loc) {
  const auto& words = o.compiler_params.dimension_semantics;
  std::vector<bool> sequential(o.grid.size());
  if (words.empty()) return sequential;
  if (words.size() != o.grid.size())
    fail(Code::bad_grid,
         fmt::format("pallas_call: dimension_semantics has {} words for a grid of {} axes", words.size(),
                     o.grid.size()),
         loc);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] != "parallel" && words[i] != "sequential" && words[i] != "arbitrary") {
      fail(Code::bad_grid,
           fmt::format("pallas_call: dimension_semantics are \"parallel\" and \"sequential\", not \"{}\"",
                       words[i]),
           loc);
    }
    sequential[i] = words[i] != "parallel";
    if (i > 0 && sequential[i - 1] && !sequential[i]) {
      fail(Code::bad_grid, "pallas_call: a parallel axis follows a sequential one", loc,
           "put the parallel axes of the grid first");
    }
  }
  return sequential;
}

std::vector<Argument> arguments(const std::vector<ShapeDtype>& types, const std::vector<Spec>& specs,
                                std::string_view which, const std::source_location& loc) {
  if (!specs.empty() && specs.size() != types.size()) {
    fail(Code::bad_block_spec,
         fmt::format("pallas_call: {} {} for {} arrays", specs.size(), which, types.size()), loc);
  }
  std::vector<Argument> out;
  for (size_t i = 0; i < types.size(); ++i) {
    Argument a{types[i], frontend::resolved(specs.empty() ? Spec(loc) : specs[i], types[i].shape, verb)};
    const auto& shape = *a.spec.block_shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (!a.spec.in_smem() &&
          (shape[d].kind == BlockDim::Kind::dropped || shape[d].size != types[i].shape[d])) {
        fail(Code::bad_block_spec,
             fmt::format("pallas_call: a block in GMEM must be the whole array {}, dimension {} is {}",
                         to_string(types[i]), d, shape[d].size),
             a.spec.loc,
             "leave block_shape and index_map out: plgpu::BlockSpec({.memory_space = plgpu::GMEM})");
      }
    }
    if (!a.spec.options.collective_axes.empty())
      fail(Code::bad_block_spec, "pallas_call: collective_axes are not supported", a.spec.loc);
    out.push_back(std::move(a));
  }
  return out;
}

// The array gets a dimension `axis`, of which every step of a new first axis of the grid sees one index.
void add_batch(Argument& a, int axis, int64_t size) {
  const IndexMap inner = a.spec.index_map;
  const auto place = static_cast<size_t>(std::max(axis, 0));
  if (axis < 0) {
    a.spec.index_map = [inner](const Indices& in) { return inner(Indices(in.begin() + 1, in.end())); };
    return;
  }
  a.type.shape.insert(a.type.shape.begin() + axis, size);
  a.spec.block_shape->insert(a.spec.block_shape->begin() + axis, squeezed);
  a.spec.index_map = [inner, place](const Indices& in) {
    Indices out = inner(Indices(in.begin() + 1, in.end()));
    out.insert(out.begin() + static_cast<int64_t>(place), in.front());
    return out;
  };
}

std::vector<int> axes_of(const BatchLevel& level, size_t inputs) {
  return level.in_axes.value_or(std::vector<int>(inputs, 0));
}

// Takes the batch dimension of a level out of the types; gives its size.
int64_t peel(std::vector<ShapeDtype>& types, const BatchLevel& level, const std::source_location& loc) {
  const std::vector<int> axes = axes_of(level, types.size());
  if (axes.size() != types.size())
    fail(Code::bad_axis, fmt::format("vmap: in_axes has {} numbers for {} inputs", axes.size(), types.size()),
         loc);
  int64_t size = level.axis_size;
  for (size_t i = 0; i < types.size(); ++i) {
    const int axis = axes[i];
    if (axis < 0) continue;
    if (static_cast<size_t>(axis) >= types[i].shape.size())
      fail(Code::bad_axis,
           fmt::format("vmap: in_axes names dimension {} of an input {}", axis, to_string(types[i])), loc);
    const int64_t here = types[i].shape[static_cast<size_t>(axis)];
    if (size != 0 && here != size)
      fail(Code::shape_mismatch,
           fmt::format("vmap got inconsistent sizes for array axes to be mapped: {} and {}", size, here),
           loc);
    size = here;
    types[i].shape.erase(types[i].shape.begin() + axis);
  }
  if (size < 1)
    fail(Code::bad_axis, "vmap must have at least one input with a batch axis, or an axis_size", loc);
  return size;
}

Call build(const PallasCallOptions& o, const std::vector<BatchLevel>& batch, std::vector<ShapeDtype> types,
           const std::source_location& loc) {
  std::vector<int64_t> sizes(batch.size());
  for (size_t l = batch.size(); l-- > 0;) sizes[l] = peel(types, batch[l], loc);
  Call call{arguments(types, o.in_specs, "in_specs", loc),
            arguments(o.out_shape.list(), o.out_specs, "out_specs", loc), o.grid, semantics(o, loc),
            batch.size()};
  for (size_t l = 0; l < batch.size(); ++l) {
    for (size_t i = 0; i < call.ins.size(); ++i)
      add_batch(call.ins[i], axes_of(batch[l], call.ins.size())[i], sizes[l]);
    for (Argument& out : call.outs) add_batch(out, 0, sizes[l]);
    call.grid.insert(call.grid.begin(), sizes[l]);
    call.sequential.insert(call.sequential.begin(), false);
  }
  return call;
}

// The specs of the pipeline over the sequential axes, within one program of the parallel ones.
std::vector<Spec> inner_specs(const std::vector<Argument>& arguments, const Indices& parallel) {
  std::vector<Spec> specs;
  for (const Argument& a : arguments) {
    Spec spec = a.spec;
    spec.index_map = [map = a.spec.index_map, parallel](const Indices& steps) {
      Indices all = parallel;
      all.insert(all.end(), steps.begin(), steps.end());
      return map(all);
    };
    specs.push_back(std::move(spec));
  }
  return specs;
}

void record_program(const Call& call, const PallasCallOptions& o, const plgpu::KernelBody& body,
                    const std::vector<Ref>& refs, plgpu::Scratch& scratch, const std::source_location& loc) {
  Indices parallel;
  plgpu::PipelineOptions p;
  for (size_t i = 0; i < call.grid.size(); ++i) {
    if (call.sequential[i])
      p.grid.emplace_back(call.grid[i]);
    else
      parallel.push_back(program_id(static_cast<int>(i), loc));
  }
  const bool pipelined = !p.grid.empty();
  if (!pipelined) p.grid = {1};
  const auto specs = [&](const std::vector<Argument>& arguments) {
    std::vector<Spec> out = inner_specs(arguments, parallel);
    if (pipelined) return out;
    for (Spec& s : out) s.index_map = [map = s.index_map](const Indices&) { return map({}); };
    return out;
  };
  p.in_specs = specs(call.ins);
  p.out_specs = specs(call.outs);
  p.max_concurrent_steps = o.compiler_params.max_concurrent_steps;
  plgpu::run_pipeline(
      p, refs,
      [&](const frontend::BodyArguments& a) {
        frontend::ProgramIds ids;
        const auto add = [&](const Scalar& id, size_t axis) {
          if (axis < call.batch_axes) return;
          ids.ids.push_back(id);
          ids.sizes.push_back(call.grid[axis]);
        };
        for (size_t i = 0; i < parallel.size(); ++i) add(parallel[i], i);
        for (size_t i = 0; pipelined && i < a.indices.size(); ++i) add(a.indices[i], parallel.size() + i);
        const frontend::WithProgramIds here(std::move(ids));
        body(a.refs, scratch);
      },
      loc);
}

std::vector<ShapeDtype> types_of(const std::vector<Argument>& arguments) {
  std::vector<ShapeDtype> out;
  for (const Argument& a : arguments) out.push_back(a.type);
  return out;
}

}  // namespace

PallasCall::PallasCall(plgpu::KernelBody body, PallasCallOptions options, std::source_location loc)
    : body_(std::move(body)), options_(std::move(options)), loc_(loc) {
  if (!options_.grid_spec) return;
  const VerbScope at(loc);
  if (!options_.grid.empty() || !options_.in_specs.empty() || !options_.out_specs.empty() ||
      !options_.scratch_shapes.empty())
    fail(Code::bad_grid, "pallas_call: grid_spec and one of grid, in_specs, out_specs, scratch_shapes",
         "a GridSpec holds all four");
  GridSpec& spec = *options_.grid_spec;
  options_.grid = std::move(spec.grid);
  options_.in_specs = std::move(spec.in_specs);
  options_.out_specs = std::move(spec.out_specs);
  options_.scratch_shapes = std::move(spec.scratch_shapes);
}

plgpu::Kernel PallasCall::operator()(const std::vector<ShapeDtype>& in_types) const {
  const Call call = build(options_, batch_, in_types, loc_);
  plgpu::KernelOptions o;
  o.in_types = types_of(call.ins);
  o.out_type = types_of(call.outs);
  o.scratch_types = options_.scratch_shapes;
  o.compiler_params.approx_math = options_.compiler_params.approx_math;
  o.compiler_params.unsafe_no_auto_barriers = options_.compiler_params.unsafe_no_auto_barriers;
  o.compiler_params.reduction_scratch_bytes = options_.compiler_params.reduction_scratch_bytes;
  for (size_t i = 0; i < call.grid.size(); ++i)
    if (!call.sequential[i]) o.grid.push_back(call.grid[i]);
  o.name = options_.name;
  o.input_output_aliases = options_.input_output_aliases;
  return plgpu::record_kernel(
      [&](const std::vector<Ref>& refs, plgpu::Scratch& scratch) {
        record_program(call, options_, body_, refs, scratch, loc_);
      },
      o, loc_);
}

}  // namespace palladion::pl
