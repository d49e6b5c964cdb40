// Kernels that kernels launch (CUDA dynamic parallelism). They are performed when the grid that launched them
// has ended, in the order of their launches, each with all that it launches itself before the next: an order
// that the device's streams allow, whichever of them was named.
#include <fmt/format.h>

#include <algorithm>

#include "cuda/driver/order/judge.h"
#include "cuda/driver/state.h"
#include "sim/launch/device_queue.h"

namespace palladion::cuda::driver {
namespace {

constexpr uint64_t queue_bytes = uint64_t{64} << 20;  // pages that nothing is written to take no memory
constexpr int deepest = 24;                           // CUDA's limit of nesting

std::span<uint8_t> queue_of(const State& s) {
  return {s.machine->memory().find(sim::Address(s.device_queue), queue_bytes), queue_bytes};
}

Status perform_one(State& s, const LaunchWork& parent, sim::DeviceWork& child, const Doing& doing) {
  if (child.kind == sim::DeviceWork::Kind::copy)
    return copy(reinterpret_cast<void*>(child.to), reinterpret_cast<const void*>(child.from), child.bytes);
  Image& image = *parent.kernel->image;
  if (child.function >= image.module->functions.size()) return invalid_value;
  const isa::Function& entry = image.module->functions[child.function];
  Status status = success;
  LaunchWork work;
  work.kernel = kernel_of(image, entry.name.c_str(), status);
  if (work.kernel == nullptr) return status;
  work.grid = child.grid;
  work.block = child.block;
  work.cluster = entry.reqnctapercluster.value_or(isa::Dim3{});
  work.shared = child.shared;
  work.params = std::move(child.params);
  const Status done = perform(
      work, {doing.place, named(order::Operation::Does::kernel, fmt::format("kernel `{}`", work.kernel->name),
                                doing.as ? doing.as->stream : "")});
  return done != success ? done : s.sticky;
}

}  // namespace

bool launches_kernels(const isa::Module& module) {
  return std::ranges::any_of(module.functions, [](const isa::Function& f) {
    return !f.defined && f.name.starts_with("__cudaCDP2");
  });
}

void give_queue(State& s, sim::Launch& launch) {
  if (s.device_queue == 0) s.device_queue = s.machine->memory().allocate(queue_bytes, "launches by kernels");
  sim::DeviceQueue(queue_of(s)).clear();
  launch.environment[sim::device_queue_high] = static_cast<uint32_t>(s.device_queue >> 32);
  launch.environment[sim::device_queue_low] = static_cast<uint32_t>(s.device_queue);
}

Status perform_launched(State& s, const LaunchWork& parent, const Doing& doing) {
  std::vector<sim::DeviceWork> children = sim::DeviceQueue(queue_of(s)).take();
  if (children.empty()) return success;
  if (s.nested == deepest) return unsupported("launches by kernels that are nested deeper than 24 levels");
  ++s.nested;
  Status status = success;
  for (sim::DeviceWork& child : children) {
    status = perform_one(s, parent, child, doing);
    if (status != success) break;
  }
  --s.nested;
  if (status != success && s.sticky == success) s.sticky = status;
  return success;
}

}  // namespace palladion::cuda::driver
