#pragma once
// Short forms around references and allocations.
#include <optional>
#include <source_location>
#include <tuple>
#include <utility>

#include "frontend/core/words.h"
#include "frontend/memory/scoped.h"

namespace palladion::plgpu {

// Of a result or an operand in registers: dtype, shape and how lanes hold it.
struct ShapeDtypeStruct : pl::ShapeDtypeStruct {
  std::optional<Layout> layout;  // none: the frontend chooses
  ShapeDtypeStruct(Shape s, DType d, std::optional<Layout> l = {})
      : pl::ShapeDtypeStruct(std::move(s), d), layout(std::move(l)) {}
};
// Of an operand that is a reference.
struct RefType {
  Transforms transforms = {};  // order of the bytes
};

// ACC by its class' name.
inline constexpr AccMaker WGMMAAccumulatorRef{};

}  // namespace palladion::plgpu

namespace palladion::pl {

// What plgpu::SMEM(shape, dtype) gives.
using MemoryRef = plgpu::SmemType;

// The type of another array, value or reference.
inline ShapeDtype empty_like(const ShapeDtype& type) { return type; }
inline ShapeDtype empty_like(const plgpu::Ref& ref) { return {ref.dtype(), ref.shape()}; }
inline ShapeDtype empty_like(const plgpu::Array& array) { return {array.dtype(), array.shape()}; }
// Like an array in SMEM with the same transforms; of a plain type, an array in GMEM (an output).
inline MemoryRef empty_ref_like(const MemoryRef& like) { return like; }
inline ShapeDtype empty_ref_like(const ShapeDtype& like) { return like; }

// Counters in GMEM, zero at the start of a launch.
inline plgpu::SemaphoreType semaphore(Shape shape = {}) {
  return plgpu::SemaphoreType::REGULAR(std::move(shape));
}

// A function around f: f(arguments..., ref of each type...), in a run_scoped of its own at each call.
template <class... Types>
auto with_scoped(const Collective& axes, Types... types) {
  return [=](auto f) {
    return [=](const auto&... arguments) mutable {
      return run_scoped(axes, [&](const auto&... refs) { return f(arguments..., refs...); }, types...);
    };
  };
}
template <class First, class... Types>
  requires(!std::same_as<First, Collective>)
auto with_scoped(First first, Types... types) {
  return with_scoped(Collective{}, std::move(first), std::move(types)...);
}

struct ReciprocalOptions {  // of pl::reciprocal
  bool approx = false;      // unsupported: CompilerParams::approx_math says it for the whole kernel
};
// 1 / x; approximate if the options say so.
plgpu::Array reciprocal(const plgpu::Array& x, const ReciprocalOptions& options = {},
                        std::source_location loc = std::source_location::current());
// An array with more elements, as jnp.broadcast_to.
plgpu::Array broadcast_to(const plgpu::Array& x, Shape shape,
                          std::source_location loc = std::source_location::current());
// A number as an array.
plgpu::Array broadcast_to(const Scalar& x, Shape shape,
                          std::source_location loc = std::source_location::current());

// --- semaphores, of system scope: plgpu's forms take a scope ---
struct SignalOptions {
  std::optional<int> device_id = {};                 // unsupported: the machine has one device
  DeviceIdType device_id_type = DeviceIdType::MESH;  // how the device is named; there is one
};
// Adds `inc` to one semaphore when all that this thread did is done.
void semaphore_signal(const plgpu::Ref& semaphore, const Scalar& inc = 1, const SignalOptions& options = {},
                      std::source_location loc = std::source_location::current());
struct WaitOptions {      // of pl::semaphore_wait
  bool decrement = true;  // takes the amount off the semaphore
};
// Until it is at least `value`; then subtracts it, unless an option forbids.
void semaphore_wait(const plgpu::Ref& semaphore, const Scalar& value = 1, const WaitOptions& options = {},
                    std::source_location loc = std::source_location::current());
Scalar semaphore_read(const plgpu::Ref& semaphore,
                      std::source_location loc = std::source_location::current());

}  // namespace palladion::pl
