#include <algorithm>

#include "cuda/native/codes.h"
#include "isa/text/print.h"
#include "verify/launch/runner.h"

namespace palladion {
namespace {

cuda::native::Dim3 dims(const isa::Dim3& d) { return {d.x, d.y, d.z}; }

cuda::native::LaunchShape shape_of(const Job& job) {
  cuda::native::LaunchShape shape;
  shape.grid = dims(job.grid);
  shape.block = dims(job.block);
  if (job.cluster.count() > 1) shape.cluster = dims(job.cluster);
  shape.dynamic_shared_bytes = job.dynamic_shared;
  shape.programmatic_serialization = job.programmatic_serialization;
  return shape;
}

cuda::native::Result<cuda::native::Buffer> upload(const Buffer& buffer, const cuda::native::Device& device) {
  auto made = device.allocate(size_t(buffer.type.bytes()));
  if (!made) return made;
  cuda::native::Result<void> done;
  switch (buffer.role) {
    case Role::in:
    case Role::inout:
      done = made->upload(buffer.initial.bytes);
      break;
    case Role::out:
      done = made->fill(0xFF);
      break;
    case Role::scratch:
    case Role::profile:
      done = made->fill(0);
      break;
  }
  if (!done) return tl::unexpected(done.error());
  return made;
}

cuda::native::Result<cuda::native::Arguments> arguments_of(const Job& job,
                                                           const std::vector<cuda::native::Buffer>& buffers,
                                                           const cuda::native::Device& device) {
  cuda::native::Arguments arguments;
  for (const ParamValue& value : job.params) {
    if (const auto* pointer = std::get_if<PointerValue>(&value)) {
      arguments.add(buffers[size_t(pointer->buffer)].address());
    } else if (const auto* tensor = std::get_if<TensorMapValue>(&value)) {
      isa::TensorMap map = tensor->map;
      map.global_address += buffers[size_t(tensor->buffer)].address();
      const auto handle = device.encode(map);
      if (!handle) return tl::unexpected(handle.error());
      arguments.add(handle->opaque);
    } else {
      arguments.add_bytes(std::as_bytes(std::span(std::get<BytesValue>(value).bytes)));
    }
  }
  return arguments;
}

cuda::native::Result<void> launch_once(const Job& job, std::vector<cuda::native::Buffer>& buffers,
                                       const cuda::native::Function& function,
                                       const cuda::native::Arguments& arguments) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (job.buffers[i].role != Role::scratch && job.buffers[i].role != Role::profile) continue;
    if (const auto zeroed = buffers[i].fill(0); !zeroed) return zeroed;
  }
  return function.launch(shape_of(job), arguments);
}

cuda::native::Result<std::vector<Array>> download(const Job& job,
                                                  const std::vector<cuda::native::Buffer>& buffers) {
  std::vector<Array> outputs;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!job.is_output(i)) continue;
    outputs.emplace_back(job.buffers[i].type);
    if (const auto done = buffers[i].download(outputs.back().bytes); !done)
      return tl::unexpected(done.error());
  }
  return outputs;
}

cuda::native::Result<std::vector<std::byte>> download_profile(
    const Job& job, const std::vector<cuda::native::Buffer>& buffers) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (job.buffers[i].role != Role::profile) continue;
    bytes.resize(size_t(job.buffers[i].type.bytes()));
    if (const auto done = buffers[i].download(bytes); !done) return tl::unexpected(done.error());
  }
  return bytes;
}

cuda::native::Result<void> run_into(DeviceOutcome& outcome, const Job& job,
                                    const cuda::native::Device& device, const DeviceOptions& options) {
  const auto module = device.load(ptx_of(job));
  if (!module) return tl::unexpected(module.error());
  outcome.jit_log = module->info_log();
  const auto function = module->function(job.entry.empty() ? job.module->find_entry("")->name : job.entry);
  if (!function) return tl::unexpected(function.error());
  if (const auto attributes = function->attributes()) outcome.attributes = *attributes;

  std::vector<cuda::native::Buffer> buffers;
  for (const Buffer& buffer : job.buffers) {
    auto made = upload(buffer, device);
    if (!made) return tl::unexpected(made.error());
    buffers.push_back(std::move(*made));
  }
  const auto arguments = arguments_of(job, buffers, device);
  if (!arguments) return tl::unexpected(arguments.error());
  if (auto done = launch_once(job, buffers, *function, *arguments); !done) return done;
  if (auto done = device.wait({options.limit, options.stop}); !done) return done;
  auto outputs = download(job, buffers);
  if (!outputs) return tl::unexpected(outputs.error());
  outcome.outputs = std::move(*outputs);
  auto profile = download_profile(job, buffers);
  if (!profile) return tl::unexpected(profile.error());
  outcome.profile = std::move(*profile);
  if (options.repeats == 0) return {};
  // Repeats write the same outputs again; their contents are not used any more.
  auto timing = device.time([&] { return launch_once(job, buffers, *function, *arguments); },
                            {.warmups = options.warmups,
                             .repeats = options.repeats,
                             .wait = {options.limit * options.repeats, options.stop}});
  if (!timing) return tl::unexpected(timing.error());
  outcome.timing = std::move(*timing);
  return {};
}

}  // namespace

std::string ptx_of(const Job& job) {
  return job.ptx.empty() ? isa::print(*job.module, {.source_lines = true, .collect_files = true}) : job.ptx;
}

DeviceOutcome run(const Job& job, const cuda::native::Device& device, const DeviceOptions& options) {
  DeviceOutcome outcome;
  if (const auto done = run_into(outcome, job, device, options); !done) {
    outcome.errors = done.error();
    outcome.still_runs = std::ranges::any_of(outcome.errors, [](const isa::Diagnostic& d) {
      return d.code == cuda::native::Code::kernel_timed_out;
    });
  }
  return outcome;
}

DeviceOutcome run(const plgpu::Kernel& kernel, std::vector<Array> inputs, const cuda::native::Device& device,
                  const DeviceOptions& options) {
  const Job job = job_of(kernel, std::move(inputs));
  return run(job, device, options);
}

}  // namespace palladion
