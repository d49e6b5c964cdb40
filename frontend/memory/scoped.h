#pragma once
// Allocations: what a kernel requests, and their lifetimes.
#include <concepts>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/arrays/accumulators.h"
#include "frontend/control/carry.h"
#include "frontend/memory/tensor_memory.h"
#include "frontend/refs/ref.h"
#include "frontend/sync/barriers.h"

namespace palladion::plgpu {

struct AllocationOptions {  // of plgpu::SMEM
  Transforms transforms;    // order of its bytes
};
// Types know where the author wrote them.
struct SmemType {
  Shape shape;                // sizes of dimensions
  DType dtype = DType::f32;   // element type
  AllocationOptions options;  // transforms
  std::source_location loc;   // the author's line
};
// An array in shared memory, aligned to 1024 bytes.
inline SmemType SMEM(Shape shape, DType dtype, AllocationOptions options = {},
                     std::source_location loc = std::source_location::current()) {
  return {std::move(shape), dtype, std::move(options), loc};
}

// An array in global memory that all CTAs of the grid share, zeros when the kernel starts. In scratch_types,
// in run_scoped over all axes of the mesh, or of pl::get_global. Pallas' GPU backend has semaphores there
// only. Copies between it and SMEM are bulk copies: of contiguous windows and multiples of 16 bytes.
struct GmemType {
  Shape shape;               // sizes of dimensions
  DType dtype = DType::f32;  // element type
  std::source_location loc;  // the author's line
};
struct GmemMaker {  // the type of plgpu::GMEM: given a shape, scratch in global memory
  GmemType operator()(Shape shape, DType dtype,
                      std::source_location loc = std::source_location::current()) const {
    return {std::move(shape), dtype, loc};
  }
  // For `.memory_space` of a BlockSpec.
  constexpr operator MemorySpace() const { return MemorySpace::gmem; }  // NOLINT: implicit on purpose
};
inline constexpr GmemMaker GMEM{};

// A wgmma accumulator: zeros, or (with pl::run_state) an array.
struct AccType {
  Shape shape;               // (m, n)
  DType dtype = DType::f32;  // f32, f16 or s32
  std::source_location loc;  // the author's line
};
struct AccInit {             // plgpu::ACC.init(value): an accumulator that starts with an array's values
  Array value;               // what the accumulator starts with
  std::source_location loc;  // the author's line
};
struct AccMaker {  // the type of plgpu::ACC: given a shape, it describes an accumulator of wgmma
  AccType operator()(Shape shape, DType dtype = DType::f32,
                     std::source_location loc = std::source_location::current()) const {
    return {std::move(shape), dtype, loc};
  }
  // An accumulator that starts with an array's values.
  AccInit init(Array value, std::source_location loc = std::source_location::current()) const {
    return {std::move(value), loc};
  }
};
// An accumulator of wgmma in registers: ACC({m, n}, dtype), zeros; ACC.init(array).
inline constexpr AccMaker ACC{};

// Groups of arrays in SMEM and TMEM that share their bytes and columns: at any time one group is in use.
// Pallas has SMEM alone or TMEM alone. Of TMEM, all or none are collective.
using RefUnionGroup = std::vector<std::variant<SmemType, TmemType>>;
struct RefUnionType {  // groups of allocations on the same bytes; one of them is in use at a time
  std::vector<RefUnionGroup> groups;  // each group is allocated over the others
  std::source_location loc;           // the author's line
};
// Groups of arrays in one piece of memory: one group is in use at a time.
inline RefUnionType RefUnion(std::vector<RefUnionGroup> groups,
                             std::source_location loc = std::source_location::current()) {
  return {std::move(groups), loc};
}
struct UnionRef {                        // what the body gets of a plgpu::RefUnion
  std::vector<std::vector<Ref>> groups;  // references, as the groups were given
  // An Error for a group that the union does not have.
  const std::vector<Ref>& operator[](const frontend::IndexAt& i) const;
};

// `name`: what findings and errors say; a kernel's second allocation of a name gets a number besides.
Ref make_smem(const SmemType& type, const std::string& name, std::source_location loc);
Ref make_gmem(const GmemType& type, const std::string& name, std::source_location loc);
UnionRef make_union(const RefUnionType& type, const std::string& name, std::source_location loc);

}  // namespace palladion::plgpu

