#include "python/native/job.h"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <functional>
#include <string_view>

#include "isa/core/symbol_name.h"
#include "verify/arrays/npy_files.h"
#include "verify/launch/arg_spec.h"

namespace palladion::python {
namespace {

Role role_of(const std::string& word) { return word == "profile" ? Role::profile : role_named(word).value(); }

Outcome<pl::ShapeDtype> type_of(const Request& array) {
  const std::string word = array.text("dtype");
  if (const auto dtype = dtype_named(word)) return pl::ShapeDtype{*dtype, array.numbers("shape")};
  return host::user_error(fmt::format("the machine has no element type `{}`", word));
}

// Of what an array contains that is only read.
size_t hash_of(const Buffer& buffer) {
  if (buffer.role != Role::in) return 0;
  const auto& bytes = buffer.initial.bytes;
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Outcome<void> add_buffer(LaunchedJob& launched, const Request& array, const void* data, double& bytes) {
  const auto type = type_of(array);
  if (!type) return tl::make_unexpected(type.error());
  bytes += bytes_of(*type);
  if (auto fits = host::Outcome<void>(check_memory(bytes)); !fits) return fits;
  Buffer buffer{array.text("name"), role_of(array.text("role")), *type, {}};
  if (buffer.role == Role::in || buffer.role == Role::inout) {
    buffer.initial = Array(*type);
    if (data != nullptr) std::memcpy(buffer.initial.bytes.data(), data, buffer.initial.bytes.size());
  }
  launched.hashes.push_back(hash_of(buffer));
  launched.job.buffers.push_back(std::move(buffer));
  launched.contents.emplace_back("from Python");
  return {};
}

std::vector<uint8_t> bytes_of_text(std::string_view text) {
  std::vector<uint8_t> out(text.size() / 2);
  for (size_t i = 0; i < out.size(); ++i)
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, out[i], 16);
  return out;
}

isa::Swizzle swizzle_of(int64_t bytes) {
  return bytes == 32    ? isa::Swizzle::b32
         : bytes == 64  ? isa::Swizzle::b64
         : bytes == 128 ? isa::Swizzle::b128
                        : isa::Swizzle::none;
}

isa::L2Promotion promotion_of(int64_t bytes) {
  return bytes == 64    ? isa::L2Promotion::b64
         : bytes == 128 ? isa::L2Promotion::b128
         : bytes == 256 ? isa::L2Promotion::b256
                        : isa::L2Promotion::none;
}

Outcome<ParamValue> map_value(const Job& job, int over, const Request& map) {
  TensorMapArg arg;
  arg.type = job.buffers.at(size_t(over)).type;
  if (map.has("shape")) arg.type.shape = map.numbers("shape");
  arg.box = map.numbers("box");
  arg.strides = map.numbers("strides");
  if (!arg.strides.empty()) arg.strides.push_back(1);  // of the innermost
  arg.swizzle = swizzle_of(map.number("swizzle"));
  arg.oob = map.text("oob", "zero") == "nan" ? isa::OobFill::nan_request_zero_fma : isa::OobFill::zero;
  arg.l2 = promotion_of(map.number("l2"));
  arg.offset = uint64_t(map.number("offset"));
  if (arg.box.size() != arg.type.shape.size())
    return host::user_error(
        fmt::format("a box of {} dimensions over an array of {}", arg.box.size(), arg.type.shape.size()));
  const auto made = tensor_map_of(arg);
  if (!made) return host::user_error(made.error());
  return TensorMapValue{over, *made};
}

Outcome<ParamValue> encoded_map_value(int over, std::string_view text) {
  const std::vector<uint8_t> bytes = bytes_of_text(text);
  if (bytes.size() != isa::tensor_map_bytes) return host::user_error("a tensor map has 128 bytes");
  const auto map =
      isa::decode_tensor_map(std::as_bytes(std::span<const uint8_t, isa::tensor_map_bytes>(bytes)));
  if (!map) return host::user_error(map.error());
  return TensorMapValue{over, *map};
}

Outcome<ParamValue> value_of(const Job& job, const Request& param) {
  if (!param.has("array")) return BytesValue{bytes_of_text(param.text("bytes"))};
  const auto over = int(param.number("array"));
  if (param.has("tensor_map")) return encoded_map_value(over, param.text("tensor_map"));
  const auto maps = param.objects("map");
  return maps.empty() ? Outcome<ParamValue>(PointerValue{over}) : map_value(job, over, maps.front());
}

}  // namespace

report::Launched LaunchedJob::launched(bool compared) const {
  using Reference = report::Launched::Reference;
  report::Launched out;
  out.name = program->name;
  out.title = fmt::format("{}, entry {}", program->name, isa::readable_name(job.entry));
  out.arch = program->arch;
  out.job = &job;
  out.ptx_name = program->path;
  out.contents = contents;
  out.reference = program->recorded ? Reference::device : compared ? Reference::function : Reference::unknown;
  return out;
}

std::vector<std::string> LaunchedJob::written_inputs() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < hashes.size(); ++i)
    if (hash_of(job.buffers[i]) != hashes[i]) out.push_back(job.buffers[i].name);
  return out;
}

Outcome<std::unique_ptr<LaunchedJob>> open_job(const Program& program, const Request& request,
                                               const void* const* data) {
  auto out = std::make_unique<LaunchedJob>();
  out->program = &program;
  Job& job = out->job;
  job.module = program.module.get();
  job.ptx = program.ptx;
  job.entry = request.text("entry");
  job.grid = request.dims("grid").value();
  job.block = request.dims("block").value();
  job.cluster = request.dims("cluster").value_or(isa::Dim3{});
  job.dynamic_shared = uint32_t(request.number("shared"));
  job.cooperative = request.flag("cooperative");
  job.programmatic_serialization = request.flag("programmatic");
  double bytes = 0;
  for (const Request& array : request.objects("arrays"))
    if (const auto added = add_buffer(*out, array, data[out->arrays++], bytes); !added)
      return tl::make_unexpected(added.error());
  for (const Request& param : request.objects("params")) {
    auto value = value_of(job, param);
    if (!value) return tl::make_unexpected(value.error());
    job.params.push_back(std::move(*value));
  }
  return out;
}

Outcome<std::unique_ptr<LaunchedJob>> open_recorded(const Program& program) {
  auto out = std::make_unique<LaunchedJob>();
  out->program = &program;
  out->job.module = program.module.get();
  out->job.ptx = program.ptx;
  out->job.entry = program.recorded->manifest.entry;
  auto contents = verify::take_launch(program.bundle, program.name, *program.recorded, out->job);
  if (!contents) return tl::make_unexpected(contents.error());
  out->contents = std::move(*contents);
  return out;
}

}  // namespace palladion::python
