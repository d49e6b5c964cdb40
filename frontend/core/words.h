#pragma once
// Small words of Pallas that stand in signatures and options.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "frontend/core/types.h"

namespace palladion::pl {

// jax.ShapeDtypeStruct: a ShapeDtype, shape first.
struct ShapeDtypeStruct : ShapeDtype {
  ShapeDtypeStruct(Shape s, DType d) : ShapeDtype{d, std::move(s)} {}
};

// What is not written yet has a type and no values: the types of outputs and scratch.
inline ShapeDtype empty(Shape shape, DType dtype) { return {dtype, std::move(shape)}; }

// Row-major, in elements.
inline Shape strides_from_shape(const Shape& shape) { return strides_of(shape); }

// Of one run of a kernel, for a scheduler.
struct CostEstimate {
  // As JAX' CostEstimate; recorded, without effect on the kernel.
  int64_t flops = 0, transcendentals = 0, bytes_accessed = 0, remote_bytes_transferred = 0;
};

// How device_id names a device. The machine has one.
enum class DeviceIdType : uint8_t { MESH, LOGICAL };

}  // namespace palladion::pl

namespace palladion::plgpu {

// Names of axes, as collective_axes takes them: one name, or several.
class AxisNames : public std::vector<std::string> {
 public:
  AxisNames() = default;
  AxisNames(const char* name) : vector{name} {}                            // NOLINT: one name
  AxisNames(std::string name) : vector{std::move(name)} {}                 // NOLINT
  AxisNames(std::initializer_list<std::string> names) : vector(names) {}   // NOLINT
  AxisNames(std::vector<std::string> names) : vector(std::move(names)) {}  // NOLINT
};

// JAX's two ways to compile. Arrays here have the layouts that are written, and PLD2003 where two differ,
// under either; Warpgroup, which infers layouts in JAX, infers none here.
enum class LoweringSemantics : uint8_t { Lane, Warpgroup };

// Who records a profile_scope. Warps do not (unsupported).
enum class TraceScope : uint8_t { WARP, WARPGROUP };

}  // namespace palladion::plgpu