namespace palladion::pl {

// Named axes over which an allocation is shared.
struct Collective {
  std::vector<std::string> axes;  // names of the axes whose threads enter together
};
// The axes of a collective run_scoped.
template <class... Names>
Collective collective(Names... names) {
  return {{std::string(names)...}};
}

namespace detail {
// What findings call an allocation without a name of its own: "scoped (kernel.cpp:41)".
std::string name_at(std::string_view what, const std::source_location& loc);

inline plgpu::Ref materialize(const plgpu::SmemType& t) {
  return plgpu::make_smem(t, name_at("scoped", t.loc), t.loc);
}
inline plgpu::Ref materialize(const plgpu::AccType& t) {
  if (t.shape.size() != 2)
    frontend::fail(frontend::Code::bad_accumulator, "ACC takes a shape (m, n), not " + to_string(t.shape),
                   t.loc);
  return plgpu::make_accumulator(t.shape[0], t.shape[1], t.dtype, t.loc);
}
inline plgpu::Ref materialize(const plgpu::GmemType& t) {
  return plgpu::make_gmem(t, name_at("scoped", t.loc), t.loc);
}
inline plgpu::Ref materialize(const plgpu::TmemType& t) {
  return plgpu::make_tmem(t, name_at("scoped", t.loc), t.loc);
}
inline plgpu::BarrierRef materialize(const plgpu::BarrierType& t) {
  return plgpu::make_barrier(t, name_at("scoped barrier", t.loc), t.loc);
}
inline plgpu::UnionRef materialize(const plgpu::RefUnionType& t) {
  return plgpu::make_union(t, name_at("scoped", t.loc), t.loc);
}
plgpu::Ref materialize(const plgpu::SemaphoreType& t);

void check_scope(bool allocates_smem, bool allocates_acc, const Collective& collective,
                 std::source_location loc);
void check_global_scope(const Collective& collective, std::source_location loc);
template <class T>
std::source_location place_of(const T& type) {
  if constexpr (requires { type.loc; })
    return type.loc;
  else
    return frontend::Recorder::current().loc();
}
template <class First, class... Rest>
std::source_location first_place(const First& first, const Rest&...) {
  return place_of(first);
}
template <class T>
constexpr bool takes_smem = std::same_as<T, plgpu::SmemType> || std::same_as<T, plgpu::TmemType> ||
                            std::same_as<T, plgpu::BarrierType> || std::same_as<T, plgpu::RefUnionType>;
template <class T>
constexpr bool takes_gmem = std::same_as<T, plgpu::GmemType>;
template <class T>
constexpr bool takes_acc = std::same_as<T, plgpu::AccType>;

// Shared memory taken inside is free again afterwards; references to it, and accumulators, end.
class AllocationScope {
 public:
  AllocationScope(std::string_view verb, const std::source_location& loc)
      : recorder_(frontend::Recorder::current()),
        mark_(recorder_.smem.mark()),
        tensor_mark_(recorder_.tensor.mark()),
        scope_(verb, loc) {}
  ~AllocationScope() {
    recorder_.smem.release(mark_);
    recorder_.tensor.release(tensor_mark_);
  }
  AllocationScope(const AllocationScope&) = delete;
  AllocationScope& operator=(const AllocationScope&) = delete;

 private:
  frontend::Recorder& recorder_;
  int64_t mark_, tensor_mark_;
  frontend::Scope scope_;
};
}  // namespace detail

// Calls body(ref...) with an allocation for each type; they end with it. With several Pallas threads,
// SMEM and barriers must be shared by all: pl::collective(thread_name). GMEM is shared by the whole mesh:
// pl::collective(every axis of the grid, of the cluster and the thread's).
template <class Body, class... Types>
auto run_scoped(const Collective& axes, Body&& body, const Types&... types) {
  static_assert(sizeof...(Types) > 0, "run_scoped: nothing is allocated");
  static_assert(
      std::invocable<Body&, decltype(detail::materialize(types))...>,
      "run_scoped(body, types...): the body takes one parameter for each type: plgpu::Ref, plgpu::BarrierRef "
      "or plgpu::UnionRef");
  detail::check_scope((detail::takes_smem<Types> || ...), (detail::takes_acc<Types> || ...), axes,
                      detail::first_place(types...));
  if constexpr ((detail::takes_gmem<Types> || ...))
    detail::check_global_scope(axes, detail::first_place(types...));
  const detail::AllocationScope scope("pl::run_scoped", detail::first_place(types...));
  auto refs = std::tuple{detail::materialize(types)...};
  const frontend::UserCode user;
  return std::apply(body, std::move(refs));
}
template <class Body, class... Types>
  requires(!std::same_as<std::decay_t<Body>, Collective>)
auto run_scoped(Body&& body, const Types&... types) {
  return run_scoped(Collective{}, std::forward<Body>(body), types...);
}

// Calls body(acc...) with accumulators that start as the given arrays; gives their final values, after
// all wgmmas are done: one Array, or a tuple.
template <class Body, class... Inits>
auto run_state(Body&& body, const Inits&... inits) {
  static_assert(sizeof...(Inits) > 0, "run_state: Expected at least one accumulator");
  const std::source_location loc = detail::first_place(inits...);
  const auto make = [](const plgpu::AccInit& init) {
    const plgpu::Array& v = init.value;
    if (v.rank() != 2)
      frontend::fail(frontend::Code::bad_accumulator,
                     "ACC.init takes a matrix, not an " + plgpu::to_string(v), init.loc);
    plgpu::Ref acc = plgpu::make_accumulator(v.shape(0), v.shape(1), v.dtype(), init.loc);
    plgpu::store_accumulator(acc, v, init.loc);
    return acc;
  };
  const detail::AllocationScope scope("pl::run_state", loc);
  auto accs = std::tuple{make(inits)...};
  {
    const frontend::UserCode user;
    std::apply(body, accs);
  }
  if constexpr (sizeof...(Inits) == 1) {
    return std::get<0>(accs).load(loc);
  } else {
    return std::apply([&](const auto&... a) { return std::tuple{a.load(loc)...}; }, accs);
  }
}

// Global memory for the whole grid, from here to the kernel's end.
plgpu::Ref get_global(const plgpu::GmemType& type,
                      std::source_location loc = std::source_location::current());

}  // namespace palladion::pl
