// Libraries, modules, kernels and variables.
#include <fmt/format.h>

#include <algorithm>

#include "cuda/driver/modules/images.h"

namespace palladion::cuda::driver {
namespace {

Status unload(Image* image) {
  State& s = state();
  if (s.images.erase(image) == 0) return invalid_handle;
  return success;  // the machine's memory holds its variables: it stays
}

Status global_of(Image* image, const char* name, Pointer* address, size_t* bytes) {
  if (name == nullptr || !state().images.contains(image)) return invalid_value;
  const isa::Module* module = module_of(*image);
  if (module == nullptr) return no_binary_for_gpu;
  const isa::SymbolId id = module->find_symbol(name);
  if (id == isa::no_id || module->symbols[id].kind != isa::Symbol::Kind::variable) return not_found;
  if (address != nullptr) *address = state().machine->symbol(*module, name);
  if (bytes != nullptr) *bytes = module->symbols[id].variable.size();
  return success;
}

Status get_kernel(void** out, Image* image, const char* name) {
  State& s = state();
  if (out == nullptr || name == nullptr || !s.images.contains(image)) return invalid_value;
  Status status = success;
  *out = kernel_of(*image, name, status);
  return status;
}

// CUfunction_attribute
// What a launch may have of dynamic shared memory: what was asked for, else what static arrays leave of 48
// KiB.
int dynamic_shared_of(const Kernel& k, const Needs& needs) {
  constexpr int64_t without_asking = 48 * 1024;
  const bool asked = k.max_dynamic_shared != without_asking;
  return static_cast<int>(asked ? k.max_dynamic_shared
                                : std::max<int64_t>(0, without_asking - needs.static_shared));
}

Status attribute_of(int* out, int attribute, Kernel* k) {
  if (!exist(k)) return invalid_handle;
  if (out == nullptr) return invalid_value;
  if (attribute == 9) return *out = k->carveout, success;
  if (attribute == 14) return *out = k->nonportable_cluster ? 1 : 0, success;
  if (attribute == 5) return *out = k->image->ptx_chip, success;
  if (attribute == 6) return *out = state().arch->sm, success;
  if (attribute == 7 || attribute == 15) return *out = 0, success;
  const auto needs = needs_of(*k);
  if (!needs) return needs.error();
  const isa::Function* entry = k->image->module->find_entry(k->name);
  if (attribute == 8) return *out = dynamic_shared_of(*k, *needs), success;
  const isa::Dim3 cluster = entry->reqnctapercluster.value_or(isa::Dim3{0, 0, 0});
  switch (attribute) {
    case 0:
      *out = needs->max_threads;
      break;
    case 1:
      *out = static_cast<int>(needs->static_shared);
      break;
    case 2:
      *out = static_cast<int>(needs->constants);
      break;
    case 3:
      *out = static_cast<int>(needs->local);
      break;
    case 4:
      *out = needs->registers;
      break;
    case 10:
      *out = entry->explicitcluster ? 1 : 0;
      break;
    case 11:
      *out = static_cast<int>(cluster.x);
      break;
    case 12:
      *out = static_cast<int>(cluster.y);
      break;
    case 13:
      *out = static_cast<int>(cluster.z);
      break;
    default:
      return invalid_value;
  }
  return success;
}

Status set_attribute(Kernel* k, int attribute, int value) {
  if (!exist(k)) return invalid_handle;
  if (attribute == 8) {
    const auto needs = needs_of(*k);
    if (!needs) return needs.error();
    if (value < 0 || value + needs->static_shared > state().arch->max_shared_bytes_per_cta)
      return invalid_value;
    k->max_dynamic_shared = static_cast<uint32_t>(value);
  } else if (attribute == 9) {
    k->carveout = value;
  } else if (attribute == 14) {
    k->nonportable_cluster = value != 0;
  } else if (attribute < 10 || attribute > 15) {
    return invalid_value;
  }
  return success;
}

Status param_info(Kernel* k, size_t index, size_t* offset, size_t* bytes) {
  if (!exist(k)) return invalid_handle;
  const isa::Module* module = module_of(*k->image);
  const isa::Function* entry = module != nullptr ? module->find_entry(k->name) : nullptr;
  if (entry == nullptr || index >= entry->params.size()) return invalid_value;
  if (offset != nullptr) *offset = isa::param_layout(*module, *entry).offsets[index];
  if (bytes != nullptr) *bytes = module->symbols[entry->params[index]].variable.size();
  return success;
}

}  // namespace

Kernel* kernel_of(Image& image, const char* name, Status& status) {
  const auto known = image.kernels.find(name);
  if (known != image.kernels.end()) return known->second.get();
  const isa::Module* module = module_of(image);
  status = module == nullptr ? no_binary_for_gpu : not_found;
  if (module == nullptr) say_no_ptx(image, fmt::format("kernel `{}`", name));
  if (module == nullptr || *name == '\0' || module->find_entry(name) == nullptr) return nullptr;
  status = success;
  auto kernel = std::make_unique<Kernel>();
  kernel->image = &image;
  kernel->name = name;
  return image.kernels.emplace(name, std::move(kernel)).first->second.get();
}

}  // namespace palladion::cuda::driver

