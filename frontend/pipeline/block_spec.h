#pragma once
// Which part of an array a step works on: the shape of a block, and a map from the indices of a grid to
// the indices of the block.
#include <concepts>
#include <functional>
#include <optional>
#include <source_location>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontend/core/scalar.h"
#include "frontend/core/transforms.h"
#include "frontend/memory/copies.h"
#include "frontend/memory/scoped.h"
#include "frontend/refs/ref.h"

namespace palladion::pl {

// One number an axis of a grid.
using Indices = std::vector<Scalar>;

// A dimension of size 1 that the body does not see.
struct Squeezed {};
inline constexpr Squeezed squeezed{};
// Blocks that start at any element: the map gives elements, not blocks.
struct Element {
  int64_t size = 1;  // elements
};
struct Blocked {     // a dimension whose index counts blocks, as a plain number's does
  int64_t size = 1;  // elements
};

struct BlockDim {  // one dimension of a block's shape: a number, Blocked, Element, Squeezed or nullopt
  // The map counts blocks; counts elements; the dimension is not in the block.
  enum class Kind : uint8_t { blocked, element, dropped };
  Kind kind = Kind::blocked;  // how the map counts
  int64_t size = 1;           // elements

  template <std::integral T>
  BlockDim(T n) : size(static_cast<int64_t>(n)) {}            // NOLINT: sizes are dimensions
  BlockDim(Blocked b) : size(b.size) {}                       // NOLINT
  BlockDim(Element e) : kind(Kind::element), size(e.size) {}  // NOLINT
  BlockDim(Squeezed) : kind(Kind::dropped) {}                 // NOLINT
  BlockDim(std::nullopt_t) : kind(Kind::dropped) {}           // NOLINT: Pallas' None
};
using BlockShape = std::vector<BlockDim>;  // one entry a dimension

namespace detail {
template <size_t>
using AsScalar = const Scalar&;

template <class F, size_t... i>
constexpr bool takes_scalars(std::index_sequence<i...>) {
  return std::is_invocable_v<F&, AsScalar<i>...>;
}
inline constexpr size_t max_grid_rank = 7;
template <class F, size_t... n>
constexpr bool takes_some_scalars(std::index_sequence<n...>) {
  return (takes_scalars<F>(std::make_index_sequence<n>{}) || ...);
}

inline Indices to_indices(Indices v) { return v; }
inline Indices to_indices(const Scalar& s) { return {s}; }
template <std::integral T>
Indices to_indices(T v) {
  return {Scalar(v)};
}
template <class... Ts>
Indices to_indices(const std::tuple<Ts...>& t) {
  return std::apply([](const auto&... x) { return Indices{Scalar(x)...}; }, t);
}
template <class A, class B>
Indices to_indices(const std::pair<A, B>& p) {
  return {Scalar(p.first), Scalar(p.second)};
}

template <class F, size_t... i>
bool try_map(F& f, const Indices& in, Indices& out, std::index_sequence<i...>) {
  if (in.size() != sizeof...(i)) return false;
  if constexpr (std::is_invocable_v<F&, AsScalar<i>...>) {
    out = to_indices(f(in[i]...));
    return true;
  } else {
    return false;
  }
}
template <class F, size_t... n>
bool map_scalars(F& f, const Indices& in, Indices& out, std::index_sequence<n...>) {
  return (try_map(f, in, out, std::make_index_sequence<n>{}) || ...);
}
[[noreturn]] void wrong_index_map(size_t rank);
}  // namespace detail

// Grid indices to block indices: a function of one number an axis, or of pl::Indices; it gives
// pl::Indices, a tuple, a pair, or the one number.
class IndexMap {
 public:
  IndexMap() = default;
  template <class F>
    requires(!std::same_as<std::decay_t<F>, IndexMap>)
  IndexMap(F f) {  // NOLINT: functions are index maps
    map_ = [f = std::move(f)](const Indices& in) mutable -> Indices {
      if constexpr (detail::takes_some_scalars<F>(std::make_index_sequence<detail::max_grid_rank + 1>{})) {
        Indices out;
        if (!detail::map_scalars(f, in, out, std::make_index_sequence<detail::max_grid_rank + 1>{}))
          detail::wrong_index_map(in.size());
        return out;
      } else {
        return detail::to_indices(f(in));
      }
    };
  }
  explicit operator bool() const { return static_cast<bool>(map_); }
  Indices operator()(const Indices& grid_indices) const { return map_(grid_indices); }

