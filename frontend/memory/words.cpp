#include "frontend/memory/words.h"

#include <fmt/format.h>

#include "frontend/core/verbs.h"

namespace palladion::pl {

plgpu::Array reciprocal(const plgpu::Array& x, const ReciprocalOptions& options, std::source_location loc) {
  const VerbScope at(loc);
  if (options.approx && !Recorder::current().options().approx_math)
    frontend::unsupported("pl::reciprocal with approx in a kernel of exact arithmetic",
                          "set compiler_params.approx_math, for the whole kernel");
  return plgpu::reciprocal({x, loc});
}

plgpu::Array broadcast_to(const plgpu::Array& x, Shape shape, std::source_location loc) {
  return x.shape() == shape ? x : x.broadcast_to(std::move(shape), loc);
}
plgpu::Array broadcast_to(const Scalar& x, Shape shape, std::source_location loc) {
  const VerbScope at(loc);
  return plgpu::Array::splat(x, std::move(shape));
}

void semaphore_signal(const plgpu::Ref& semaphore, const Scalar& inc, const SignalOptions& options,
                      std::source_location loc) {
  const VerbScope at(loc);
  if (options.device_id)
    frontend::unsupported(
        fmt::format("pl::semaphore_signal to device {}: the machine has one device", *options.device_id));
  plgpu::semaphore_signal(semaphore, inc, {}, loc);
}
void semaphore_wait(const plgpu::Ref& semaphore, const Scalar& value, const WaitOptions& options,
                    std::source_location loc) {
  plgpu::semaphore_wait(semaphore, value, {.decrement = options.decrement}, loc);
}
Scalar semaphore_read(const plgpu::Ref& semaphore, std::source_location loc) {
  return plgpu::semaphore_read(semaphore, loc);
}

}  // namespace palladion::pl
