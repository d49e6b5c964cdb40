#include "sim/machine/exec/system_calls.h"

#include <fmt/format.h>

#include <utility>

#include "sim/launch/device_queue.h"
#include "sim/launch/graph_conditions.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/actuals.h"
#include "sim/machine/exec/heap.h"
#include "sim/machine/exec/printf.h"

namespace palladion::sim {
namespace {

// int vprintf(const char* format, void* arguments)
Step call_vprintf(Exec& x, const Actuals& a, const Actuals& results) {
  if (a.size() != 2) return x.unsupported(say<Phrase::other_arguments>("vprintf"));
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto text =
        format_guest(x, argument<uint64_t>(x, a, 0, lane), argument<uint64_t>(x, a, 1, lane), lane);
    if (!text) return Step::fault;
    x.cluster.printed += *text;
    give(x, results, lane, static_cast<uint32_t>(text->size()));
  }
  return Step::next;
}

// A line for each thread, as the device prints them.
void print_assertion(Exec& x, const std::string& where, const std::string& text) {
  const isa::Dim3 block = x.launch.block;
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const uint32_t thread = x.warp->id * 32 + static_cast<uint32_t>(std::countr_zero(m));
    x.cluster.asserted += fmt::format("{}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n",
                                      where, x.cta->id.x, x.cta->id.y, x.cta->id.z, thread % block.x,
                                      thread / block.x % block.y, thread / block.x / block.y, text);
  }
}

// The warp stops; others go on up to the quantum boundary, and their assertions are printed, too.
Step call_assertfail(Exec& x, const Actuals& a) {
  if (a.size() < 4) return x.fault(Code::failed_assertion);
  const int lane = std::countr_zero(x.active);
  const auto text = guest_string(x, argument<uint64_t>(x, a, 0, lane), lane),
             file = guest_string(x, argument<uint64_t>(x, a, 1, lane), lane),
             function = guest_string(x, argument<uint64_t>(x, a, 3, lane), lane);
  if (!text || !file || !function) return Step::fault;
  if (!x.at_boundary) {
    if (!std::exchange(x.warp->assertion_failed, true))
      print_assertion(x, fmt::format("{}:{}: {}", *file, argument<uint32_t>(x, a, 2, lane), *function),
                      *text);
    return x.wait(Wait::Kind::quantum_boundary);
  }
  return x.fault(Code::failed_assertion,
                 say<Phrase::assertion_failed>(*text, *file, argument<uint32_t>(x, a, 2, lane)));
}

std::span<uint8_t> heap_of(const Exec& x) {
  uint8_t* bytes = x.memory.find(x.launch.heap, x.launch.heap_bytes);
  return {bytes, bytes == nullptr ? 0 : x.launch.heap_bytes};
}
// The address of a block; 0: there is no room.
uint64_t allocate(const Exec& x, uint64_t bytes) {
  const uint64_t offset = heap_allocate(heap_of(x), bytes);
  return offset == 0 ? 0 : uint64_t{x.launch.heap + offset};
}
// Of address 0 nothing is released. False: no block begins there.
bool release(const Exec& x, uint64_t address) {
  return address == 0 || heap_release(heap_of(x), address - x.launch.heap);
}

// void* malloc(size_t): at the quantum boundary, so that addresses do not depend on the number of host
// threads.
Step call_malloc(Exec& x, const Actuals& a, const Actuals& results) {
  if (a.size() != 1) return x.unsupported(say<Phrase::other_arguments>("malloc"));
  if (!x.at_boundary) return x.wait(Wait::Kind::quantum_boundary);
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    give(x, results, lane, allocate(x, argument<uint64_t>(x, a, 0, lane)));
  }
  return Step::next;
}

Step call_free(Exec& x, const Actuals& a) {
  if (a.size() != 1) return x.unsupported(say<Phrase::other_arguments>("free"));
  if (!x.at_boundary) return x.wait(Wait::Kind::quantum_boundary);
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const auto address = argument<uint64_t>(x, a, 0, std::countr_zero(m));
    if (!release(x, address)) return x.fault(Code::bad_free, say<Phrase::free_of_no_block>(address));
  }
  return Step::next;
}