 private:
  std::function<Indices(const Indices&)> map_;
};

}  // namespace palladion::pl

namespace palladion::plgpu {

// Registers: of accumulators, which are allocated with plgpu::ACC.
inline constexpr MemorySpace REGS = MemorySpace::regs;

struct BlockSpecOptions {  // where a block lies, in which order of bytes, and who fetches it
  std::optional<MemorySpace> memory_space = {};  // SMEM; GMEM: the whole array where it is, nothing is copied
  Transforms transforms = {};                    // of the SMEM buffers
  // Steps for which a block stays in use after its own (a wgmma that still runs): it is overwritten so much
  // later.
  int delay_release = 0;
  // Multicast: the CTAs along this cluster axis fetch the block together.
  AxisNames collective_axes = {};
  // What lies outside of the array.
  OOBFillMode oob_fill_mode = OOBFillMode::ZEROS;
};

struct BlockSpec {  // which block of an array a step of the grid works on, as pl.BlockSpec
  // The whole array.
  BlockSpec(std::source_location l = std::source_location::current()) : loc(l) {}  // NOLINT
  BlockSpec(pl::BlockShape shape, pl::IndexMap map, BlockSpecOptions o = {},
            std::source_location l = std::source_location::current())
      : block_shape(std::move(shape)), index_map(std::move(map)), options(std::move(o)), loc(l) {}
  BlockSpec(BlockSpecOptions o, std::source_location l = std::source_location::current())  // NOLINT
      : options(std::move(o)), loc(l) {}

  std::optional<pl::BlockShape> block_shape;  // none: the whole array
  pl::IndexMap index_map;                     // indices of the grid to indices of the block
  BlockSpecOptions options;                   // transforms, memory space, multicast
  std::source_location loc;                   // the author's line

  // The pipeline brings it into SMEM.
  bool in_smem() const { return !options.memory_space || *options.memory_space == MemorySpace::smem; }
};

}  // namespace palladion::plgpu

namespace palladion::pl {

using plgpu::MemorySpace;
inline constexpr MemorySpace ANY =
    MemorySpace::ANY;  // stays where it is: the body gets the reference to GMEM
// The options of pl::BlockSpec.
struct BlockSpecOptions {
  std::optional<plgpu::MemorySpace> memory_space = {};  // none: SMEM
};
// Pallas' general BlockSpec: no transforms.
struct BlockSpec : plgpu::BlockSpec {
  BlockSpec(std::source_location l = std::source_location::current()) : plgpu::BlockSpec(l) {}  // NOLINT
  BlockSpec(BlockShape shape, IndexMap map, BlockSpecOptions o = {},
            std::source_location l = std::source_location::current())
      : plgpu::BlockSpec(std::move(shape), std::move(map), {.memory_space = o.memory_space}, l) {}
  BlockSpec(BlockSpecOptions o, std::source_location l = std::source_location::current())  // NOLINT
      : plgpu::BlockSpec({.memory_space = o.memory_space}, l) {}
};

// For in_specs and out_specs: the whole arrays.
struct NoBlockSpec {
  operator std::vector<plgpu::BlockSpec>() const { return {}; }  // NOLINT: it stands for specs
};
inline constexpr NoBlockSpec no_block_spec{};  // the whole array, in place of a BlockSpec

}  // namespace palladion::pl

namespace palladion::frontend {

// The spec with every size stated, checked against the array's shape.
plgpu::BlockSpec resolved(const plgpu::BlockSpec& spec, const pl::Shape& array, std::string_view verb);
// Block indices for grid indices, one a dimension of the array.
pl::Indices block_indices(const plgpu::BlockSpec& resolved, const pl::Indices& grid_indices);
// The window of the block on an array.
plgpu::Ref block_window(const plgpu::BlockSpec& resolved, const plgpu::Ref& array, const pl::Indices& blocks);
// What the body sees.
pl::Shape visible_shape(const plgpu::BlockSpec& resolved);

}  // namespace palladion::frontend