using namespace palladion::cuda::driver;

// Of the options of compilers, the logs are answered; the others choose how machine code is made.
PLD_CUDA cuLibraryLoadData(Image** library, const void* code, int* options, void** values, unsigned count,
                           void*, void**, unsigned) {
  const Guard guard(state().lock);
  if (library == nullptr) return invalid_value;
  const Status status = load_image(*library, code);
  write_logs(options, values, count, {});
  return status;
}
PLD_CUDA cuLibraryLoadFromFile(Image** library, const char* name, int* options, void** values, unsigned count,
                               void*, void**, unsigned) {
  const Guard guard(state().lock);
  if (library == nullptr || name == nullptr) return invalid_value;
  const Status status = load_file(*library, name);
  write_logs(options, values, count, {});
  return status;
}
PLD_CUDA cuLibraryUnload(Image* library) {
  const Guard guard(state().lock);
  return unload(library);
}
PLD_CUDA cuLibraryGetKernel(void** kernel, Image* library, const char* name) {
  const Guard guard(state().lock);
  return get_kernel(kernel, library, name);
}
PLD_CUDA cuLibraryGetModule(Image** module, Image* library) {
  if (module == nullptr) return invalid_value;
  return *module = library, success;
}
PLD_CUDA cuLibraryGetGlobal(Pointer* address, size_t* bytes, Image* library, const char* name) {
  const Guard guard(state().lock);
  return global_of(library, name, address, bytes);
}
PLD_CUDA cuLibraryGetManaged(Pointer* address, size_t* bytes, Image* library, const char* name) {
  const Guard guard(state().lock);
  Pointer at = 0;
  const Status status = global_of(library, name, &at, bytes);
  if (status != success) return status;
  const Block* b = state().block_of(at);
  if (b == nullptr || b->origin != Origin::managed) return not_found;
  if (address != nullptr) *address = at;
  return success;
}
namespace {
Status count_kernels(unsigned* count, Image* image) {
  if (count == nullptr || !state().images.contains(image)) return invalid_value;
  const auto* module = module_of(*image);
  if (module == nullptr) return no_binary_for_gpu;
  *count =
      static_cast<unsigned>(std::ranges::count_if(module->functions, [](const auto& f) { return f.entry; }));
  return success;
}
Status list_kernels(void** kernels, unsigned most, Image* image) {
  if (kernels == nullptr || !state().images.contains(image)) return invalid_value;
  const auto* module = module_of(*image);
  if (module == nullptr) return no_binary_for_gpu;
  unsigned n = 0;
  Status status = success;
  for (const auto& f : module->functions)
    if (f.entry && n < most) kernels[n++] = kernel_of(*image, f.name.c_str(), status);
  return status;
}
}  // namespace
PLD_CUDA cuLibraryGetKernelCount(unsigned* count, Image* library) {
  const Guard guard(state().lock);
  return count_kernels(count, library);
}
PLD_CUDA cuLibraryEnumerateKernels(void** kernels, unsigned most, Image* library) {
  const Guard guard(state().lock);
  return list_kernels(kernels, most, library);
}
PLD_CUDA cuModuleGetFunctionCount(unsigned* count, Image* module) {
  const Guard guard(state().lock);
  return count_kernels(count, module);
}
PLD_CUDA cuModuleEnumerateFunctions(void** functions, unsigned most, Image* module) {
  const Guard guard(state().lock);
  return list_kernels(functions, most, module);
}
PLD_CUDA cuKernelGetFunction(void** function, void* kernel) {
  if (function == nullptr) return invalid_value;
  return *function = kernel, success;
}
PLD_CUDA cuKernelGetName(const char** name, Kernel* kernel) {
  const Guard guard(state().lock);
  if (!exist(kernel)) return invalid_handle;
  if (name == nullptr) return invalid_value;
  return *name = kernel->name.c_str(), success;
}
PLD_CUDA cuKernelGetAttribute(int* value, int attribute, Kernel* kernel, DeviceId) {
  const Guard guard(state().lock);
  return attribute_of(value, attribute, kernel);
}
PLD_CUDA cuKernelSetAttribute(int attribute, int value, Kernel* kernel, DeviceId) {
  const Guard guard(state().lock);
  return set_attribute(kernel, attribute, value);
}
PLD_CUDA cuKernelSetCacheConfig(Kernel*, int, DeviceId) { return success; }
PLD_CUDA cuKernelGetParamInfo(Kernel* kernel, size_t index, size_t* offset, size_t* bytes) {
  const Guard guard(state().lock);
  return param_info(kernel, index, offset, bytes);
}
PLD_CUDA cuKernelGetLibrary(Image** library, Kernel* kernel) {
  const Guard guard(state().lock);
  if (!exist(kernel)) return invalid_handle;
  if (library == nullptr) return invalid_value;
  return *library = kernel->image, success;
}

