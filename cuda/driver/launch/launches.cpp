// Launches as programs ask for them: shapes, limits, attributes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cuda/driver/errors.h"
#include "cuda/driver/order/undefined.h"
#include "cuda/driver/session.h"
#include "cuda/driver/streams/streams.h"
#include "isa/core/symbol_name.h"

using namespace palladion::cuda::driver;

namespace palladion::cuda::driver {
namespace {

Status check_cluster(const LaunchWork& w) {
  const isa::Dim3& c = w.cluster;
  if (c.count() == 0) return invalid_cluster;
  const isa::ArchSpec& a = *state().arch;
  const int most = w.kernel->nonportable_cluster ? a.max_cluster : a.max_cluster_portable;
  if (c.count() > static_cast<uint64_t>(most)) return invalid_cluster;
  if (w.grid.x % c.x != 0 || w.grid.y % c.y != 0 || w.grid.z % c.z != 0) return invalid_cluster;
  const isa::Function* entry = w.kernel->image->module->find_entry(w.kernel->name);
  if (entry->reqnctapercluster && !(*entry->reqnctapercluster == c)) return invalid_cluster;
  if (entry->maxclusterrank && c.count() > *entry->maxclusterrank) return invalid_cluster;
  return success;
}

// What every launch must fit: the limits of the device, and what the kernel itself has.
Status check_shape(const LaunchWork& w) {
  const isa::ArchSpec& a = *state().arch;
  constexpr uint32_t most_x = 0x7fffffff, most_yz = 65535, most_block_z = 64;
  if (w.grid.count() == 0 || w.grid.x > most_x || w.grid.y > most_yz || w.grid.z > most_yz)
    return invalid_value;
  if (w.block.count() == 0 || w.block.z > most_block_z) return invalid_value;
  if (w.block.count() > static_cast<uint64_t>(a.max_threads_per_cta)) return invalid_value;
  if (w.shared > w.kernel->max_dynamic_shared) return invalid_value;
  const isa::Function* entry = w.kernel->image->module->find_entry(w.kernel->name);
  if (entry->maxntid && w.block.count() > entry->maxntid->count()) return invalid_value;
  if (entry->reqntid && !(*entry->reqntid == w.block)) return invalid_value;
  const bool has_cluster = w.clustered || entry->reqnctapercluster;
  if (entry->explicitcluster && !has_cluster) return invalid_cluster;
  return success;
}

// Static shared memory counts against the default limit; asking for more states what is dynamic.
Status check_memory(const LaunchWork& w) {
  constexpr int64_t without_asking = 48 * 1024;
  const auto needs = needs_of(*w.kernel);
  if (!needs) return needs.error();
  const bool asked = w.kernel->max_dynamic_shared > without_asking;
  return !asked && needs->static_shared + w.shared > without_asking ? invalid_value : success;
}

// Registers that ptxas has counted refuse a launch; an estimate is said.
Status check_registers(const LaunchWork& w) {
  const auto needs = needs_of(*w.kernel);
  if (!needs) return needs.error();
  if (w.block.count() <= static_cast<uint64_t>(needs->max_threads)) return success;
  if (needs->counted) return launch_out_of_resources;
  if (prints_findings() && !std::exchange(w.kernel->estimate_told, true))
    fmt::print(
        stderr,
        "palladion exec: {} with {} threads a block: a device may refuse the launch, by an estimate of {} "
        "registers a thread (no machine code for {} came with the PTX)\n",
        isa::readable_name(w.kernel->name), w.block.count(), needs->registers, state().arch->name);
  return success;
}

// A cooperative grid must be resident as a whole.
Status check_room(const LaunchWork& w) {
  const auto needs = needs_of(*w.kernel);
  if (!needs) return needs.error();
  const int per_sm = ctas_per_sm(*needs, static_cast<int>(w.block.count()), w.shared);
  const auto clusters = static_cast<uint64_t>(resident_clusters(per_sm, w.cluster));
  return w.grid.count() / w.cluster.count() > clusters ? cooperative_launch_too_large : success;
}

}  // namespace

int resident_clusters(int ctas_per_sm, const isa::Dim3& cluster) {
  const isa::ArchSpec& a = *state().arch;
  const auto size = static_cast<int>(cluster.count());
  if (size <= 1) return ctas_per_sm * a.sm_count;
  int clusters = 0;  // each lies in one GPC
  for (const uint8_t tpcs : a.gpc_tpcs) clusters += tpcs * a.sms_per_tpc * ctas_per_sm / size;
  return clusters;
}

Status check_launch(const LaunchWork& w) {
  if (const Status status = check_shape(w); status != success) return status;
  if (const Status status = check_memory(w); status != success) return status;
  if (const Status status = check_registers(w); status != success) return status;
  if (w.cluster.count() != 1)
    if (const Status status = check_cluster(w); status != success) return status;
  return w.cooperative ? check_room(w) : success;
}

namespace {

struct Marks {
  Event *triggered = nullptr, *completed = nullptr;  // events that the launch records
};

// What an attribute asks for. Priorities and ways to wait have no effect; hints on caches and domains of
// memory order are for the chip's speed alone.
Status apply(const LaunchAttribute& a, LaunchWork& w, Marks& marks) {
  using enum LaunchAttributeId;
  switch (a.id) {
    case ignore:
      return success;
    case cooperative:
      return w.cooperative = a.value.flag != 0, success;
    case cluster_dimension:
      w.clustered = true;
      return w.cluster = {a.value.cluster.x, a.value.cluster.y, a.value.cluster.z}, success;
    case priority:
      return w.priority = a.value.flag, success;
    case programmatic_event:
      marks.triggered = static_cast<Event*>(a.value.event.event);
      return exist(marks.triggered) ? success : invalid_handle;
    case launch_completion_event:
      marks.completed = static_cast<Event*>(a.value.event.event);
      return exist(marks.completed) ? success : invalid_handle;
    case device_updatable_kernel_node:
      return a.value.flag == 0 ? success : unsupported("kernel nodes that kernels update");
    case access_policy_window:
    case synchronization_policy:
    case cluster_scheduling_policy:
    case programmatic_stream_serialization:
    case mem_sync_domain_map:
    case mem_sync_domain:
    case preferred_cluster_dimension:
    case nvlink_util_centric_scheduling:
      return w.hints[static_cast<uint32_t>(a.id)] = a.value, success;
    case shared_memory_carveout:  // percent; -1: the driver's choice
      if (a.value.flag < -1 || a.value.flag > 100) return invalid_value;
      return w.hints[static_cast<uint32_t>(a.id)] = a.value, success;
  }
  return invalid_value;
}

Status launch(Kernel* kernel, std::shared_ptr<LaunchWork> work, Stream* stream, void** params, void** extra,
              const Marks& marks) {
  if (const Status status = usable(); status != success) return status;
  if (const Status status = prepare(*work, kernel, params, extra); status != success) return status;
  if (const Status status = check_launch(*work); status != success) {
    const char* const name = error_name(status);
    note_refused(isa::readable_name(work->kernel->name),
                 name != nullptr ? name : fmt::format("error {}", status));
    return status;
  }
  Doing doing;
  if (const Status status = enqueue(stream, std::move(work), doing); status != success) return status;
  if (capturing(stream)) {
    for (Event* event : {marks.triggered, marks.completed})
      if (event != nullptr)
        if (const Status status = record(event, stream); status != success) return status;
    return success;
  }
  // The first is recorded when the CTAs have let dependent kernels begin, the second when they have begun
  // themselves.
  const order::Clock& begun = doing.place.programmatic ? doing.place.early : doing.place.before;
  if (marks.triggered != nullptr) mark(*marks.triggered, {begun, doing.place.after()}, line_of(stream));
  if (marks.completed != nullptr) mark(*marks.completed, {begun, {}}, line_of(stream));
  return success;
}

std::shared_ptr<LaunchWork> shape(isa::Dim3 grid, isa::Dim3 block, uint32_t shared) {
  auto work = std::make_shared<LaunchWork>();
  work->grid = grid;
  work->block = block;
  work->shared = shared;
  return work;
}

}  // namespace
}  // namespace palladion::cuda::driver

