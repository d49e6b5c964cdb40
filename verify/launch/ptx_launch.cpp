#include "verify/launch/ptx_launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "isa/core/link.h"
#include "isa/core/symbol_name.h"
#include "isa/host/files.h"
#include "isa/text/parse.h"
#include "isa/verify/verify.h"
#include "verify/arrays/npy_files.h"
#include "verify/arrays/words.h"

namespace palladion::verify {

using namespace host;

namespace {

constexpr uint64_t most_of_parameter = 1 << 16;  // bytes; PTX allows 32764 for all together

std::string parameter_text(const isa::Symbol& p) {
  const isa::Variable& v = p.variable;
  if (!v.dims.empty()) return fmt::format("{} ({} bytes)", p.name, v.size());
  return fmt::format("{} (.{}{})", p.name, isa::name(v.type), v.pointer ? ", a pointer" : "");
}

std::vector<std::string> parameter_texts(const isa::Module& module, const isa::Function& entry) {
  std::vector<std::string> out;
  for (const isa::SymbolId id : entry.params) out.push_back(parameter_text(module.symbols[id]));
  return out;
}

Outcome<const isa::Function*> find_entry(const isa::Module& module, const std::string& name) {
  std::vector<std::string> entries;
  for (const isa::Function& f : module.functions)
    if (f.entry && f.defined) entries.push_back(f.name);
  if (entries.empty()) return user_error("the file has no .entry");
  if (name.empty() && entries.size() > 1)
    return user_error(fmt::format("the file has {} entries: name one by --entry", entries.size()),
                      fmt::format("valid names: {}", fmt::join(entries, ", ")));
  const isa::Function* entry = module.find_entry(name);
  if (entry != nullptr) return entry;
  const auto is_named = [&](const isa::Function& f) {
    return f.entry && f.defined && isa::readable_name(f.name) == name;
  };
  if (std::ranges::count_if(module.functions, is_named) == 1)
    return &*std::ranges::find_if(module.functions, is_named);
  const std::string near = nearest(name, entries);
  return user_error(fmt::format("the file has no entry `{}`", name),
                    near.empty() ? fmt::format("valid names: {}", fmt::join(entries, ", "))
                                 : fmt::format("did you mean `{}`?", near));
}

// Makes buffers and parameter values of --arg specs.
class Binder {
 public:
  Binder(Job& job, isa::Module& module, const isa::Function& entry)
      : job_(job), module_(module), entry_(entry) {}

  // `variables`: the module's .texref, .surfref and .samplerref.
  Outcome<BoundArrays> bind(const std::vector<ArgSpec>& args, const std::vector<Binding>& variables) {
    specs_ = args;
    if (specs_.size() != entry_.params.size()) return wrong_count();
    for (const Binding& binding : variables)
      if (const auto named = add_variable(binding); !named) return tl::make_unexpected(named.error());
    buffer_of_.assign(specs_.size(), -1);
    for (size_t i = 0; i < specs_.size(); ++i)  // tensor maps may name arrays that come later
      if (const auto made = make_buffer(i); !made) return tl::make_unexpected(made.error());
    for (size_t i = 0; i < specs_.size(); ++i) {
      auto value = value_of(i);
      if (!value) return tl::make_unexpected(value.error());
      if (is_variable(i)) {
        variable(i).init = std::get<BytesValue>(*value).bytes;
        continue;
      }
      if (const auto fits = check_size(i, *value); !fits) return tl::make_unexpected(fits.error());
      job_.params.push_back(std::move(*value));
    }
    return std::move(arrays_);
  }

 private:
  tl::unexpected<Failure> wrong_count() const {
    const auto texts = parameter_texts(module_, entry_);
    return user_error(fmt::format("entry `{}` takes {} parameters, {} --arg {} given", entry_.name,
                                  texts.size(), specs_.size(), specs_.size() == 1 ? "is" : "are"),
                      texts.empty() ? "" : fmt::format("it takes {}", fmt::join(texts, ", ")));
  }

  // Behind the parameters' specs stand those of variables.
  bool is_variable(size_t i) const { return i >= entry_.params.size(); }
  isa::Variable& variable(size_t i) { return module_.symbols[variables_[i - entry_.params.size()]].variable; }
  // Its name as an array, and in messages.
  std::string name_of(size_t i) const {
    return is_variable(i) ? module_.symbols[variables_[i - entry_.params.size()]].name
                          : fmt::format("arg{}", i);
  }
  std::string place_of(size_t i) const {
    return is_variable(i) ? "--bind " + name_of(i) : fmt::format("argument {}", i);
  }

