// Loads and stores of single elements at arrays of indices.
#include <fmt/format.h>

#include "frontend/arrays/array.h"
#include "frontend/arrays/masked.h"
#include "frontend/arrays/mover.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

using frontend::Access;
using frontend::Address;
using frontend::Mover;

namespace {

void check_gather(const Ref& ref, const std::vector<Array>& indices, std::string_view verb) {
  if (ref.space() == MemorySpace::regs)
    fail(Code::bad_space,
         fmt::format("{} of {} at indices: an accumulator has no addresses", verb, to_string(ref)));
  if (indices.size() != ref.rank() || indices.empty()) {
    fail(Code::shape_mismatch,
         fmt::format("{} of {} at {} index arrays: one for each dimension is needed", verb, to_string(ref),
                     indices.size()),
         "index leading dimensions with .at(i) first, or give an index array for each");
  }
  for (const Array& i : indices) {
    i.check_assigned(Recorder::current().loc());
    if (i.dtype() != DType::s32 && i.dtype() != DType::u32)
      fail(Code::bad_index,
           fmt::format("{} of {} at an {}: indices are s32 or u32", verb, to_string(ref), to_string(i)),
           "convert it with .astype(pl::s32)");
  }
}

// In one layout and shape, in which each element is some lane's.
void spread_alike(std::vector<Array>& arrays) {
  broadcast_together(arrays);
  if (!arrays.front().layout().is_splat()) return;
  const Layout layout = default_layout(arrays.front().shape(), arrays.back().dtype());
  for (Array& a : arrays) a = layout_cast(a, layout, Recorder::current().loc());
}

// Calls visit(e, address) for each element of a lane.
void walk_indices(Recorder& r, const Ref& ref, const std::vector<Array>& indices, std::string_view* space,
                  const std::function<void(size_t, const Address&)>& visit) {
  std::vector<std::vector<Operand>> elements;
  for (size_t d = 0; d < ref.rank(); ++d) elements.push_back(indices[d].elements());
  Access access(r, ref, {});
  *space = access.space();
  for (size_t e = 0; e < elements.front().size(); ++e) {
    std::vector<Scalar> at;
    for (const auto& dim : elements) at.push_back(Scalar::from_register(DType::s32, dim[e], true));
    visit(e, access.at_dynamic(at));
  }
}

}  // namespace

Array load(const Ref& ref, const std::vector<Array>& indices, std::source_location loc) {
  return load(ref, indices, true, 0, loc);
}

Array load(const Ref& ref, const std::vector<Array>& indices, const ArrayArg& mask, const ArrayArg& other,
           std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  frontend::check_loads_array();
  check_gather(ref, indices, "a load");
  std::vector<Array> all = indices;
  const bool masked = !frontend::always(mask);
  const std::string what = fmt::format("a load of {} at indices", to_string(ref));
  if (masked) {
    all.push_back(frontend::mask_array(mask, what));
    all.push_back(frontend::value_array(other, ref.dtype(), what));
  }
  spread_alike(all);
  const std::vector<Operand> holds = masked ? all[ref.rank()].elements() : std::vector<Operand>{};
  const std::vector<Operand> instead = masked ? all.back().elements() : std::vector<Operand>{};
  std::vector<Operand> out;
  std::string_view space;
  walk_indices(r, ref, all, &space, [&](size_t e, const Address& a) {
    const Mover mover{r, ref.dtype(), space};
    if (masked)
      out.push_back(mover.load_where(a, holds[e], instead[e]));
    else
      mover.load(a, 1, 1, out);
  });
  return Array::from_elements(ref.dtype(), all.front().shape(), all.front().layout(), out);
}

void store(const Ref& ref, const std::vector<Array>& indices, const Array& values, std::source_location loc) {
  store(ref, indices, values, true, loc);
}

void store(const Ref& ref, const std::vector<Array>& indices, const Array& values, const ArrayArg& mask,
           std::source_location loc) {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  check_gather(ref, indices, "a store");
  values.check_assigned(loc);
  if (values.dtype() != ref.dtype())
    fail(Code::dtype_mismatch,
         fmt::format("a store of an {} into {}: the dtypes differ", to_string(values), to_string(ref)),
         "convert it with .astype(dtype of the reference)");
  std::vector<Array> all = indices;
  all.push_back(values);
  const bool masked = !frontend::always(mask);
  if (masked) all.push_back(frontend::mask_array(mask, fmt::format("a store into {}", to_string(ref))));
  spread_alike(all);
  const std::vector<Operand> what = all[ref.rank()].elements();
  const std::vector<Operand> holds = masked ? all.back().elements() : std::vector<Operand>{};
  frontend::barrier_around_store(r, ref);
  std::string_view space;
  walk_indices(r, ref, all, &space, [&](size_t e, const Address& a) {
    const Operand own = frontend::one_of_the_copies(r, all.back().layout(), static_cast<int64_t>(e));
    Mover{r, ref.dtype(), space}.store(a, {what[e]}, 1, masked ? frontend::both(r, holds[e], own) : own);
  });
  frontend::barrier_around_store(r, ref);
}

}  // namespace palladion::plgpu