PLD_CUDA cuLaunchKernel(Kernel* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, Stream* stream, void** params, void** extra) {
  const Guard guard(state().lock);
  return launch(f, shape({gx, gy, gz}, {bx, by, bz}, shared), stream, params, extra, {});
}
PLD_CUDA cuLaunchCooperativeKernel(Kernel* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, Stream* stream, void** params) {
  const Guard guard(state().lock);
  auto work = shape({gx, gy, gz}, {bx, by, bz}, shared);
  work->cooperative = true;
  return launch(f, std::move(work), stream, params, nullptr, {});
}
PLD_CUDA cuLaunchKernelEx(const LaunchConfig* c, Kernel* f, void** params, void** extra) {
  const Guard guard(state().lock);
  if (c == nullptr || (c->attribute_count != 0 && c->attributes == nullptr)) return invalid_value;
  auto work =
      shape({c->grid[0], c->grid[1], c->grid[2]}, {c->block[0], c->block[1], c->block[2]}, c->shared_bytes);
  Marks marks;
  for (uint32_t i = 0; i < c->attribute_count; ++i)
    if (const Status status = apply(c->attributes[i], *work, marks); status != success) return status;
  return launch(f, std::move(work), static_cast<Stream*>(c->stream), params, extra, marks);
}
PLD_CUDA cuLaunchCooperativeKernelMultiDevice(void*, unsigned, unsigned) {
  return unsupported("cuLaunchCooperativeKernelMultiDevice");
}

