#include "frontend/memory/indexed.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/arrays/broadcast.h"
#include "frontend/arrays/masked.h"
#include "frontend/core/verbs.h"

namespace palladion::pl {

using plgpu::Array;
using plgpu::ArrayArg;
using plgpu::Layout;
using plgpu::Ref;

namespace {

const Array* array_in(const MemoryIndex& index) { return std::get_if<Array>(&index.value); }

// A window without the dimensions that numbers name; for each that is left, its index array, or null.
struct Picked {
  Ref window;
  std::vector<const Array*> arrays;
  bool any() const {
    return std::ranges::any_of(arrays, [](const Array* a) { return a != nullptr; });
  }
};

Picked pick(const Ref& ref, const std::vector<MemoryIndex>& indices, std::source_location loc) {
  Picked out;
  std::vector<plgpu::Indexer> window;
  for (const MemoryIndex& i : indices) {
    const Array* a = array_in(i);
    window.push_back(a != nullptr ? plgpu::Indexer(pl::all) : std::get<plgpu::Indexer>(i.value));
    if (a != nullptr || !std::holds_alternative<Scalar>(window.back())) out.arrays.push_back(a);
  }
  out.window = ref.index(window, loc);
  out.arrays.resize(out.window.rank());
  return out;
}

// Where the dimensions of the index arrays stand in the result.
struct Result {
  Shape shape;
  size_t first = 0, rank = 0;  // of the index arrays
};

Result result_of(const Picked& picked) {
  std::vector<Array> arrays;
  Result out;
  bool ended = false;
  for (size_t d = 0; d < picked.arrays.size(); ++d) {
    if (picked.arrays[d] == nullptr) {
      ended |= !arrays.empty();
      continue;
    }
    if (ended)
      fail(Code::bad_index,
           fmt::format("index arrays of {} with a slice between them", plgpu::to_string(picked.window)),
           "transpose the reference first, so that they stand next to each other");
    if (arrays.empty()) out.first = d;
    arrays.push_back(*picked.arrays[d]);
  }
  std::vector<Shape> shapes;
  for (const Array& a : arrays) shapes.push_back(a.shape());
  const Shape common = plgpu::broadcast_shape(shapes);
  out.rank = common.size();
  for (size_t d = 0; d < picked.arrays.size(); ++d) {
    if (picked.arrays[d] == nullptr) out.shape.push_back(picked.window.shape(d));
    if (d == out.first) out.shape.insert(out.shape.end(), common.begin(), common.end());
  }
  return out;
}

// An array of indices for each dimension of the window, all of the result's shape.
std::vector<Array> all_indices(const Picked& picked, const Result& result, std::source_location loc) {
  Layout layout = plgpu::default_layout(result.shape, picked.window.dtype(), loc);
  for (const Array* a : picked.arrays)
    if (a != nullptr && a->shape() == result.shape && !a->layout().is_splat()) layout = a->layout();
  std::vector<Array> out;
  size_t at = 0;  // in the result
  for (size_t d = 0; d < picked.arrays.size(); ++d) {
    const Array* a = picked.arrays[d];
    if (d == result.first) at += result.rank;
    if (a == nullptr) {
      out.push_back(plgpu::broadcasted_iota(pl::s32, result.shape, static_cast<int>(at++), layout, loc));
      continue;
    }
    plgpu::Broadcast to{result.shape, {}};
    for (size_t i = 0; i < a->rank(); ++i)
      to.dimensions.push_back(static_cast<int>(result.first + result.rank - a->rank() + i));
    out.push_back(plgpu::broadcast_to_layout(*a, to, layout));
  }
  return out;
}

}  // namespace

Array load(const Ref& ref, const std::vector<MemoryIndex>& indices, const ArrayArg& mask,
           const ArrayArg& other, std::source_location loc) {
  const VerbScope at(loc);
  const Picked picked = pick(ref, indices, loc);
  if (!picked.any()) return plgpu::load(picked.window, {.mask = mask, .other = other}, loc);
  return plgpu::load(picked.window, all_indices(picked, result_of(picked), loc), mask, other, loc);
}

Array load(const Ref& ref, std::source_location loc) { return plgpu::load(ref, loc); }

void store(const Ref& ref, const std::vector<MemoryIndex>& indices, const ArrayArg& value,
           const ArrayArg& mask, std::source_location loc) {
  const VerbScope at(loc);
  const Picked picked = pick(ref, indices, loc);
  if (!picked.any()) return plgpu::store(picked.window, value, {.mask = mask}, loc);
  const Result result = result_of(picked);
  const Array values =
      frontend::value_array(value, ref.dtype(), fmt::format("a store into {}", plgpu::to_string(ref)));
  if (plgpu::broadcast_shape({result.shape, values.shape()}) != result.shape)
    fail(Code::shape_mismatch,
         fmt::format("a store of an {} at indices of shape {}", plgpu::to_string(values),
                     pl::to_string(result.shape)),
         "the values broadcast to the shape of the indices");
  plgpu::store(picked.window, all_indices(picked, result, loc), values, mask, loc);
}

}  // namespace palladion::pl
