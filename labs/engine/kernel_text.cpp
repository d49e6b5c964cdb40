#include "labs/engine/kernel_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "isa/formats/tensor_map.h"
#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "verify/arrays/arrays.h"
#include "verify/arrays/words.h"

namespace palladion::labs {

using namespace host;
using report::array_of;
namespace json = report::json;

namespace {

json::array dims_json(const isa::Dim3& d) { return {d.x, d.y, d.z}; }

json::object type_json(const pl::ShapeDtype& type) {
  return {{"dtype", pl::name(type.dtype)}, {"shape", array_of(type.shape)}};
}

// The address of a map is an offset into its array; the other fields are the driver's 128 bytes.
json::object param_json(const plgpu::Param& param) {
  if (const auto* pointer = std::get_if<plgpu::PointerParam>(&param)) return {{"array", pointer->array}};
  if (const auto* map = std::get_if<plgpu::TensorMapParam>(&param)) {
    std::string bytes;
    for (const std::byte b : isa::encode(map->map).bytes) bytes += fmt::format("{:02x}", unsigned(b));
    return {{"array", map->array}, {"map", bytes}};
  }
  if (const auto* scratch = std::get_if<plgpu::ScratchParam>(&param))
    return {{"scratch", scratch->bytes}, {"name", scratch->name}};
  if (const auto* scalar = std::get_if<plgpu::ScalarParam>(&param))
    return {{"scalar", scalar->name}, {"dtype", pl::name(scalar->dtype)}, {"bits", scalar->bits}};
  return {{"profile", true}};
}

isa::Dim3 dims_of(const json::value& value) {
  const json::array& a = value.as_array();
  return {a.at(0).to_number<uint32_t>(), a.at(1).to_number<uint32_t>(), a.at(2).to_number<uint32_t>()};
}

pl::ShapeDtype type_of(const json::value& value) {
  const auto dtype = dtype_named(std::string(value.at("dtype").as_string()));
  if (!dtype) throw std::invalid_argument("a type that does not exist");
  pl::ShapeDtype out{*dtype, {}};
  for (const json::value& n : value.at("shape").as_array()) out.shape.push_back(n.to_number<int64_t>());
  return out;
}

isa::TensorMap map_of(std::string_view hex) {
  std::array<std::byte, isa::tensor_map_bytes> bytes{};
  if (hex.size() != 2 * bytes.size()) throw std::invalid_argument("a tensor map has 128 bytes");
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = number_in<uint32_t>("0x" + std::string(hex.substr(2 * i, 2)));
    bytes[i] = std::byte(byte.value_or(0));
  }
  const auto map = isa::decode_tensor_map(bytes);
  if (!map) throw std::invalid_argument(map.error());
  return *map;
}

plgpu::Param param_of(const json::object& o) {
  if (const json::value* scratch = o.if_contains("scratch"))
    return plgpu::ScratchParam{scratch->to_number<int64_t>(), std::string(o.at("name").as_string())};
  if (o.contains("profile")) return plgpu::ProfileParam{};
  if (const json::value* scalar = o.if_contains("scalar")) {
    const auto dtype = dtype_named(std::string(o.at("dtype").as_string()));
    if (!dtype) throw std::invalid_argument("a type that does not exist");
    return plgpu::ScalarParam{std::string(scalar->as_string()), *dtype, o.at("bits").to_number<uint64_t>()};
  }
  const int array = o.at("array").to_number<int>();
  if (const json::value* map = o.if_contains("map"))
    return plgpu::TensorMapParam{array, map_of(map->as_string())};
  return plgpu::PointerParam{array};
}

// What a job takes for granted.
void check_launch(const plgpu::Launch& launch) {
  constexpr int64_t most_bytes = int64_t{1} << 30;
  const auto arrays = int(launch.inputs.size() + launch.outputs.size());
  const auto exists = [&](int array) { return array >= 0 && array < arrays; };
  int64_t bytes = launch.profile_bytes();
  for (const plgpu::Param& param : launch.params) {
    const auto* pointer = std::get_if<plgpu::PointerParam>(&param);
    const auto* map = std::get_if<plgpu::TensorMapParam>(&param);
    const auto* scratch = std::get_if<plgpu::ScratchParam>(&param);
    if ((pointer != nullptr && !exists(pointer->array)) || (map != nullptr && !exists(map->array)))
      throw std::invalid_argument("a parameter names an array that does not exist");
    if (scratch != nullptr && (scratch->bytes < 0 || scratch->bytes > most_bytes))
      throw std::invalid_argument("more than 1 GiB of scratch memory");
    if (scratch != nullptr) bytes += scratch->bytes;
    if (std::holds_alternative<plgpu::ProfileParam>(param) && !launch.profile)
      throw std::invalid_argument("a profile's buffer without a profile");
  }
  if (bytes < 0 || bytes > most_bytes) throw std::invalid_argument("more than 1 GiB of scratch memory");
  for (const auto& [input, output] : launch.aliases)
    if (input < 0 || size_t(input) >= launch.inputs.size() || output < 0 ||
        size_t(output) >= launch.outputs.size() ||
        launch.inputs[size_t(input)] != launch.outputs[size_t(output)])
      throw std::invalid_argument("an alias of arrays that differ");
}

plgpu::Launch launch_of(const json::object& o) {
  plgpu::Launch launch;
  launch.entry = o.at("entry").as_string();
  launch.grid = dims_of(o.at("grid"));
  launch.block = dims_of(o.at("block"));
  launch.cluster = dims_of(o.at("cluster"));
  launch.dynamic_smem_bytes = o.at("shared").to_number<uint32_t>();
  launch.programmatic_serialization = o.at("programmatic").as_bool();
  for (const json::value& p : o.at("params").as_array()) launch.params.push_back(param_of(p.as_object()));
  for (const json::value& t : o.at("inputs").as_array()) launch.inputs.push_back(type_of(t));
  for (const json::value& t : o.at("outputs").as_array()) launch.outputs.push_back(type_of(t));
  for (const json::value& a : o.at("aliases").as_array())
    launch.aliases.emplace_back(a.as_array().at(0).to_number<int>(), a.as_array().at(1).to_number<int>());
  if (const json::value* space = o.if_contains("profile_space"))
    launch.profile = plgpu::Profile{.space = std::clamp<int64_t>(space->to_number<int64_t>(), 0, 1 << 20),
                                    .warpgroups = std::min(o.at("warpgroups").to_number<uint32_t>(), 32U),
                                    .scopes = {}};
  check_launch(launch);
  return launch;
}

}  // namespace

