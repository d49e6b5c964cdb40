// Programs: fatbins, PTX text, libraries, modules, kernels and variables.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "driver/state.h"
#include "fatbin/fatbin.h"
#include "isa/text/parse.h"
#include "isa/verify/verify.h"
#include "sim/program/program.h"

namespace palladion::driver {
namespace {

// The highest PTX that the chip runs, as the driver chooses.
void take_fatbin(State& s, Image& image, const void* start) {
  const uint64_t bytes = fatbin::bytes_of(start);
  const auto entries = fatbin::entries({static_cast<const std::byte*>(start), bytes});
  if (!entries) {
    image.why = entries.error();
    return;
  }
  const fatbin::Entry* best = nullptr;
  for (const fatbin::Entry& e : *entries)
    if (e.kind == fatbin::Kind::ptx && e.arch <= static_cast<uint32_t>(s.arch->sm) &&
        (best == nullptr || e.arch > best->arch))
      best = &e;
  if (best == nullptr) {
    image.why = "the program holds machine code only: compile it with PTX, code=[sm_90,compute_90]";
    return;
  }
  if (auto text = fatbin::text(*best))
    image.ptx = std::move(*text);
  else
    image.why = text.error();
}

// A program linked from relocatable objects holds the linked machine code, and the fatbins that it was made
// of.
void take_wrapper(State& s, Image& image, const void* wrapper) {
  struct Wrapper {
    uint32_t magic, version;
    const void* data;
    const void* const* objects;  // version 2: ended by null
  };
  const auto& w = *static_cast<const Wrapper*>(wrapper);
  if (w.data != nullptr) take_fatbin(s, image, w.data);
  if (w.version != 2 || w.objects == nullptr) return;
  for (const void* const* object = w.objects; *object != nullptr; ++object) {
    auto part = std::make_unique<Image>();
    take_fatbin(s, *part, *object);
    if (!part->ptx.empty()) image.parts.push_back(std::move(part));
  }
}

// A library may be large and unused: its PTX is decompressed here, and parsed when a kernel of it is needed.
Status load(Image*& out, const void* data) {
  if (data == nullptr) return invalid_value;
  State& s = state();
  auto image = std::make_unique<Image>();
  switch (fatbin::image_of(data)) {
    case fatbin::Image::wrapper:
      take_wrapper(s, *image, data);
      break;
    case fatbin::Image::fatbin:
      take_fatbin(s, *image, data);
      break;
    case fatbin::Image::elf:
      image->why = "machine code (cubin), which the machine does not run";
      break;
    case fatbin::Image::ptx:
      image->ptx = static_cast<const char*>(data);
      break;
    case fatbin::Image::unknown:
      return invalid_image;
  }
  out = image.release();
  s.images.insert(out);
  return success;
}

Status load_file(Image*& out, const char* name) {
  std::ifstream in(name, std::ios::binary);
  if (!in) return file_not_found;
  std::string text((std::istreambuf_iterator<char>(in)), {});
  text.push_back('\0');
  if (text.starts_with("P\xED\x55\xBA") && fatbin::bytes_of(text.data()) > text.size()) return invalid_image;
  return load(out, text.data());
}

Status unload(Image* image) {
  State& s = state();
  if (s.images.erase(image) == 0) return invalid_handle;
  return success;  // the machine's memory holds its variables: it stays
}

Status global_of(Image* image, const char* name, Pointer* address, size_t* bytes) {
  State& s = state();
  Status status = no_binary_for_gpu;
  for (Image* const part : all_of(*image)) {
    const isa::Module* module = module_of(*part);
    if (module == nullptr) continue;
    status = not_found;
    const isa::SymbolId id = module->find_symbol(name);
    if (id == isa::no_id || module->symbols[id].kind != isa::Symbol::Kind::variable) continue;
    if (address != nullptr) *address = s.machine->symbol(*module, name);
    if (bytes != nullptr) *bytes = module->symbols[id].variable.size();
    return success;
  }
  return status;
}

Status get_kernel(void** out, Image* image, const char* name) {
  State& s = state();
  if (out == nullptr || name == nullptr || !s.images.contains(image)) return invalid_value;
  Status status = success;
  *out = kernel_of(*image, name, status);
  return status;
}

// CUfunction_attribute
Status attribute_of(int* out, int attribute, Kernel* k) {
  if (out == nullptr || k == nullptr) return invalid_value;
  if (attribute == 8) return *out = static_cast<int>(k->max_dynamic_shared), success;
  if (attribute == 9) return *out = k->carveout, success;
  if (attribute == 14) return *out = k->nonportable_cluster ? 1 : 0, success;
  if (attribute == 5 || attribute == 6) return *out = state().arch->sm, success;
  if (attribute == 7 || attribute == 15) return *out = 0, success;
  const auto needs = needs_of(*k);
  if (!needs) return needs.error();
  const isa::Function* entry = k->image->module->find_entry(k->name);
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
      *out = entry->reqnctapercluster ? 1 : 0;
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
  if (k == nullptr) return invalid_handle;
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
  if (k == nullptr) return invalid_handle;
  const isa::Module* module = module_of(*k->image);
  const isa::Function* entry = module != nullptr ? module->find_entry(k->name) : nullptr;
  if (entry == nullptr || index >= entry->params.size()) return invalid_value;
  if (offset != nullptr) *offset = isa::param_layout(*module, *entry).offsets[index];
  if (bytes != nullptr) *bytes = module->symbols[entry->params[index]].variable.size();
  return success;
}

}  // namespace

std::vector<Image*> all_of(Image& image) {
  std::vector<Image*> all;
  if (!image.ptx.empty() || image.parts.empty()) all.push_back(&image);
  for (const auto& part : image.parts) all.push_back(part.get());
  return all;
}

isa::Module* module_of(Image& image) {
  if (image.tried) return image.module.get();
  image.tried = true;
  if (image.ptx.empty()) {
    fmt::print(stderr, "palladion exec: unsupported: a kernel without PTX: {}\n", image.why);
    ++state().missing["a kernel without PTX"];
    return nullptr;
  }
  auto parsed = isa::parse(image.ptx);
  isa::Diagnostics errors;
  if (parsed)
    errors = isa::verify(*parsed, *state().arch);
  else
    errors = parsed.error();
  if (!errors.empty()) {
    fmt::print(stderr, "palladion exec: PTX of the program is refused:\n{}\n",
               isa::render(errors, image.ptx));
    ++state().missing["PTX that is refused"];
    return nullptr;
  }
  image.module = std::make_unique<isa::Module>(std::move(*parsed));
  return image.module.get();
}

Kernel* kernel_of(Image& image, const char* name, Status& status) {
  const auto known = image.kernels.find(name);
  if (known != image.kernels.end()) return known->second.get();
  status = no_binary_for_gpu;
  Image* holder = nullptr;
  for (Image* const part : all_of(image)) {
    const isa::Module* module = module_of(*part);
    if (module == nullptr) continue;
    status = not_found;
    if (*name != '\0' && module->find_entry(name) != nullptr) holder = part;
    if (holder != nullptr) break;
  }
  if (holder == nullptr) return nullptr;
  status = success;
  auto kernel = std::make_unique<Kernel>();
  kernel->image = holder;
  kernel->name = name;
  return image.kernels.emplace(name, std::move(kernel)).first->second.get();
}

}  // namespace palladion::driver