  Outcome<void> add_variable(const Binding& binding) {
    const std::string& name = binding.name;
    const isa::SymbolId id = module_.find_symbol(name);
    const isa::Type type = id == isa::no_id ? isa::Type::none : module_.symbols[id].variable.type;
    const std::string text = fmt::format("{}={}", name, binding.text);
    if (!isa::is_opaque(type))
      return user_error(
          fmt::format("--bind {}: the file has no .texref, .surfref or .samplerref `{}`", text, name));
    const std::string_view kind = type == isa::Type::texref    ? "tex:"
                                  : type == isa::Type::surfref ? "surf:"
                                                               : "sampler:";
    if (!binding.text.starts_with(kind))
      return user_error(fmt::format("--bind {}: a .{} takes `{}={}...`", text, isa::name(type), name, kind));
    specs_.push_back(binding.spec);
    variables_.push_back(id);
    return {};
  }

  static std::vector<uint8_t> bytes_of_word(uint64_t word) {
    std::vector<uint8_t> bytes(sizeof word);
    std::memcpy(bytes.data(), &word, sizeof word);
    return bytes;
  }

  Outcome<void> make_buffer(size_t i) {
    const ArrayArg* arg = array_of(specs_[i]);
    if (arg == nullptr) return {};
    bytes_ += bytes_of(arg->type);
    if (const auto fits = check_memory(bytes_); !fits) return fits;
    Buffer buffer{name_of(i), arg->role, arg->type, {}};
    std::string contents;
    if (arg->fill) {
      buffer.initial = filled(arg->type, *arg->fill);
      contents = palladion::name(*arg->fill);
    } else if (arg->role == Role::in || arg->role == Role::inout) {
      auto array = read_array(arg->file, arg->type);
      if (!array) return tl::make_unexpected(array.error());
      buffer.initial = std::move(*array);
      contents = arg->file;
    } else if (!arg->file.empty()) {
      arrays_.out_files[buffer.name] = arg->file;
    }
    buffer_of_[i] = int(job_.buffers.size());
    job_.buffers.push_back(std::move(buffer));
    arrays_.contents.push_back(std::move(contents));
    return {};
  }

  Outcome<ParamValue> value_of(size_t i) {
    if (const auto* scalar = std::get_if<ScalarArg>(&specs_[i])) return BytesValue{scalar->bytes};
    if (std::holds_alternative<ArrayArg>(specs_[i])) return PointerValue{buffer_of_[i]};
    if (const auto* map = std::get_if<TensorMapArg>(&specs_[i])) return tensor_map(i, *map);
    if (const auto* texture = std::get_if<TextureArg>(&specs_[i])) return texture_object(i, *texture);
    const std::string& file = std::get<BytesArg>(specs_[i]).file;
    const auto bytes = read_file(file, most_of_parameter);
    if (!bytes) return user_error(bytes.error());
    const auto* first = reinterpret_cast<const uint8_t*>(bytes->data());
    return BytesValue{{first, first + bytes->size()}};
  }

  Outcome<ParamValue> tensor_map(size_t i, const TensorMapArg& arg) const {
    const auto over = buffer_under(i, arg.array ? int(i) : arg.over, "tensor map");
    if (!over) return tl::make_unexpected(over.error());
    const auto map = tensor_map_of(arg);
    if (!map) return user_error(fmt::format("argument {}: {}", i, map.error()));
    const Buffer& buffer = job_.buffers[size_t(*over)];
    uint64_t last = uint64_t(map->element_bytes()) * map->dims[0];
    for (int d = 1; d < map->rank; ++d) last += map->strides[size_t(d) - 1] * (map->dims[size_t(d)] - 1);
    if (map->global_address + last > uint64_t(buffer.type.bytes()))
      return user_error(fmt::format("argument {}: the tensor map covers {} bytes, {} has {}", i,
                                    map->global_address + last, describe(buffer.type), buffer.type.bytes()));
    return TensorMapValue{*over, *map};
  }