// --- the device's runtime library: what it launches is put into a queue, sim/launch/device_queue.h ---
enum class DeviceCall : uint8_t { buffer, launch, new_stream, no_effect, copy, malloc, free };

std::optional<DeviceCall> device_call(std::string_view name) {
  constexpr std::string_view prefix = "__cudaCDP2";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  // Streams are in order with each other, and a launch that fails is reported when it is performed.
  constexpr std::pair<std::string_view, DeviceCall> calls[] = {
      {"GetParameterBufferV2", DeviceCall::buffer},
      {"LaunchDeviceV2", DeviceCall::launch},
      {"StreamCreateWithFlags", DeviceCall::new_stream},
      {"StreamDestroy", DeviceCall::no_effect},
      {"GetLastError", DeviceCall::no_effect},
      {"PeekAtLastError", DeviceCall::no_effect},
      {"MemcpyAsync", DeviceCall::copy},
      {"Malloc", DeviceCall::malloc},
      {"Free", DeviceCall::free}};
  for (const auto& [text, call] : calls)
    if (name == text) return call;
  return std::nullopt;
}

// The allocation whose address two registers of the environment hold; null: there is none.
const Allocation* environment_memory(const Exec& x, int high, int low) {
  const auto& e = x.launch.environment;
  return x.memory.lookup(Address(uint64_t{e[high]} << 32 | e[low]));
}
const Allocation* queue_of(const Exec& x) {
  return environment_memory(x, device_queue_high, device_queue_low);
}

isa::Dim3 dim3_argument(const Exec& x, const Actuals& a, size_t i, int lane) {
  uint32_t v[3] = {};
  read_actual(x, a, i, lane, sizeof v, reinterpret_cast<uint8_t*>(v));
  return {v[0], v[1], v[2]};
}

// void* (kernel, grid, block, shared): where the parameters are written; null: there is no room.
uint64_t parameter_buffer(const Exec& x, DeviceQueue& queue, const Actuals& a, int lane) {
  const isa::Module& module = *x.program.module;
  const uint64_t index = argument<uint64_t>(x, a, 0, lane) - function_addresses;
  if (index >= module.functions.size() || !module.functions[index].entry) return 0;
  DeviceWork launch;
  launch.function = static_cast<uint32_t>(index);
  launch.grid = dim3_argument(x, a, 1, lane);
  launch.block = dim3_argument(x, a, 2, lane);
  launch.shared = argument<uint32_t>(x, a, 3, lane);
  const uint64_t offset = queue.reserve(launch, isa::param_layout(module, module.functions[index]).size);
  return offset == 0 ? 0 : uint64_t{queue_of(x)->base + offset};
}

// cudaError_t
constexpr uint32_t device_success = 0, device_invalid_value = 1, device_out_of_memory = 2,
                   device_too_many_launches = 69;

// Writes a result through a pointer; false after a fault.
bool store_result(Exec& x, uint64_t address, uint64_t value, int lane) {
  uint8_t* const at = x.resolve(isa::Space::generic, address, sizeof value, lane, "write");
  if (at != nullptr) std::memcpy(at, &value, sizeof value);
  return at != nullptr;
}

// cudaError_t (void** address, size_t bytes)
bool device_malloc(Exec& x, const Actuals& a, const Actuals& results, int lane) {
  const uint64_t block = allocate(x, argument<uint64_t>(x, a, 1, lane));
  give(x, results, lane, block == 0 ? device_out_of_memory : device_success);
  return store_result(x, argument<uint64_t>(x, a, 0, lane), block, lane);
}

uint32_t device_free(const Exec& x, const Actuals& a, int lane) {
  return release(x, argument<uint64_t>(x, a, 0, lane)) ? device_success : device_invalid_value;
}

uint32_t device_copy(const Exec& x, DeviceQueue& queue, const Actuals& a, int lane) {
  DeviceWork copy{.kind = DeviceWork::Kind::copy};
  copy.to = argument<uint64_t>(x, a, 0, lane);
  copy.from = argument<uint64_t>(x, a, 1, lane);
  copy.bytes = argument<uint64_t>(x, a, 2, lane);
  copy.stream = argument<uint64_t>(x, a, 4, lane);
  return queue.add_copy(copy) ? device_success : device_too_many_launches;
}