using namespace palladion::driver;

PLD_CUDA cuLibraryLoadData(Image** library, const void* code, void*, void**, unsigned, void*, void**,
                           unsigned) {
  const Guard guard(state().lock);
  return library != nullptr ? load(*library, code) : invalid_value;
}
PLD_CUDA cuLibraryLoadFromFile(Image** library, const char* name, void*, void**, unsigned, void*, void**,
                               unsigned) {
  const Guard guard(state().lock);
  return load_file(*library, name);
}
PLD_CUDA cuLibraryUnload(Image* library) {
  const Guard guard(state().lock);
  return unload(library);
}
PLD_CUDA cuLibraryGetKernel(void** kernel, Image* library, const char* name) {
  const Guard guard(state().lock);
  return get_kernel(kernel, library, name);
}
PLD_CUDA cuLibraryGetModule(Image** module, Image* library) { return *module = library, success; }
PLD_CUDA cuLibraryGetGlobal(Pointer* address, size_t* bytes, Image* library, const char* name) {
  const Guard guard(state().lock);
  return global_of(library, name, address, bytes);
}
PLD_CUDA cuLibraryGetManaged(Pointer* address, size_t* bytes, Image* library, const char* name) {
  const Guard guard(state().lock);
  return global_of(library, name, address, bytes);
}
PLD_CUDA cuLibraryGetKernelCount(unsigned* count, Image* library) {
  const Guard guard(state().lock);
  const auto* module = module_of(*library);
  if (module == nullptr) return no_binary_for_gpu;
  *count =
      static_cast<unsigned>(std::ranges::count_if(module->functions, [](const auto& f) { return f.entry; }));
  return success;
}
PLD_CUDA cuLibraryEnumerateKernels(void** kernels, unsigned most, Image* library) {
  const Guard guard(state().lock);
  unsigned n = 0;
  Status status = success;
  for (Image* const part : all_of(*library))
    if (const auto* module = module_of(*part))
      for (const auto& f : module->functions)
        if (f.entry && n < most) kernels[n++] = kernel_of(*library, f.name.c_str(), status);
  return status;
}
PLD_CUDA cuKernelGetFunction(void** function, void* kernel) { return *function = kernel, success; }
PLD_CUDA cuKernelGetName(const char** name, Kernel* kernel) { return *name = kernel->name.c_str(), success; }
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
PLD_CUDA cuKernelGetLibrary(Image** library, Kernel* kernel) { return *library = kernel->image, success; }

PLD_CUDA cuModuleLoadData(Image** module, const void* code) {
  const Guard guard(state().lock);
  const Status status = load(*module, code);
  if (status != success) return status;
  return module_of(**module) != nullptr ? success : (*module)->ptx.empty() ? no_binary_for_gpu : invalid_ptx;
}
PLD_CUDA cuModuleLoadDataEx(Image** module, const void* code, unsigned, int*, void**) {
  return cuModuleLoadData(module, code);
}
PLD_CUDA cuModuleLoadFatBinary(Image** module, const void* code) { return cuModuleLoadData(module, code); }
PLD_CUDA cuModuleLoad(Image** module, const char* name) {
  const Guard guard(state().lock);
  const Status status = load_file(*module, name);
  if (status != success) return status;
  return module_of(**module) != nullptr ? success : (*module)->ptx.empty() ? no_binary_for_gpu : invalid_ptx;
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
PLD_CUDA cuModuleGetLoadingMode(int* mode) { return *mode = 2, success; }  // lazy
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
PLD_CUDA cuFuncGetName(const char** name, Kernel* kernel) { return *name = kernel->name.c_str(), success; }
PLD_CUDA cuFuncGetModule(Image** module, Kernel* kernel) { return *module = kernel->image, success; }
PLD_CUDA cuFuncIsLoaded(int* loaded, Kernel*) { return *loaded = 1, success; }
PLD_CUDA cuFuncLoad(Kernel*) { return success; }
PLD_CUDA cuFuncGetParamInfo(Kernel* kernel, size_t index, size_t* offset, size_t* bytes) {
  const Guard guard(state().lock);
  return param_info(kernel, index, offset, bytes);
}