  // The parameter is the object's handle.
  Outcome<ParamValue> texture_object(size_t i, const TextureArg& arg) {
    const char* const what = arg.surface ? "surface" : "texture";
    const auto over = buffer_under(i, arg.array ? int(i) : arg.over, what);
    if (!over) return tl::make_unexpected(over.error());
    const Buffer& buffer = job_.buffers[size_t(*over)];
    if (arg.texture.image.bytes() > uint64_t(buffer.type.bytes()))
      return user_error(fmt::format("{}: the {} covers {} bytes, {} has {}", place_of(i), what,
                                    arg.texture.image.bytes(), describe(buffer.type), buffer.type.bytes()));
    auto& objects = job_.objects;
    const uint64_t handle = objects.size() + 1;
    objects.push_back({.handle = handle, .surface = arg.surface, .buffer = *over, .texture = arg.texture});
    return BytesValue{bytes_of_word(handle)};
  }

  // The buffer of argument `over`, which argument `i` covers.
  Outcome<int> buffer_under(size_t i, int over, const char* what) const {
    if (over >= 0 && size_t(over) < specs_.size() && buffer_of_[size_t(over)] >= 0)
      return buffer_of_[size_t(over)];
    return user_error(fmt::format("{}: a {} over argument {}, which is no array", place_of(i), what, over));
  }

  Outcome<void> check_size(size_t i, const ParamValue& value) const {
    const isa::Symbol& parameter = module_.symbols[entry_.params[i]];
    uint64_t bytes = 8;
    if (const auto* raw = std::get_if<BytesValue>(&value)) bytes = raw->bytes.size();
    if (std::holds_alternative<TensorMapValue>(value)) bytes = isa::tensor_map_bytes;
    if (bytes == parameter.variable.size()) return {};
    return user_error(fmt::format("argument {} has {} bytes, parameter {} takes {}", i, bytes,
                                  parameter_text(parameter), parameter.variable.size()));
  }

  Job& job_;
  isa::Module& module_;
  BoundArrays arrays_;
  const isa::Function& entry_;
  std::vector<ArgSpec> specs_;
  std::vector<isa::SymbolId> variables_;
  std::vector<int> buffer_of_;
  double bytes_ = 0;
};

Outcome<isa::Dim3> dims(const std::optional<isa::Dim3>& given, const char* option,
                        std::optional<isa::Dim3> fallback) {
  if (given) return *given;
  if (fallback) return *fallback;
  return user_error(fmt::format("{} is needed to launch PTX", option), fmt::format("{} x,y,z", option));
}

}  // namespace

namespace {

Outcome<std::unique_ptr<isa::Module>> verified(isa::Module module, const isa::ArchSpec* chip,
                                               std::string_view text) {
  isa::Diagnostics problems = chip == nullptr ? isa::verify(module) : isa::verify(module, *chip);
  std::erase_if(problems, [](const isa::Diagnostic& d) { return d.severity == isa::Severity::warning; });
  if (!problems.empty()) return failure_of(problems, text);
  return std::make_unique<isa::Module>(std::move(module));
}

}  // namespace

Outcome<std::unique_ptr<isa::Module>> module_of_ptx(const std::string& text, const std::string& path,
                                                    const isa::ArchSpec* chip) {
  auto module = isa::parse(text, path);
  if (!module) return failure_of(module.error(), text);
  return verified(std::move(*module), chip, text);
}

Outcome<std::unique_ptr<isa::Module>> module_of_objects(std::span<const std::string> texts,
                                                        const std::string& path, const isa::ArchSpec* chip) {
  std::vector<isa::Module> parts;
  for (const std::string& text : texts) {
    auto part = isa::parse(text, path);
    if (!part) return failure_of(part.error(), text);
    parts.push_back(std::move(*part));
  }
  std::vector<const isa::Module*> pointers;
  for (const isa::Module& part : parts) pointers.push_back(&part);
  auto whole = isa::link(pointers);
  if (!whole) return failure_of(whole.error());
  return verified(std::move(*whole), chip, {});
}

Outcome<BoundArrays> bind_arguments(Job& job, isa::Module& module, const PtxLaunch& launch) {
  const auto entry = find_entry(module, launch.entry);
  if (!entry) return tl::make_unexpected(entry.error());
  const isa::Function& f = **entry;
  job.entry = f.name;
  const auto grid = dims(launch.grid, "--grid", std::nullopt);
  const auto block = dims(launch.block, "--block", f.reqntid);
  const auto cluster = dims(launch.cluster, "--cluster", f.reqnctapercluster.value_or(isa::Dim3{}));
  for (const auto* each : {&grid, &block, &cluster})
    if (!*each) return tl::make_unexpected(each->error());
  job.grid = *grid;
  job.block = *block;
  job.cluster = *cluster;
  job.dynamic_shared = launch.dynamic_shared;
  return Binder(job, module, f).bind(launch.args, launch.binds);
}

}  // namespace palladion::verify
