#include "verify/launch/job.h"

#include <fmt/format.h>

#include <cstring>

#include "isa/core/whole_error.h"
#include "isa/verify/verify.h"
#include "verify/arrays/codes.h"

namespace palladion {
namespace {

[[noreturn]] void wrong_inputs(const std::string& message) {
  throw isa::WholeError(isa::Diagnostic{.code = LaunchCode::broken_rule, .message = message});
}

void check_inputs(const plgpu::Kernel& kernel, const std::vector<Array>& inputs) {
  const auto& wanted = kernel.launch.inputs;
  if (inputs.size() != wanted.size())
    wrong_inputs(
        fmt::format("`{}` takes {} arrays, {} are given", kernel.name, wanted.size(), inputs.size()));
  for (size_t i = 0; i < wanted.size(); ++i)
    if (inputs[i].type != wanted[i])
      wrong_inputs(fmt::format("`{}` takes {} as array {}, given is {}", kernel.name,
                               pl::to_string(wanted[i]), i, pl::to_string(inputs[i].type)));
}

// What breaks the rules of PTX must not reach a machine, which relies on them.
void check_module(const plgpu::Kernel& kernel) {
  isa::Diagnostics problems = isa::verify(kernel.module);
  std::erase_if(problems, [](const isa::Diagnostic& d) { return d.severity == isa::Severity::warning; });
  if (!problems.empty()) throw isa::WholeError(std::move(problems));
}

std::string name_of(const std::vector<std::string>& names, size_t i, size_t inputs) {
  if (i < names.size()) return names[i];
  return i < inputs ? fmt::format("in{}", i) : fmt::format("out{}", i - inputs);
}

void add_buffers(Job& job, const plgpu::Launch& launch, std::vector<Array> inputs,
                 const std::vector<std::string>& names) {
  for (size_t i = 0; i < inputs.size(); ++i)
    job.buffers.push_back({name_of(names, i, inputs.size()), Role::in, inputs[i].type, std::move(inputs[i])});
  for (size_t i = 0; i < launch.outputs.size(); ++i)
    job.buffers.push_back(
        {name_of(names, launch.inputs.size() + i, launch.inputs.size()), Role::out, launch.outputs[i], {}});
  for (const auto& [input, output] : launch.aliases) {
    Buffer& target = job.buffers[launch.inputs.size() + size_t(output)];
    target.role = Role::inout;
    target.initial = job.buffers[size_t(input)].initial;
  }
}

ParamValue value_of(Job& job, const plgpu::Launch& launch, const plgpu::Param& param) {
  if (const auto* pointer = std::get_if<plgpu::PointerParam>(&param)) return PointerValue{pointer->array};
  if (const auto* map = std::get_if<plgpu::TensorMapParam>(&param))
    return TensorMapValue{map->array, map->map};
  if (const auto* scalar = std::get_if<plgpu::ScalarParam>(&param)) {
    BytesValue value{std::vector<uint8_t>(size_t(pl::bytes(scalar->dtype)))};
    std::memcpy(value.bytes.data(), &scalar->bits, value.bytes.size());
    return value;
  }
  if (std::holds_alternative<plgpu::ProfileParam>(param)) {
    job.buffers.push_back({"profile", Role::profile, {pl::u8, {launch.profile_bytes()}}, {}});
    return PointerValue{int(job.buffers.size()) - 1};
  }
  const auto& scratch = std::get<plgpu::ScratchParam>(param);
  job.buffers.push_back({scratch.name, Role::scratch, {pl::u8, {scratch.bytes}}, {}});
  return PointerValue{int(job.buffers.size()) - 1};
}

}  // namespace

Job job_of(const plgpu::Kernel& kernel, std::vector<Array> inputs, const std::vector<std::string>& names) {
  check_inputs(kernel, inputs);
  check_module(kernel);
  const plgpu::Launch& launch = kernel.launch;
  Job job{.module = &kernel.module,
          .entry = launch.entry,
          .grid = launch.grid,
          .block = launch.block,
          .cluster = launch.cluster,
          .dynamic_shared = launch.dynamic_smem_bytes,
          .programmatic_serialization = launch.programmatic_serialization};
  add_buffers(job, launch, std::move(inputs), names);
  for (const plgpu::Param& param : launch.params) job.params.push_back(value_of(job, launch, param));
  return job;
}

}  // namespace palladion
