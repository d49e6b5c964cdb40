#include "report/run/launch_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <utility>

#include "report/json/document.h"

namespace palladion::report {
namespace {

json::array dims(const isa::Dim3& d) { return {d.x, d.y, d.z}; }

std::string_view role_name(Role role) {
  constexpr std::string_view names[] = {"in", "out", "inout", "scratch", "profile"};
  return names[static_cast<size_t>(role)];
}

json::object buffer_json(const Buffer& b) {
  return {{"name", b.name},
          {"role", role_name(b.role)},
          {"dtype", pl::name(b.type.dtype)},
          {"shape", array_of(b.type.shape)}};
}

template <class Bytes>
std::string digits(const Bytes& bytes) {
  const auto* const first = reinterpret_cast<const uint8_t*>(std::data(bytes));
  return fmt::format("{:02x}", fmt::join(std::span(first, std::size(bytes)), ""));
}

json::object param_json(const ParamValue& value, const plgpu::Param& param) {
  if (const auto* pointer = std::get_if<PointerValue>(&value)) return {{"array", pointer->buffer}};
  if (const auto* map = std::get_if<TensorMapValue>(&value))
    return {{"array", map->buffer}, {"tensor_map", digits(isa::encode(map->map).bytes)}};
  json::object bytes{{"bytes", digits(std::get<BytesValue>(value).bytes)}};
  if (const auto* number = std::get_if<plgpu::ScalarParam>(&param)) {
    bytes.emplace("number", number->name);
    bytes.emplace("dtype", pl::name(number->dtype));
  }
  return bytes;
}

}  // namespace

std::string launch_json(const Launched& launched, const plgpu::Launch& kernel) {
  const Job& job = *launched.job;
  json::array params;
  for (size_t i = 0; i < job.params.size(); ++i)
    params.push_back(param_json(job.params[i], kernel.params.at(i)));
  return json_text(json::object{{"kernel", launched.name},
                                {"arch", launched.arch->name},
                                {"sizes", object_of(launched.sizes)},
                                {"settings", object_of(launched.settings)},
                                {"entry", job.entry},
                                {"grid", dims(job.grid)},
                                {"block", dims(job.block)},
                                {"cluster", dims(job.cluster)},
                                {"shared", job.dynamic_shared},
                                {"cooperative", job.cooperative},
                                {"programmatic", job.programmatic_serialization},
                                {"arrays", array_of(job.buffers, buffer_json)},
                                {"params", std::move(params)}});
}

}  // namespace palladion::report
