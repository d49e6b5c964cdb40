// Loads and stores of arrays: which instructions, which widths, which synchronisation.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontend/arrays/accumulators.h"
#include "frontend/arrays/array.h"
#include "frontend/arrays/matrix_access.h"
#include "frontend/core/verbs.h"
#include "frontend/refs/access.h"

namespace palladion::plgpu {

using frontend::Access;
using frontend::Address;

namespace {

void check_layout(const Layout& layout, const Ref& ref, std::string_view verb) {
  const std::string misfit = layout.misfit(ref.shape());
  if (!misfit.empty())
    fail(Code::layout_shape, fmt::format("{} of {}: {}", verb, to_string(ref), misfit),
         "choose a layout for the array's shape, e.g. Layout::WG_STRIDED, or slice whole tiles");
}

void check_bounds(const Ref& ref, std::string_view verb) {
  for (const auto& d : ref.dims()) {
    if (d.base < 0) continue;
    const Scalar& s = ref.starts()[static_cast<size_t>(d.base)];
    if (s.is_constant() &&
        (s.as_int() < 0 || s.as_int() + d.size > ref.base().shape[static_cast<size_t>(d.base)])) {
      fail(Code::out_of_bounds,
           fmt::format("{} of {}: [{}, {}) is out of bounds of a dimension of {}", verb, to_string(ref),
                       s.as_int(), s.as_int() + d.size, ref.base().shape[static_cast<size_t>(d.base)]));
    }
  }
}

// Moves one vector of elements in as few instructions as its place allows.
struct Mover {
  Recorder& r;
  DType dtype;
  std::string_view space;

  std::string element_type() const {
    if (dtype == DType::bool_) return "u8";
    if (pl::bits(dtype) == 8) return dtype == DType::s8 ? "s8" : "u8";
    if (dtype == DType::f32 || dtype == DType::f64) return std::string(pl::name(dtype));
    return fmt::format("b{}", pl::bits(dtype));
  }

  // `n` elements from one address; registers as Array keeps them with that packing.
  void load(const Address& a, int64_t n, int pack, std::vector<Operand>& out) const {
    std::vector<Operand> registers;
    const Type type = Array::packed_type(dtype, pack);
    for (int64_t i = 0; i < n / pack; ++i)
      registers.push_back(r.reg(dtype == DType::bool_ ? Type::b16 : type));
    frontend::emit_load(r, space, registers, pack == 1 ? element_type() : fmt::format("b{}", isa::bits(type)),
                        a);
    for (Operand& o : registers) {
      if (dtype == DType::bool_) o = r.pure("setp.ne.s16", {o, Operand::imm(0)}, Type::pred);
      out.push_back(o);
    }
  }

  void store(const Address& a, std::vector<Operand> registers, int pack, const Operand& guard) const {
    const Type type = Array::packed_type(dtype, pack);
    for (Operand& o : registers)
      if (dtype == DType::bool_) o = r.pure("selp.b16", {Operand::imm(1), Operand::imm(0), o}, Type::b16);
    frontend::emit_store(r, space, registers,
                         pack == 1 ? element_type() : fmt::format("b{}", isa::bits(type)), a, guard);
  }

  // Registers with `pack` elements each are cut into accesses of `width` elements; an access narrower
  // than a register goes element by element.
  void load_vector(const std::function<Address(int64_t)>& at, int64_t vector, int64_t width, int pack,
                   std::vector<Operand>& out) const {
    if (width >= pack) {
      for (int64_t v = 0; v < vector; v += width) load(at(v), width, pack, out);
      return;
    }
    std::vector<Operand> singles;
    for (int64_t v = 0; v < vector; ++v) load(at(v), 1, 1, singles);
    const Layout strided = Layout::WG_STRIDED({128 * vector}, static_cast<int>(vector));
    const Array packed = Array::from_elements(dtype, {128 * vector}, strided, singles);
    out.insert(out.end(), packed.registers().begin(), packed.registers().end());
  }

