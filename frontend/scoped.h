#pragma once
// Allocations: what a kernel asks for, how long it lives.
#include <concepts>
#include <source_location>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "frontend/barriers.h"
#include "frontend/carry.h"
#include "frontend/ref.h"
#include "frontend/wgmma.h"

namespace palladion::plgpu {

struct AllocationOptions {
  Transforms transforms;
};
struct SmemType {
  Shape shape;
  DType dtype = DType::f32;
  AllocationOptions options;
};
inline SmemType SMEM(Shape shape, DType dtype, AllocationOptions options = {}) { return {std::move(shape), dtype, std::move(options)}; }

// A wgmma accumulator: zeros, or (with pl::run_state) an array.
struct AccType {
  Shape shape;
  DType dtype = DType::f32;
};
struct AccInit {
  Array value;
};
struct AccMaker {
  AccType operator()(Shape shape, DType dtype = DType::f32) const { return {std::move(shape), dtype}; }
  AccInit init(Array value) const { return {std::move(value)}; }
};
inline constexpr AccMaker ACC{};

// Groups of SMEM arrays that share their bytes: at any time one group is in use.
struct RefUnionType {
  std::vector<std::vector<SmemType>> groups;
};
inline RefUnionType RefUnion(std::vector<std::vector<SmemType>> groups) { return {std::move(groups)}; }
struct UnionRef {
  std::vector<std::vector<Ref>> groups;
  const std::vector<Ref>& operator[](size_t i) const { return groups[i]; }
};

Ref make_smem(const SmemType& type, const std::string& name, std::source_location loc);
UnionRef make_union(const RefUnionType& type, const std::string& name, std::source_location loc);

}  // namespace palladion::plgpu

namespace palladion::pl {

// Named axes over which an allocation is shared.
struct Collective {
  std::vector<std::string> axes;
};
template <class... Names>
Collective collective(Names... names) { return {{std::string(names)...}}; }

namespace detail {
inline plgpu::Ref materialize(const plgpu::SmemType& t, std::source_location loc) { return plgpu::make_smem(t, "scoped", loc); }
inline plgpu::Ref materialize(const plgpu::AccType& t, std::source_location loc) {
  if (t.shape.size() != 2) frontend::fail(frontend::Code::bad_accumulator, "ACC takes a shape (m, n), not " + to_string(t.shape), loc);
  return plgpu::make_accumulator(t.shape[0], t.shape[1], t.dtype, loc);
}
inline plgpu::BarrierRef materialize(const plgpu::BarrierType& t, std::source_location loc) { return plgpu::make_barrier(t, "scoped barrier", loc); }
inline plgpu::UnionRef materialize(const plgpu::RefUnionType& t, std::source_location loc) { return plgpu::make_union(t, "scoped", loc); }
plgpu::Ref materialize(const plgpu::SemaphoreType& t, std::source_location loc);

void check_scope(bool allocates_smem, bool allocates_acc, const Collective& collective);
template <class T>
constexpr bool takes_smem = std::same_as<T, plgpu::SmemType> || std::same_as<T, plgpu::BarrierType> || std::same_as<T, plgpu::RefUnionType>;
template <class T>
constexpr bool takes_acc = std::same_as<T, plgpu::AccType>;

// Shared memory taken inside is free again afterwards.
class SmemScope {
 public:
  SmemScope() : recorder_(frontend::Recorder::current()), mark_(recorder_.smem_mark()) {}
  ~SmemScope() { recorder_.release_smem(mark_); }
  SmemScope(const SmemScope&) = delete;
  SmemScope& operator=(const SmemScope&) = delete;

 private:
  frontend::Recorder& recorder_;
  int64_t mark_;
};
}  // namespace detail

// Calls body(ref...) with an allocation for each type; they end with it. With several Pallas threads,
// SMEM and barriers must be shared by all: pl::collective(thread_name).
template <class Body, class... Types>
auto run_scoped(const Collective& axes, Body&& body, const Types&... types) {
  const std::source_location loc = frontend::Recorder::current().loc();
  detail::check_scope((detail::takes_smem<Types> || ...), (detail::takes_acc<Types> || ...), axes);
  const detail::SmemScope scope;
  auto refs = std::tuple{detail::materialize(types, loc)...};
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
  const std::source_location loc = frontend::Recorder::current().loc();
  const auto make = [&](const plgpu::AccInit& init) {
    const plgpu::Array& v = init.value;
    if (v.rank() != 2) frontend::fail(frontend::Code::bad_accumulator, "ACC.init takes a matrix, not an " + plgpu::to_string(v), loc);
    plgpu::Ref acc = plgpu::make_accumulator(v.shape(0), v.shape(1), v.dtype(), loc);
    plgpu::store_accumulator(acc, v, loc);
    return acc;
  };
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

}  // namespace palladion::pl
