#include <cstring>

#include "cuda/native/device.h"
#include "cuda/native/session.h"

namespace palladion::cuda::native {

Arguments& Arguments::add_bytes(std::span<const std::byte> bytes) {
  const size_t first = blocks_.size();
  blocks_.resize(first + (bytes.size() + sizeof(Block) - 1) / sizeof(Block));
  if (!bytes.empty()) std::memcpy(blocks_.data() + first, bytes.data(), bytes.size());
  places_.push_back({first, bytes.size()});
  return *this;
}

std::vector<void*> Arguments::pointers() const {
  std::vector<void*> out;
  for (const Place& p : places_) out.push_back(const_cast<Block*>(blocks_.data()) + p.block);
  return out;
}

// ---- loading -------------------------------------------------------------------------------------
namespace {

// The driver takes options as two arrays: what, and a pointer-sized value.
class JitOptions {
 public:
  void set(driver::JitOption option, uintptr_t value) {
    options_.push_back(option);
    values_.push_back(reinterpret_cast<void*>(value));
  }
  void set(driver::JitOption text, driver::JitOption size, std::string& buffer) {
    set(text, reinterpret_cast<uintptr_t>(buffer.data()));
    set(size, buffer.size());
  }
  unsigned count() const { return static_cast<unsigned>(options_.size()); }
  driver::JitOption* options() { return options_.data(); }
  void** values() { return values_.data(); }