namespace {
// A module's code is compiled when it is loaded; a library's when it is needed.
Status compiled(Image* image, int* options, void** values, unsigned count) {
  const palladion::isa::Module* module = module_of(*image);
  write_logs(options, values, count, image->log);
  if (module == nullptr) say_no_ptx(*image, "a module");
  return module != nullptr ? success : image->ptx.empty() ? no_binary_for_gpu : invalid_ptx;
}
}  // namespace
PLD_CUDA cuModuleLoadDataEx(Image** module, const void* code, unsigned count, int* options, void** values) {
  const Guard guard(state().lock);
  if (module == nullptr) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  const Status status = load_image(*module, code);
  return status != success ? status : compiled(*module, options, values, count);
}
PLD_CUDA cuModuleLoadData(Image** module, const void* code) {
  return cuModuleLoadDataEx(module, code, 0, nullptr, nullptr);
}
PLD_CUDA cuModuleLoadFatBinary(Image** module, const void* code) { return cuModuleLoadData(module, code); }
PLD_CUDA cuModuleLoad(Image** module, const char* name) {
  const Guard guard(state().lock);
  if (module == nullptr || name == nullptr) return invalid_value;
  if (const Status status = usable(); status != success) return status;
  const Status status = load_file(*module, name);
  return status != success ? status : compiled(*module, nullptr, nullptr, 0);
}
PLD_CUDA cuModuleUnload(Image* module) {
  const Guard guard(state().lock);
  return unload(module);
}
PLD_CUDA cuModuleGetFunction(void** function, Image* module, const char* name) {
  const Guard guard(state().lock);
  return get_kernel(function, module, name);
}
PLD_CUDA cuModuleGetGlobal_v2(Pointer* address, size_t* bytes, Image* module, const char* name) {
  const Guard guard(state().lock);
  return global_of(module, name, address, bytes);
}
PLD_CUDA cuModuleGetLoadingMode(int* mode) {
  if (mode == nullptr) return invalid_value;
  return *mode = 2, success;
}  // lazy
PLD_CUDA cuFuncGetAttribute(int* value, int attribute, Kernel* kernel) {
  const Guard guard(state().lock);
  return attribute_of(value, attribute, kernel);
}
PLD_CUDA cuFuncSetAttribute(Kernel* kernel, int attribute, int value) {
  const Guard guard(state().lock);
  return set_attribute(kernel, attribute, value);
}
PLD_CUDA cuFuncSetCacheConfig(Kernel*, int) { return success; }
PLD_CUDA cuFuncSetSharedMemConfig(Kernel*, int) { return success; }
PLD_CUDA cuFuncGetName(const char** name, Kernel* kernel) {
  const Guard guard(state().lock);
  if (!exist(kernel)) return invalid_handle;
  if (name == nullptr) return invalid_value;
  return *name = kernel->name.c_str(), success;
}
PLD_CUDA cuFuncGetModule(Image** module, Kernel* kernel) {
  const Guard guard(state().lock);
  if (!exist(kernel)) return invalid_handle;
  if (module == nullptr) return invalid_value;
  return *module = kernel->image, success;
}
PLD_CUDA cuFuncIsLoaded(int* loaded, Kernel*) {
  if (loaded == nullptr) return invalid_value;
  return *loaded = 1, success;
}
PLD_CUDA cuFuncLoad(Kernel*) { return success; }
PLD_CUDA cuFuncGetParamInfo(Kernel* kernel, size_t index, size_t* offset, size_t* bytes) {
  const Guard guard(state().lock);
  return param_info(kernel, index, offset, bytes);
}
