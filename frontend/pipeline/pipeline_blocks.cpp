#include "frontend/pipeline/pipeline_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "frontend/control/control.h"

namespace palladion::frontend {

using pl::DType;
using pl::Indices;
using pl::Scalar;
using plgpu::BlockSpec;
using plgpu::Ref;

namespace {

bool is_one(const Scalar& s) { return s.is_constant() && s.as_int() == 1; }
bool same_register(const Scalar& a, const Scalar& b) {
  return a.has_register() && b.has_register() && a.without_offset().operand() == b.without_offset().operand();
}

Scalar differs(const Indices& a, const Indices& b) {
  Scalar any(false);
  for (size_t i = 0; i < a.size(); ++i) {
    if (same_register(a[i], b[i]) && a[i].offset() == b[i].offset()) continue;
    any = any || (a[i] != b[i]);
  }
  return any;
}

}  // namespace

// --- the grid -----------------------------------------------------------------------------------------

PipelineGrid::PipelineGrid(const Indices& grid, std::string_view verb) : sizes(grid), steps(1) {
  for (Scalar& s : sizes) {
    if (!pl::is_integer(s.dtype()))
      fail(Code::bad_pipeline,
           fmt::format("{}: a grid dimension is a {}, it must be an integer", verb, pl::name(s.dtype())),
           "convert it with .astype(pl::s32)");
    if (s.is_constant() && s.as_int() < 1) {
      fail(Code::bad_pipeline,
           fmt::format("{}: grid dimensions must be positive, one is {}", verb, s.as_int()),
           "a pipeline has at least one step; guard dynamic ones with pl::when");
    }
    s = s.is_constant() ? Scalar(s.as_int()) : s.astype(DType::s32);
    steps = steps * s;
  }
}

Indices PipelineGrid::next(const Indices& indices) const {
  Indices out = indices;
  Scalar up(1);
  for (size_t i = rank(); i-- > 0;) {
    if (is_one(sizes[i])) continue;
    const Scalar moved = indices[i] + up;
    const Scalar wraps = moved == sizes[i];
    out[i] = where(wraps, 0, moved);
    up = wraps.is_constant() ? Scalar(wraps.as_int()) : where(wraps, 1, 0);
    if (up.is_constant() && up.as_int() == 0) break;
  }
  return out;
}

GridWalk::GridWalk(const PipelineGrid& grid, const Indices& start, int64_t ahead)
    : grid_(grid), ahead_(ahead) {
  for (size_t i = 0; i < grid.rank(); ++i)
    if (!is_one(grid.sizes[i])) axes_.push_back(i);
  if (axes_.size() <= 1) return;
  Carry from;
  for (size_t i : axes_) add_leaf(from, start[i].astype(DType::s32));
  registers_ = copy_carry(Recorder::current(), from);
}

Indices GridWalk::at(const Scalar& step) const {
  Indices out = grid_.origin();
  if (axes_.size() == 1) out[axes_[0]] = step + ahead_;
  if (axes_.size() <= 1) return out;
  for (size_t k = 0; k < axes_.size(); ++k)
    out[axes_[k]] = Scalar::from_register(DType::s32, registers_[k].registers.front(), true);
  return out;
}

void GridWalk::advance(const Scalar& step) {
  if (axes_.size() <= 1) return;
  const Indices next = grid_.next(at(step));
  Carry to;
  for (size_t i : axes_) add_leaf(to, next[i].astype(DType::s32));
  assign_carry(Recorder::current(), registers_, to, "pipeline");
}

// --- one input or output ------------------------------------------------------------------------------

namespace {

void collect(const Operand& o, std::vector<uint32_t>& registers) {
  if (o.is(Operand::Kind::reg)) registers.push_back(o.id);
  for (const Operand& e : o.elements) collect(e, registers);
}

// Whether the value of `result` comes from one of the registers, by what was recorded from `first` on.
bool depends_on(const isa::Function& f, size_t first, std::unordered_set<uint32_t> tainted,
                const Indices& result) {
  for (size_t i = first; i < f.body.size(); ++i) {
    const isa::Instruction& instruction = f.body[i];
    std::vector<uint32_t> used;
    for (const Operand& o : instruction.operands) collect(o, used);
    if (instruction.guard.reg != isa::no_id) used.push_back(instruction.guard.reg);
    if (std::ranges::none_of(used, [&](uint32_t id) { return tainted.contains(id); })) continue;
    std::vector<uint32_t> results;
    for (size_t k = 0; k < instruction.operands.size() && (k == 0 || instruction.operands[k].joined); ++k)
      collect(instruction.operands[k], results);
    tainted.insert(results.begin(), results.end());
  }
  return std::ranges::any_of(result, [&](const Scalar& s) {
    return s.has_register() && tainted.contains(s.without_offset().operand().id);
  });
}

struct MapTraits {
  bool invariant = true, moves = false;
};

// Records the index map for unknown grid indices, looks at what it made of them, and takes it back.
MapTraits traits_of(const BlockSpec& spec, const PipelineGrid& grid) {
  Recorder& r = Recorder::current();
  MapTraits t;
  const Region region(r, "an index_map");
  std::unordered_set<uint32_t> unknown;
  Indices dummies;
  for (size_t i = 0; i < grid.rank(); ++i) {
    const Operand reg = r.reg(Type::b32);
    unknown.insert(reg.id);
    dummies.push_back(Scalar::from_register(DType::s32, reg, true));
  }
  const size_t first = r.function().body.size();
  const Indices result = block_indices(spec, dummies);
  t.invariant = !depends_on(r.function(), first, unknown, result);
  r.function().body.resize(first);
  // Neighbouring steps differ along the last axis, unless it has one index only and another axis moves.
  size_t axes = 0;
  for (const Scalar& s : grid.sizes) axes += is_one(s) ? 0 : 1;
  const bool last_moves =
      grid.rank() > 0 && (axes == 1 ? !is_one(grid.sizes.back())
                                    : grid.sizes.back().is_constant() && grid.sizes.back().as_int() > 1);
  if (last_moves)
    t.moves = std::ranges::any_of(result, [&](const Scalar& s) { return same_register(s, dummies.back()); });
  return t;
}

// Dimensions that are longer than TMA's boxes are seen as two, where rows stay rows.
struct Split {
  std::vector<int64_t> chunks;  // a visible dimension: elements of the inner part, 0: not split
  bool any = false;
};

int64_t chunk_of(int64_t block, int64_t array) {
  for (int64_t c = Recorder::current().arch().max_box; c > 1; --c)
    if (block % c == 0 && array % c == 0) return c;
  return 0;
}

bool is_plain(const Ref& ref, size_t dim) {
  const int b = ref.dims()[dim].base;
  if (b < 0) return false;
  const Scalar& start = ref.starts()[static_cast<size_t>(b)];
  return ref.base().physical.dims[static_cast<size_t>(b)].tile == 1 &&
         ref.dims()[dim].size == ref.base().shape[static_cast<size_t>(b)] && start.is_constant() &&
         start.as_int() == 0;
}

Ref reshaped(const Ref& ref, const std::vector<int64_t>& chunks) {
  pl::Shape shape;
  for (size_t d = 0; d < ref.rank(); ++d) {
    if (chunks[d] == 0) {
      shape.push_back(ref.shape(d));
    } else {
      shape.push_back(ref.shape(d) / chunks[d]);
      shape.push_back(chunks[d]);
    }
  }
  return ref.reshape(shape);
}

struct Windows {
  Ref gmem, smem;
};

// The two windows of a copy.
Windows windows(const PipelineBuffer& b, const Scalar& slot, const Indices& grid_indices) {
  const Indices blocks = block_indices(b.spec, grid_indices);
  const pl::BlockShape& shape = *b.spec.block_shape;
  const Ref smem = b.slot(slot);
  std::vector<int64_t> of_array(shape.size()), of_block;
  const int64_t max_box = Recorder::current().arch().max_box;
  bool any = false;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].kind == pl::BlockDim::Kind::dropped) continue;
    if (shape[d].kind == pl::BlockDim::Kind::blocked && shape[d].size > max_box && is_plain(b.gmem, d) &&
        is_plain(smem, of_block.size())) {
      of_array[d] = chunk_of(shape[d].size, b.gmem.shape(d));
      any |= of_array[d] != 0;
    }
    of_block.push_back(of_array[d]);
  }
  if (!any) return {block_window(b.spec, b.gmem, blocks), smem};
  std::vector<plgpu::Indexer> index;
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t size = of_array[d] == 0 ? shape[d].size : shape[d].size / of_array[d];
    if (shape[d].kind == pl::BlockDim::Kind::dropped)
      index.emplace_back(blocks[d]);
    else
      index.emplace_back(
          pl::ds(shape[d].kind == pl::BlockDim::Kind::element ? blocks[d] : blocks[d] * size, size));
    if (of_array[d] != 0) index.emplace_back(pl::all);
  }
  return {reshaped(b.gmem, of_array).index(index), reshaped(smem, of_block)};
}

}  // namespace

