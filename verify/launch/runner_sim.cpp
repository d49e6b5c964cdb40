#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/machine/state/grid_workspace.h"
#include "verify/arrays/codes.h"
#include "verify/launch/runner.h"

namespace palladion {
namespace {

// The job's buffers in a machine's memory, for the time of a run. Without values, arrays without contents
// have addresses but no memory.
class Bound {
 public:
  Bound(Job& job, sim::GlobalMemory& memory, sim::Values values)
      : job_(job), memory_(memory), values_(values) {
    arrays_.resize(job.buffers.size());  // before binding: the bytes must not move
    for (size_t i = 0; i < job.buffers.size(); ++i) bases_.push_back(bind(i));
  }
  // Empty: everything has its place.
  isa::Diagnostics misplaced() const {
    isa::Diagnostics out;
    for (size_t i = 0; i < bases_.size(); ++i)
      if (bases_[i] == 0)
        out.push_back(
            {.code = LaunchCode::taken_address,
             .message = fmt::format("buffer `{}`: the addresses 0x{:x} to 0x{:x} are taken",
                                    job_.buffers[i].name, job_.buffers[i].address,
                                    job_.buffers[i].address + uint64_t(job_.buffers[i].type.bytes()))});
    return out;
  }
  sim::Placed variables() const {
    sim::Placed out;
    for (size_t i = 0; i < bases_.size(); ++i)
      if (!job_.buffers[i].variable.empty()) out[job_.buffers[i].variable] = bases_[i];
    return out;
  }
  ~Bound() {
    for (const sim::Address base : bases_) memory_.release(base);
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  sim::Address base(int buffer) const { return bases_[size_t(buffer)]; }
  std::vector<sim::Address> written() const {
    std::vector<sim::Address> out;
    for (size_t i = 0; i < bases_.size(); ++i)
      if (job_.buffers[i].role != Role::in) out.push_back(bases_[i]);
    return out;
  }
  std::vector<Array> outputs() const {
    std::vector<Array> out;
    if (values_ == sim::Values::none) return out;
    for (size_t i = 0; i < arrays_.size(); ++i)
      if (job_.is_output(i)) out.push_back(arrays_[i]);
    return out;
  }
  std::vector<std::byte> take_profile() {
    for (size_t i = 0; i < arrays_.size(); ++i)
      if (job_.buffers[i].role == Role::profile) return std::move(arrays_[i].bytes);
    return {};
  }
  std::vector<Array> take_outputs() {
    std::vector<Array> out;
    if (values_ == sim::Values::none) return out;
    for (size_t i = 0; i < arrays_.size(); ++i)
      if (job_.is_output(i)) out.push_back(std::move(arrays_[i]));
    return out;
  }

 private:
  sim::Address bind(size_t i) {
    Buffer& buffer = job_.buffers[i];
    const bool starts_empty =
        buffer.role == Role::out || buffer.role == Role::scratch || buffer.role == Role::profile;
    if (values_ == sim::Values::none && (starts_empty || buffer.initial.bytes.empty()))
      return memory_.allocate(uint64_t(buffer.type.bytes()), buffer.name, buffer.role != Role::scratch);
    if (buffer.role == Role::inout) arrays_[i] = buffer.initial;
    if (starts_empty) arrays_[i] = Array(buffer.type);
    if (buffer.role == Role::out) poison(arrays_[i]);
    Array& array = buffer.role == Role::in ? buffer.initial : arrays_[i];
    const std::span<uint8_t> bytes(reinterpret_cast<uint8_t*>(array.bytes.data()), array.bytes.size());
    if (buffer.address == 0) return memory_.bind(bytes, buffer.name, buffer.role == Role::out);
    if (!memory_.bind_at(sim::Address(buffer.address), bytes, buffer.name)) return {};
    if (buffer.host_writes) memory_.share_with_host(sim::Address(buffer.address));
    return sim::Address(buffer.address);
  }

  Job& job_;
  sim::GlobalMemory& memory_;
  sim::Values values_;
  std::vector<Array> arrays_;
  std::vector<sim::Address> bases_;
};

// The job's texture and surface objects in a machine's table, for the time of a run.
class BoundObjects {
 public:
  BoundObjects(const Job& job, const Bound& bound, sim::TextureTable& table) : table_(table) {
    for (const TextureObject& object : job.objects) {
      sim::Texture texture = object.texture;
      if (object.buffer >= 0)
        for (sim::ImageLevel& level : texture.image.levels)
          level.address += uint64_t{bound.base(object.buffer)};
      const bool made = object.surface ? table.create_surface_at(object.handle, std::move(texture.image))
                                       : table.create_at(object.handle, std::move(texture));
      if (made) handles_.push_back(object.handle);
    }
  }
  ~BoundObjects() {
    for (const uint64_t handle : handles_) table_.destroy(handle);
  }
  BoundObjects(const BoundObjects&) = delete;
  BoundObjects& operator=(const BoundObjects&) = delete;