bool perform_device_call(Exec& x, DeviceQueue& queue, DeviceCall call, const Actuals& a,
                         const Actuals& results, int lane) {
  switch (call) {
    case DeviceCall::buffer:
      give(x, results, lane, parameter_buffer(x, queue, a, lane));
      return true;
    case DeviceCall::launch: {
      const uint64_t offset = argument<uint64_t>(x, a, 0, lane) - queue_of(x)->base;
      const bool ok = queue.commit(offset, argument<uint64_t>(x, a, 1, lane));
      give(x, results, lane, ok ? device_success : device_invalid_value);
      return true;
    }
    case DeviceCall::new_stream:
      give(x, results, lane, device_success);
      return store_result(x, argument<uint64_t>(x, a, 0, lane), queue.new_stream(), lane);
    case DeviceCall::copy:
      give(x, results, lane, device_copy(x, queue, a, lane));
      return true;
    case DeviceCall::malloc:
      return device_malloc(x, a, results, lane);
    case DeviceCall::free:
      give(x, results, lane, device_free(x, a, lane));
      return true;
    case DeviceCall::no_effect:
      give(x, results, lane, device_success);
      return true;
  }
  return true;
}

// At the quantum boundary, so that the order does not depend on the number of host threads.
Step call_device_runtime(Exec& x, const isa::Function& f, DeviceCall call, const Actuals& a,
                         const Actuals& results) {
  const Allocation* const memory = queue_of(x);
  if (memory == nullptr) return x.unsupported(say<Phrase::launch_outside_exec>(f.name));
  if (a.size() != f.params.size()) return x.unsupported(say<Phrase::other_arguments>(f.name));
  if (!x.at_boundary) return x.wait(Wait::Kind::quantum_boundary);
  DeviceQueue queue({memory->bytes, memory->size});
  for (uint32_t m = x.active; m != 0; m &= m - 1)
    if (!perform_device_call(x, queue, call, a, results, std::countr_zero(m))) return Step::fault;
  x.changed();
  return Step::next;
}

// void cudaGraphSetConditional(uint64_t handle, unsigned value): at the quantum boundary, so that the last
// call does not depend on the number of host threads.
Step call_set_conditional(Exec& x, const Actuals& a) {
  const Allocation* const table = environment_memory(x, conditions_high, conditions_low);
  if (table == nullptr) return x.unsupported(say<Phrase::graph_outside_exec>("cudaGraphSetConditional"));
  if (a.size() != 2) return x.unsupported(say<Phrase::other_arguments>("cudaGraphSetConditional"));
  if (!x.at_boundary) return x.wait(Wait::Kind::quantum_boundary);
  for (uint32_t m = x.active; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto handle = argument<uint64_t>(x, a, 0, lane);
    const auto value = argument<uint32_t>(x, a, 1, lane);
    const uint64_t offset = handle - table->base;  // wraps below the table
    if (offset >= table->size || offset % sizeof value != 0)
      return x.fault(Code::no_graph_condition, say<Phrase::no_condition_handle>(handle));
    std::memcpy(table->bytes + offset, &value, sizeof value);
  }
  x.changed();
  return Step::next;
}

}  // namespace

Step call_system(Exec& x, const MicroOp& op, const isa::Call& e, const isa::Function& f) {
  const Actuals a = actuals(op, e.arguments), results = actuals(op, e.returns);
  if (f.name == "vprintf") return call_vprintf(x, a, results);
  if (f.name == "__assertfail") return call_assertfail(x, a);
  if (f.name == "malloc") return call_malloc(x, a, results);
  if (f.name == "free") return call_free(x, a);
  if (f.name == "cudaGraphSetConditional") return call_set_conditional(x, a);
  if (const auto call = device_call(f.name)) return call_device_runtime(x, f, *call, a, results);
  return x.unsupported(say<Phrase::external_call>(f.name));
}

}  // namespace palladion::sim