Ref PipelineBuffer::visible(const Scalar& which, const Indices& grid_indices) const {
  if (in_smem) return slot(which);
  return block_window(spec, gmem, block_indices(spec, grid_indices));
}

void PipelineBuffer::copy_in(const Scalar& which, const Indices& grid_indices,
                             const plgpu::BarrierRef& barrier) const {
  plgpu::CopyInOptions options;
  options.collective_axes = spec.options.collective_axes;
  options.oob_mode = spec.options.oob_fill_mode;
  const Windows w = windows(*this, which, grid_indices);
  plgpu::copy_gmem_to_smem(w.gmem, w.smem, barrier, options);
}

void PipelineBuffer::copy_out(const Scalar& which, const Indices& grid_indices,
                              const std::optional<Scalar>& predicate) const {
  const Windows w = windows(*this, which, grid_indices);
  plgpu::CopyOutOptions options;
  options.predicate = predicate;
  options.commit_group = false;
  plgpu::copy_smem_to_gmem(w.smem, w.gmem, options);
}

plgpu::SmemType PipelineBuffer::smem_type() const {
  pl::Shape shape{slots};
  for (int64_t d : visible_shape(spec)) shape.push_back(d);
  return {std::move(shape), gmem.dtype(), {spec.options.transforms}};
}