json::object kernel_json(const plgpu::Kernel& kernel) {
  const plgpu::Launch& launch = kernel.launch;
  json::object out{
      {"name", kernel.name},
      {"ptx", isa::print(kernel.module, {.source_lines = true, .collect_files = true, .buffer_names = true})},
      {"entry", launch.entry},
      {"grid", dims_json(launch.grid)},
      {"block", dims_json(launch.block)},
      {"cluster", dims_json(launch.cluster)},
      {"shared", launch.dynamic_smem_bytes},
      {"programmatic", launch.programmatic_serialization},
      {"params", array_of(launch.params, param_json)},
      {"inputs", array_of(launch.inputs, type_json)},
      {"outputs", array_of(launch.outputs, type_json)}};
  json::array aliases;
  for (const auto& [input, output] : launch.aliases) aliases.push_back(json::array{input, output});
  out.emplace("aliases", std::move(aliases));
  if (launch.profile) {
    out.emplace("profile_space", launch.profile->space);
    out.emplace("warpgroups", launch.profile->warpgroups);
  }
  return out;
}

Outcome<plgpu::Kernel> kernel_of(const json::value& value) {
  try {
    plgpu::Kernel kernel;
    kernel.name = value.at("name").as_string();
    auto module = isa::parse(std::string(value.at("ptx").as_string()));
    if (!module) return tl::make_unexpected(Failure{.text = isa::render(module.error())});
    kernel.module = std::move(*module);
    kernel.launch = launch_of(value.as_object());
    const isa::Function* entry = kernel.module.find_entry(kernel.launch.entry);
    if (entry == nullptr || entry->params.size() != kernel.launch.params.size())
      return user_error("the recorded launch does not fit its program");
    return kernel;
  } catch (const std::exception& e) {  // Boost.JSON's own, and ours
    return user_error(fmt::format("the recording is malformed: {}", e.what()));
  }
}

}  // namespace palladion::labs