// Attributes of kernel nodes: the same as those of launches, without the events.
PLD_CUDA cuGraphKernelNodeSetAttribute(Node* node, LaunchAttributeId id, const LaunchAttributeValue* value) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  auto* const work = std::get_if<std::shared_ptr<LaunchWork>>(&node->work);
  if (work == nullptr || value == nullptr) return invalid_value;
  const LaunchWork before = **work;
  Marks marks;
  Status status = apply({id, {}, *value}, **work, marks);
  if (marks.triggered != nullptr || marks.completed != nullptr) status = invalid_value;
  if (status == success) status = check_launch(**work);
  if (status != success) **work = before;
  return status;
}
PLD_CUDA cuGraphKernelNodeGetAttribute(Node* node, LaunchAttributeId id, LaunchAttributeValue* value) {
  const Guard guard(state().lock);
  if (!exist(node)) return invalid_value;
  const auto* const work = std::get_if<std::shared_ptr<LaunchWork>>(&node->work);
  if (work == nullptr || value == nullptr) return invalid_value;
  const LaunchWork& w = **work;
  *value = {};
  if (id == LaunchAttributeId::cooperative) return value->flag = w.cooperative ? 1 : 0, success;
  if (id == LaunchAttributeId::priority) return value->flag = w.priority, success;
  if (id == LaunchAttributeId::cluster_dimension) {
    if (w.cluster.count() != 1) value->cluster = {w.cluster.x, w.cluster.y, w.cluster.z};
    return success;
  }
  const auto hint = w.hints.find(static_cast<uint32_t>(id));
  if (hint != w.hints.end()) *value = hint->second;
  return success;
}
PLD_CUDA cuGraphKernelNodeCopyAttributes(Node* to, Node* from) {
  const Guard guard(state().lock);
  if (!exist(to, from)) return invalid_value;
  auto* const target = std::get_if<std::shared_ptr<LaunchWork>>(&to->work);
  const auto* const source = std::get_if<std::shared_ptr<LaunchWork>>(&from->work);
  if (target == nullptr || source == nullptr) return invalid_value;
  (*target)->cooperative = (*source)->cooperative;
  (*target)->cluster = (*source)->cluster;
  (*target)->priority = (*source)->priority;
  (*target)->hints = (*source)->hints;
  return success;
}

// ---- occupancy ----

namespace {

Status config_of(LaunchWork& work, Kernel* kernel, const LaunchConfig* c) {
  if (!exist(kernel)) return invalid_handle;
  if (c == nullptr) return invalid_value;
  work.kernel = kernel;
  work.block = {c->block[0], c->block[1], c->block[2]};
  work.grid = {c->grid[0], c->grid[1], c->grid[2]};
  work.shared = c->shared_bytes;
  Marks marks;
  for (uint32_t i = 0; i < c->attribute_count; ++i)
    if (const Status status = apply(c->attributes[i], work, marks); status != success) return status;
  return success;
}

}  // namespace

PLD_CUDA cuOccupancyMaxActiveClusters(int* out, Kernel* kernel, const LaunchConfig* config) {
  const Guard guard(state().lock);
  if (!exist(kernel)) return invalid_handle;
  if (out == nullptr) return invalid_value;
  LaunchWork work;
  if (const Status status = config_of(work, kernel, config); status != success) return status;
  const auto needs = needs_of(*kernel);
  if (!needs) return needs.error();
  if (work.cluster.count() > static_cast<uint64_t>(state().arch->max_cluster)) return invalid_cluster;
  const int per_sm =
      ctas_per_sm(*needs, static_cast<int>(std::min<uint64_t>(work.block.count(), INT32_MAX)), work.shared);
  return *out = resident_clusters(per_sm, work.cluster), success;
}
// The largest of which at least one fits the chip.
PLD_CUDA cuOccupancyMaxPotentialClusterSize(int* out, Kernel* kernel, const LaunchConfig* config) {
  const Guard guard(state().lock);
  if (!exist(kernel)) return invalid_handle;
  if (out == nullptr) return invalid_value;
  LaunchWork work;
  if (const Status status = config_of(work, kernel, config); status != success) return status;
  const auto needs = needs_of(*kernel);
  if (!needs) return needs.error();
  const palladion::isa::ArchSpec& a = *state().arch;
  const int per_sm =
      ctas_per_sm(*needs, static_cast<int>(std::min<uint64_t>(work.block.count(), INT32_MAX)), work.shared);
  int size = kernel->nonportable_cluster ? a.max_cluster : a.max_cluster_portable;
  while (size > 1 && resident_clusters(per_sm, {static_cast<uint32_t>(size), 1, 1}) == 0) size /= 2;
  return *out = size, success;
}