void check_reference_count(size_t specs, size_t refs, std::string_view verb) {
  if (specs == refs) return;
  fail(Code::bad_pipeline,
       fmt::format("{}: {} references for {} in_specs and out_specs together", verb, refs, specs),
       "one BlockSpec for each reference, inputs first");
}

std::vector<PipelineBuffer> make_buffers(const std::vector<BlockSpec>& specs, const std::vector<Ref>& gmem,
                                         const PipelineGrid& grid, int64_t slots, std::string_view verb) {
  std::vector<PipelineBuffer> out;
  for (size_t i = 0; i < specs.size(); ++i) {
    if (gmem[i].space() != plgpu::MemorySpace::gmem)
      fail(Code::bad_pipeline,
           fmt::format("{} copies between GMEM and SMEM, {} is given", verb, plgpu::to_string(gmem[i])));
    PipelineBuffer b;
    b.spec = resolved(specs[i], gmem[i].shape(), verb);
    b.gmem = gmem[i];
    b.in_smem = specs[i].in_smem();
    const MapTraits t = traits_of(b.spec, grid);
    b.invariant = t.invariant;
    b.moves = t.moves;
    b.slots = t.invariant ? 1 : slots;
    out.push_back(std::move(b));
  }
  return out;
}

void when_within(const Scalar& condition, const std::function<void()>& body) {
  const Loc loc = Recorder::current().loc();
  const auto within = [&] {
    const VerbScope at(loc);
    body();
  };
  record_when(condition, within, "the pipeline");
}

void loop_within(const Scalar& steps, const std::function<void(const Scalar&)>& body) {
  const Loc loc = Recorder::current().loc();
  const auto within = [&](const Scalar& i) {
    const VerbScope at(loc);
    body(i);
  };
  record_loop(0, steps, 1, 1, within, "the pipeline");
}