  void store_vector(const std::function<Address(int64_t)>& at, const std::vector<Operand>& registers,
                    int64_t vector, int64_t width, int pack, const Operand& guard) const {
    if (width >= pack) {
      for (int64_t v = 0; v < vector; v += width) {
        store(at(v), {registers.begin() + v / pack, registers.begin() + (v + width) / pack}, pack, guard);
      }
      return;
    }
    const Layout strided = Layout::WG_STRIDED({128 * vector}, static_cast<int>(vector));
    const std::vector<Operand> singles = Array(dtype, {128 * vector}, strided, registers).elements();
    for (int64_t v = 0; v < vector; ++v) store(at(v), {singles[static_cast<size_t>(v)]}, 1, guard);
  }
};

Array load_elements(Recorder& r, const Ref& ref, const Layout& layout) {
  if (const auto way = frontend::matrix_load_way(ref, layout))
    return frontend::load_matrices(r, ref, layout, *way);
  std::vector<Operand> registers;
  const int pack = Array::pack_of(ref.dtype(), layout);
  std::string_view space;
  frontend::walk_elements(
      r, ref, layout,
      [&](int64_t, const auto& at, int64_t width) {
        Mover{r, ref.dtype(), space}.load_vector(at, layout.vector_length(), width, pack, registers);
      },
      &space);
  return Array(ref.dtype(), ref.shape(), layout, std::move(registers));
}

void store_elements(Recorder& r, const Ref& ref, const Array& value) {
  const Layout& layout = value.layout();
  if (const auto way = frontend::matrix_store_way(ref, layout))
    return frontend::store_matrices(r, ref, value, *way);
  const int64_t vector = layout.vector_length();
  const int pack = value.pack();
  std::string_view space;
  frontend::walk_elements(
      r, ref, layout,
      [&](int64_t e, const auto& at, int64_t width) {
        const auto first = value.registers().begin() + e / pack;
        const Operand guard = frontend::one_of_the_copies(r, layout, e);
        Mover{r, ref.dtype(), space}.store_vector(at, {first, first + vector / pack}, vector, width, pack,
                                                  guard);
      },
      &space);
}

// A number into every element, whatever their count.
void store_splat(Recorder& r, const Ref& ref, const Array& value) {
  const int64_t n = pl::volume(ref.shape());
  if (n % 128 == 0) {
    const Layout layout = default_layout(ref.shape(), ref.dtype());
    const std::vector<Operand> elements(static_cast<size_t>(layout.elements(ref.shape())),
                                        value.registers().front());
    return store_elements(r, ref, Array::from_elements(ref.dtype(), ref.shape(), layout, elements));
  }
  Access access(r, ref, {});
  const Scalar lane = frontend::lane_scalar(r);
  for (int64_t first = 0; first < n; first += 128) {
    Scalar flat = lane + first;
    const Operand guard = n - first >= 128 ? Operand{} : (flat < n).operand();
    std::vector<Scalar> index(ref.rank());
    for (size_t d = ref.rank(); d-- > 0;) {
      index[d] = d == 0 ? flat : flat % ref.shape(d);
      flat = flat / ref.shape(d);
    }
    Mover{r, ref.dtype(), access.space()}.store(access.at_dynamic(index), {value.registers().front()}, 1,
                                                guard);
  }
}

void barrier_around_store(Recorder& r, const Ref& ref) {
  if (r.options().auto_barriers && (ref.space() == MemorySpace::smem || ref.space() == MemorySpace::gmem))
    r.warpgroup_barrier();
}

void check_loads_array() {
  Recorder::current().needs_warpgroup("a load of an Array", "load single elements: ref.at(i).load_scalar()");
}

}  // namespace

Layout default_layout(const Shape& shape, DType dtype, std::source_location loc) {
  const VerbScope at(loc);
  const int64_t n = pl::volume(shape);
  const int64_t widest = std::max(1, 128 / pl::bits(dtype));
  if (n % 128 != 0) {
    // Vectors, as long as they keep all lanes busy.
    int64_t vector = std::gcd(n, widest);
    while (vector > 1 && n / vector < 128) vector /= 2;
    return Layout::WG_PADDED(shape, static_cast<int>(vector));
  }
  return Layout::WG_STRIDED(shape, static_cast<int>(std::gcd(n / 128, widest)));
}

Array Ref::load(Layout layout, std::source_location loc) const {
  const VerbScope at(loc);
  check_loads_array();
  Recorder& r = Recorder::current();
  if (space() == MemorySpace::regs) {
    const Array a = load_accumulator(*this, 0, loc);
    return layout == a.layout() ? a : layout_cast(a, layout, loc);
  }
  check_bounds(*this, "a load");
  if (layout.is_splat()) {
    const Scalar first = index(std::vector<Indexer>(rank(), Scalar(0)), loc).load_scalar(loc);
    if (pl::volume(shape_) != 1)
      fail(Code::layout_mismatch,
           fmt::format("a load of {} with layout WG_SPLAT: its elements may differ", to_string(*this)));
    return Array::splat(first, shape_);
  }
  check_layout(layout, *this, "a load");
  return load_elements(r, *this, layout);
}

Array Ref::load(std::source_location loc) const {
  const VerbScope at(loc);
  check_loads_array();
  if (space() == MemorySpace::regs) return load_accumulator(*this, 0, loc);
  if (rank() == 0 || pl::volume(shape_) == 1) {
    const Scalar first = index(std::vector<Indexer>(rank(), Scalar(0)), loc).load_scalar(loc);
    return Array::splat(first, shape_);
  }
  return load(default_layout(shape_, dtype(), loc), loc);
}

Scalar Ref::load_scalar(std::source_location loc) const {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  if (pl::volume(shape_) != 1 || space() == MemorySpace::regs) {
    fail(Code::bad_index,
         fmt::format("load_scalar of {}: index a single element of SMEM or GMEM first", to_string(*this)));
  }
  check_bounds(*this, "a load");
  Access access(r, *this, {});
  std::vector<Operand> out;
  Mover{r, dtype(), access.space()}.load(access.at(Shape(rank(), 0)), 1, 1, out);
  return Scalar::from_register(dtype(), out.front(), !pl::is_signed(dtype()));
}

void Ref::store(const Array& value, std::source_location loc) const {
  const VerbScope at(loc);
  value.check_assigned(loc);
  Recorder& r = Recorder::current();
  if (value.shape() != shape_ && !(value.layout().is_splat() && value.shape().empty())) {
    fail(Code::shape_mismatch,
         fmt::format("a store of an {} into {}: the shapes differ", to_string(value), to_string(*this)),
         "store into a slice of the array's shape, or change the array with .reshape or .broadcast_to");
  }
  if (value.dtype() != dtype()) {
    fail(Code::dtype_mismatch,
         fmt::format("a store of an {} into {}: the dtypes differ", to_string(value), to_string(*this)),
         fmt::format("convert it with .astype(pl::{})", pl::name(dtype())));
  }
  if (space() == MemorySpace::regs) return store_accumulator(*this, value, loc);
  check_bounds(*this, "a store");
  if (!value.layout().is_splat()) check_layout(value.layout(), *this, "a store");
  barrier_around_store(r, *this);
  if (value.layout().is_splat())
    store_splat(r, *this, value);
  else
    store_elements(r, *this, value);
  barrier_around_store(r, *this);
}

void Ref::store(const Scalar& value, std::source_location loc) const {
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  const Scalar v = value.weak() ? value.astype(dtype()) : value;
  if (v.dtype() != dtype()) {
    fail(Code::dtype_mismatch,
         fmt::format("a store of a {} number into {}", pl::name(v.dtype()), to_string(*this)));
  }
  if (pl::volume(shape_) != 1) return store(Array::splat(v, shape_), loc);
  check_bounds(*this, "a store");
  barrier_around_store(r, *this);
  Access access(r, *this, {});
  Mover{r, dtype(), access.space()}.store(access.at(Shape(rank(), 0)), {v.as_register()}, 1, r.elected());
  barrier_around_store(r, *this);
}

Array load(const Ref& ref, const LoadOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  const bool by_matrices = frontend::matrix_load_way(ref, options.layout).has_value();
  if (options.optimized && ref.space() == MemorySpace::smem && options.layout.is_tiled() &&
      options.layout.misfit(ref.shape()).empty() && !by_matrices) {
    const int64_t conflicts = frontend::bank_conflicts(ref, options.layout);
    if (conflicts > 1) {
      fail(Code::bank_conflicts,
           fmt::format("a load of {} with layout {}: {} lanes of a warp want the same bank", to_string(ref),
                       to_string(options.layout), conflicts),
           "tile and swizzle the array, choose another layout, or accept it with .optimized = false");
    }
  }
  return ref.load(options.layout, loc);
}
Array load(const Ref& ref, std::source_location loc) { return ref.load(loc); }

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

// In one layout, in which each element is some lane's.
void spread_alike(std::vector<Array>& arrays) {
  unify_layouts(arrays);
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
  const VerbScope at(loc);
  Recorder& r = Recorder::current();
  check_loads_array();
  check_gather(ref, indices, "a load");
  std::vector<Array> where = indices;
  spread_alike(where);
  std::vector<Operand> out;
  std::string_view space;
  walk_indices(r, ref, where, &space,
               [&](size_t, const Address& a) { Mover{r, ref.dtype(), space}.load(a, 1, 1, out); });
  return Array::from_elements(ref.dtype(), where.front().shape(), where.front().layout(), out);
}

void store(const Ref& ref, const std::vector<Array>& indices, const Array& values, std::source_location loc) {
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
  spread_alike(all);
  const std::vector<Operand> what = all.back().elements();
  barrier_around_store(r, ref);
  std::string_view space;
  walk_indices(r, ref, all, &space, [&](size_t e, const Address& a) {
    Mover{r, ref.dtype(), space}.store(
        a, {what[e]}, 1, frontend::one_of_the_copies(r, all.back().layout(), static_cast<int64_t>(e)));
  });
  barrier_around_store(r, ref);
}

}  // namespace palladion::plgpu
