#include "frontend/pipeline/block_spec.h"

#include <fmt/format.h>

namespace palladion::pl::detail {

void wrong_index_map(size_t rank) {
  frontend::fail(frontend::Code::bad_block_spec,
                 fmt::format("the index_map of a BlockSpec does not take the {} indices of the grid", rank),
                 "it takes one pl::Index for each axis of the grid, or one const pl::Indices&");
}

}  // namespace palladion::pl::detail

namespace palladion::frontend {

using pl::BlockDim;
using pl::Indices;
using pl::Scalar;
using plgpu::BlockSpec;
using plgpu::Ref;

BlockSpec resolved(const BlockSpec& spec, const pl::Shape& array, std::string_view verb) {
  BlockSpec out = spec;
  if (spec.options.memory_space == plgpu::MemorySpace::regs ||
      spec.options.memory_space == plgpu::MemorySpace::tmem) {
    fail(Code::bad_block_spec, fmt::format("{}: the blocks of a BlockSpec are in SMEM or GMEM", verb),
         spec.loc);
  }
  if (!spec.in_smem() && !spec.options.transforms.empty()) {
    fail(Code::bad_block_spec,
         fmt::format("{}: a BlockSpec in GMEM has no transforms: they describe SMEM", verb), spec.loc);
  }
  if (spec.options.delay_release < 0) {
    fail(Code::bad_block_spec,
         fmt::format("{}: delay_release is {}, it must not be negative", verb, spec.options.delay_release),
         spec.loc, "give the number of steps that a buffer is kept longer; 0 is none");
  }
  if (!spec.block_shape) {
    if (spec.index_map)
      fail(Code::bad_block_spec, fmt::format("{}: a BlockSpec with an index_map needs a block_shape", verb),
           spec.loc);
    out.block_shape.emplace(array.begin(), array.end());
    out.index_map = [rank = array.size()](const Indices&) { return Indices(rank, Scalar(0)); };
    return out;
  }
  if (spec.block_shape->size() != array.size()) {
    fail(Code::bad_block_spec,
         fmt::format("{}: a block of {} dimensions for an array of shape {}", verb, spec.block_shape->size(),
                     pl::to_string(array)),
         spec.loc, "use pl::squeezed for dimensions that the body does not see");
  }
  for (const BlockDim& d : *spec.block_shape) {
    if (d.size < 1)
      fail(Code::bad_block_spec,
           fmt::format("{}: a block dimension is {}, it must be at least 1", verb, d.size), spec.loc,
           "give the size of the block; a dimension of size 1 that the body does not see is nullptr");
  }
  if (!spec.index_map) {
    out.index_map = [rank = array.size()](const Indices&) { return Indices(rank, Scalar(0)); };
  }
  return out;
}

Indices block_indices(const BlockSpec& spec, const Indices& grid_indices) {
  Indices out;
  {
    const UserCode user;
    out = spec.index_map(grid_indices);
  }
  if (out.size() != spec.block_shape->size()) {
    fail(Code::bad_block_spec,
         fmt::format("the index_map gives {} indices for a block of {} dimensions", out.size(),
                     spec.block_shape->size()),
         spec.loc, "return one index for each dimension of the block");
  }
  for (Scalar& s : out) s = s.is_constant() ? Scalar(s.as_int()) : s;
  return out;
}

Ref block_window(const BlockSpec& spec, const Ref& array, const Indices& blocks) {
  std::vector<plgpu::Indexer> index;
  for (size_t d = 0; d < blocks.size(); ++d) {
    const BlockDim& dim = (*spec.block_shape)[d];
    switch (dim.kind) {
      case BlockDim::Kind::dropped:
        index.emplace_back(blocks[d]);
        break;
      case BlockDim::Kind::element:
        index.emplace_back(pl::ds(blocks[d], dim.size));
        break;
      case BlockDim::Kind::blocked:
        index.emplace_back(pl::ds(blocks[d] * dim.size, dim.size));
        break;
    }
  }
  return array.index(index);
}

pl::Shape visible_shape(const BlockSpec& spec) {
  pl::Shape shape;
  for (const BlockDim& d : *spec.block_shape)
    if (d.kind != BlockDim::Kind::dropped) shape.push_back(d.size);
  return shape;
}

}  // namespace palladion::frontend