Scalar slot_of(const Scalar& step, int64_t slots) { return slots == 1 ? Scalar(0) : step % slots; }

OutputBuffers::OutputBuffers(const std::vector<PipelineBuffer>& outs, const PipelineGrid& grid, int64_t slots)
    : outs_(outs), grid_(grid), slots_(slots), counters_(outs.size()) {
  for (size_t i = 0; i < outs.size(); ++i) {
    if (!outs[i].in_smem || outs[i].invariant || outs[i].moves || outs[i].slots == 1) continue;
    counters_[i] = copy_carry(Recorder::current(), flatten(Scalar::constant(DType::s32, int64_t{0})));
  }
}

bool OutputBuffers::any() const {
  return std::ranges::any_of(outs_, [](const PipelineBuffer& b) { return b.in_smem; });
}
bool OutputBuffers::any_in_loop() const {
  return std::ranges::any_of(outs_, [](const PipelineBuffer& b) { return b.in_smem && !b.invariant; });
}

void OutputBuffers::acquire() const {
  const bool reused = !grid_.is_static() || grid_.steps.as_int() > slots_;
  if (reused && any_in_loop()) plgpu::wait_smem_to_gmem(static_cast<int>(slots_ - 1), true);
}

Scalar OutputBuffers::slot(size_t i, const Scalar& step) const {
  const PipelineBuffer& b = outs_[i];
  if (b.slots == 1) return Scalar(0);
  if (b.moves) return slot_of(step, b.slots);
  return Scalar::from_register(DType::s32, counters_[i].front().registers.front(), true);
}

void OutputBuffers::store(const Scalar& step, const Indices& grid_indices) {
  if (!any_in_loop()) return;
  const Scalar last = step == grid_.steps - 1;
  const Indices after = grid_.next(grid_indices);
  std::vector<std::pair<size_t, Scalar>> next_slots;
  for (size_t i = 0; i < outs_.size(); ++i) {
    const PipelineBuffer& b = outs_[i];
    if (!b.in_smem || b.invariant) continue;
    if (b.moves) {
      b.copy_out(slot(i, step), grid_indices, std::nullopt);
      continue;
    }
    const Scalar changes = differs(block_indices(b.spec, grid_indices), block_indices(b.spec, after));
    b.copy_out(slot(i, step), grid_indices, changes || last);
    if (b.slots > 1) next_slots.emplace_back(i, where(changes, (slot(i, step) + 1) % b.slots, slot(i, step)));
  }
  plgpu::commit_smem_to_gmem_group();
  for (const auto& [i, next] : next_slots)
    assign_carry(Recorder::current(), counters_[i], flatten(next.astype(DType::s32)), "pipeline");
}

void OutputBuffers::finish() const {
  if (!any()) return;
  const bool stays =
      std::ranges::any_of(outs_, [](const PipelineBuffer& b) { return b.in_smem && b.invariant; });
  if (stays) {
    const auto store_all = [&] {
      plgpu::commit_smem();
      for (const PipelineBuffer& b : outs_)
        if (b.in_smem && b.invariant) b.copy_out(Scalar(0), grid_.origin(), std::nullopt);
      plgpu::commit_smem_to_gmem_group();
    };
    when_within(grid_.steps > 0, store_all);
  }
  plgpu::wait_smem_to_gmem(0);
}

void wrong_body(size_t refs, size_t barriers, bool carry, std::string_view verb, const Loc& loc) {
  fail(Code::bad_pipeline,
       fmt::format("{}: the body does not take (const pl::Indices&, {} references{}{})", verb, refs,
                   barriers == 0 ? "" : fmt::format(", {} barriers", barriers), carry ? ", the carry" : ""),
       loc, "references in the order of in_specs and out_specs");
}

void no_carry(std::string_view verb, const Loc& loc) {
  fail(Code::bad_carry, fmt::format("{}: the body takes a carry but returns nothing", verb), loc,
       "return the carry of the next step");
}

}  // namespace palladion::frontend