 private:
  sim::TextureTable& table_;
  std::vector<uint64_t> handles_;
};

std::vector<uint8_t> bytes_of(const ParamValue& value, const Bound& bound) {
  const auto raw = [](const void* from, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(from);
    return std::vector<uint8_t>(bytes, bytes + size);
  };
  if (const auto* pointer = std::get_if<PointerValue>(&value)) {
    const sim::Address address = bound.base(pointer->buffer);
    return raw(&address, sizeof address);
  }
  if (const auto* tensor = std::get_if<TensorMapValue>(&value)) {
    isa::TensorMap map = tensor->map;
    map.global_address += bound.base(tensor->buffer);
    const isa::EncodedTensorMap encoded = isa::encode(map);
    return raw(encoded.bytes.data(), encoded.bytes.size());
  }
  return std::get<BytesValue>(value).bytes;
}

std::vector<uint8_t> pack_params(const Job& job, const Bound& bound) {
  const isa::Function* entry = job.module->find_entry(job.entry);
  if (entry == nullptr) return {};
  const isa::ParamLayout layout = isa::param_layout(*job.module, *entry);
  std::vector<uint8_t> block(layout.size);
  for (size_t i = 0; i < std::min(job.params.size(), layout.offsets.size()); ++i) {
    const std::vector<uint8_t> bytes = bytes_of(job.params[i], bound);
    std::memcpy(block.data() + layout.offsets[i], bytes.data(),
                std::min<size_t>(bytes.size(), layout.size - layout.offsets[i]));
  }
  return block;
}

// A map that the driver would refuse must not run here either.
isa::Diagnostics check_tensor_maps(const Job& job, const Bound& bound, const isa::ArchSpec& arch) {
  isa::Diagnostics out;
  for (size_t i = 0; i < job.params.size(); ++i) {
    const auto* tensor = std::get_if<TensorMapValue>(&job.params[i]);
    if (tensor == nullptr) continue;
    isa::TensorMap map = tensor->map;
    map.global_address += bound.base(tensor->buffer);
    for (const std::string& rule : isa::validate(map, arch))
      out.push_back({.code = LaunchCode::bad_tensor_map,
                     .message = "tensor map over `" + job.buffers[size_t(tensor->buffer)].name +
                                "`, parameter " + std::to_string(i) + ": " + rule});
  }
  return out;
}

// Of a cooperative launch.
class Workspace {
 public:
  Workspace(const Job& job, sim::GlobalMemory& memory) : memory_(memory) {
    if (job.cooperative)
      base_ = memory.allocate(sim::grid_workspace_bytes, "workspace of a cooperative launch");
  }
  ~Workspace() {
    if (base_ != 0) memory_.release(base_);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void give(sim::Launch& launch) const {
    if (base_ != 0) sim::set_grid_workspace(memory_, base_, launch);
  }

 private:
  sim::GlobalMemory& memory_;
  sim::Address base_;
};

sim::Run start(const Job& job, const Bound& bound, const Workspace& workspace, sim::Machine& machine,
               sim::RunOptions options) {
  sim::RunResult refused;
  refused.errors = bound.misplaced();
  if (refused.errors.empty()) refused.errors = check_tensor_maps(job, bound, machine.arch());
  if (!refused.errors.empty()) return sim::Run(std::move(refused));
  machine.load(*job.module, bound.variables());
  sim::Launch launch;
  launch.module = job.module;
  launch.entry = job.entry;
  launch.grid = job.grid;
  launch.block = job.block;
  launch.cluster = job.cluster;
  launch.dynamic_shared = job.dynamic_shared;
  launch.recorded = job.recorded;
  launch.written = bound.written();
  launch.params = pack_params(job, bound);
  workspace.give(launch);
  // Its CTAs wait for each other: the device had room for all of them.
  if (job.cooperative) options.resident_clusters = job.grid.count() / job.cluster.count();
  return machine.start(launch, options);
}

}  // namespace

struct HeldJob::State {
  State(Job& job, sim::Machine& machine, const sim::RunOptions& options)
      : bound(job, machine.memory(), options.values),
        objects(job, bound, machine.textures()),
        workspace(job, machine.memory()),
        run(start(job, bound, workspace, machine, options)) {}
  Bound bound;
  BoundObjects objects;
  Workspace workspace;
  sim::Run run;
};

HeldJob::HeldJob(Job& job, sim::Machine& machine, const sim::RunOptions& options)
    : state_(std::make_unique<State>(job, machine, options)) {}
HeldJob::~HeldJob() = default;
HeldJob::HeldJob(HeldJob&&) noexcept = default;
HeldJob& HeldJob::operator=(HeldJob&&) noexcept = default;

sim::Run& HeldJob::run() { return state_->run; }
std::vector<Array> HeldJob::outputs() const { return state_->bound.outputs(); }
SimOutcome HeldJob::finish() {
  SimOutcome outcome;
  outcome.result = state_->run.take_result();
  outcome.outputs = state_->bound.take_outputs();
  outcome.profile = state_->bound.take_profile();
  return outcome;
}

SimOutcome run(Job& job, sim::Machine& machine, const sim::RunOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  HeldJob held(job, machine, options);
  while (held.run().advance()) {
  }
  const auto end = std::chrono::steady_clock::now();
  SimOutcome outcome = held.finish();
  outcome.seconds = std::chrono::duration<double>(end - start).count();
  return outcome;
}

std::vector<Array> blank_inputs(const plgpu::Kernel& kernel) {
  std::vector<Array> inputs(kernel.launch.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].type = kernel.launch.inputs[i];
  return inputs;
}

SimOutcome run(const plgpu::Kernel& kernel, std::vector<Array> inputs, sim::Machine& machine,
               const sim::RunOptions& options) {
  Job job = job_of(kernel, std::move(inputs));
  return run(job, machine, options);
}

}  // namespace palladion