 private:
  std::vector<driver::JitOption> options_;
  std::vector<void*> values_;
};

constexpr size_t log_bytes = 256 * 1024;
void cut_at_nul(std::string& s) { s.resize(std::strlen(s.c_str())); }

}  // namespace

Result<Module> Device::load(std::string_view ptx, const ModuleOptions& options) const {
  session_->enter();
  auto module = std::make_shared<LoadedModule>();
  module->session = session_;
  std::string errors(log_bytes, '\0');
  module->info_log.assign(log_bytes, '\0');
  JitOptions jit;
  jit.set(driver::JitOption::info_log, driver::JitOption::info_log_bytes, module->info_log);
  jit.set(driver::JitOption::error_log, driver::JitOption::error_log_bytes, errors);
  jit.set(driver::JitOption::log_verbose, 1);
  if (options.max_registers > 0)
    jit.set(driver::JitOption::max_registers, static_cast<uintptr_t>(options.max_registers));
  if (options.line_info) jit.set(driver::JitOption::generate_line_info, 1);
  const std::string text(ptx);  // the driver requires a terminating NUL
  const driver::Status status = session_->api().ModuleLoadDataEx(&module->handle, text.c_str(), jit.count(),
                                                                 jit.options(), jit.values());
  cut_at_nul(errors);
  cut_at_nul(module->info_log);
  if (status != driver::success) {
    module->handle = nullptr;
    return tl::unexpected(
        jit_diagnostics(errors, ptx, "the driver does not load the PTX: " + session_->api().text(status)));
  }
  module->resources = parse_resource_use(module->info_log);
  return Module(std::move(module));
}

const std::string& Module::info_log() const { return module_->info_log; }

std::optional<ResourceUse> Module::resource_use(std::string_view entry) const {
  const auto found = module_->resources.find(entry);
  if (found == module_->resources.end()) return std::nullopt;
  return found->second;
}

Result<Function> Module::function(const std::string& entry) const {
  const Session& session = *module_->session;
  session.enter();
  driver::Function handle = nullptr;
  const driver::Status status = session.api().ModuleGetFunction(&handle, module_->handle, entry.c_str());
  if (auto done = session.check(status, fmt::format("entry `{}` of the module", entry)); !done)
    return tl::unexpected(done.error());
  return Function(module_, handle, entry);
}

Result<GlobalVariable> Module::global(const std::string& name) const {
  const Session& session = *module_->session;
  session.enter();
  GlobalVariable out;
  const driver::Status status =
      session.api().ModuleGetGlobal(&out.address, &out.bytes, module_->handle, name.c_str());
  if (auto done = session.check(status, fmt::format("variable `{}` of the module", name)); !done)
    return tl::unexpected(done.error());
  return out;
}

// ---- launching -----------------------------------------------------------------------------------

Result<FunctionAttributes> Function::attributes() const {
  const Session& session = *module_->session;
  session.enter();
  FunctionAttributes out;
  using A = driver::FunctionAttribute;
  const std::pair<A, int*> wanted[] = {{A::registers, &out.registers},
                                       {A::local_bytes, &out.local_bytes},
                                       {A::static_shared_bytes, &out.static_shared_bytes},
                                       {A::const_bytes, &out.const_bytes},
                                       {A::max_threads_per_cta, &out.max_threads_per_cta},
                                       {A::max_dynamic_shared_bytes, &out.max_dynamic_shared_bytes},
                                       {A::binary_version, &out.binary_version}};
  for (const auto& [which, target] : wanted)
    if (auto done = session.check(session.api().FuncGetAttribute(target, which, handle_),
                                  fmt::format("attributes of `{}`", name_));
        !done)
      return tl::unexpected(done.error());
  return out;
}

// Launches are timed, so a kernel's attributes are queried and set once.
struct KernelState {
  std::optional<std::vector<size_t>> parameter_bytes;  // unknown with drivers before 12.4
  uint32_t dynamic_shared_allowed = 24 * 1024;         // with the static part below 48 KiB in any case
  bool large_clusters_allowed = false;
};

Function::Function(std::shared_ptr<LoadedModule> module, driver::Function handle, std::string name)
    : module_(std::move(module)),
      handle_(handle),
      name_(std::move(name)),
      state_(std::make_shared<KernelState>()) {
  const driver::Api& api = module_->session->api();
  if (!api.FuncGetParamInfo) return;
  std::vector<size_t> sizes;
  size_t offset = 0, bytes = 0;
  while (api.FuncGetParamInfo(handle_, sizes.size(), &offset, &bytes) == driver::success)
    sizes.push_back(bytes);
  state_->parameter_bytes = std::move(sizes);
}

Result<void> Function::check_parameters(const Arguments& arguments) const {
  if (!state_->parameter_bytes) return {};
  const std::vector<size_t>& wanted = *state_->parameter_bytes;
  if (wanted.size() != arguments.count())
    return failure(Code::bad_launch, fmt::format("`{}` has {} parameters, {} were given", name_,
                                                 wanted.size(), arguments.count()));
  for (size_t i = 0; i < wanted.size(); ++i)
    if (arguments.bytes(i) != wanted[i])
      return failure(Code::bad_launch, fmt::format("parameter {} of `{}` has {} bytes, {} were given", i,
                                                   name_, wanted[i], arguments.bytes(i)));
  return {};
}

// Asks for what a launch of this shape needs: attributes of the function, not of the device.
Result<void> Function::allow(const LaunchShape& shape) const {
  const Session& session = *module_->session;
  const DeviceFacts& facts = session.facts();
  if (shape.dynamic_shared_bytes > state_->dynamic_shared_allowed) {
    if (shape.dynamic_shared_bytes > static_cast<uint32_t>(facts.shared_bytes_per_cta))
      return failure(Code::bad_launch,
                     fmt::format("`{}` wants {} bytes of dynamic shared memory, {} has {} per CTA", name_,
                                 shape.dynamic_shared_bytes, facts.name, facts.shared_bytes_per_cta));
    const auto status =
        session.api().FuncSetAttribute(handle_, driver::FunctionAttribute::max_dynamic_shared_bytes,
                                       static_cast<int>(shape.dynamic_shared_bytes));
    if (auto done = session.check(
            status,
            fmt::format("{} bytes of dynamic shared memory for `{}`", shape.dynamic_shared_bytes, name_),
            Code::bad_launch);
        !done)
      return done;
    state_->dynamic_shared_allowed = shape.dynamic_shared_bytes;
  }
  if (shape.cluster && shape.cluster->count() > 8 && !state_->large_clusters_allowed) {
    const auto status =
        session.api().FuncSetAttribute(handle_, driver::FunctionAttribute::non_portable_cluster_allowed, 1);
    if (auto done =
            session.check(status, fmt::format("a cluster of {} CTAs for `{}`", shape.cluster->count(), name_),
                          Code::bad_launch);
        !done)
      return done;
    state_->large_clusters_allowed = true;
  }
  return {};
}

Result<void> Function::launch(const LaunchShape& shape, const Arguments& arguments) const {
  const Session& session = *module_->session;
  session.enter();
  if (auto fits = check_parameters(arguments); !fits) return fits;
  if (auto allowed = allow(shape); !allowed) return allowed;
  driver::LaunchAttribute attributes[2] = {};
  uint32_t count = 0;
  if (shape.cluster) {
    attributes[count].id = driver::LaunchAttributeId::cluster_dimension;
    attributes[count++].value.cluster = {shape.cluster->x, shape.cluster->y, shape.cluster->z};
  }
  if (shape.programmatic_serialization) {
    attributes[count].id = driver::LaunchAttributeId::programmatic_stream_serialization;
    attributes[count++].value.flag = 1;
  }
  const driver::LaunchConfig config{.grid = {shape.grid.x, shape.grid.y, shape.grid.z},
                                    .block = {shape.block.x, shape.block.y, shape.block.z},
                                    .shared_bytes = shape.dynamic_shared_bytes,
                                    .stream = nullptr,
                                    .attributes = attributes,
                                    .attribute_count = count};
  auto pointers = arguments.pointers();
  const driver::Status status = session.api().LaunchKernelEx(&config, handle_, pointers.data(), nullptr);
  return session.check(status,
                       fmt::format("launch of `{}` with grid {}x{}x{}, block {}x{}x{}", name_, shape.grid.x,
                                   shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z),
                       Code::bad_launch);
}

}  // namespace palladion::cuda::native
