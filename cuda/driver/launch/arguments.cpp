// The arguments of a launch.
#include <algorithm>
#include <cstring>

#include "cuda/driver/state.h"

namespace palladion::cuda::driver {

Status prepare(LaunchWork& work, void* function, void** params, void** extra) {
  work.kernel = static_cast<Kernel*>(function);
  if (!exist(work.kernel)) return invalid_handle;
  const isa::Module* module = module_of(*work.kernel->image);
  if (module == nullptr) return no_binary_for_gpu;
  const isa::Function* entry = module->find_entry(work.kernel->name);
  if (entry == nullptr) return not_found;
  const isa::ParamLayout layout = isa::param_layout(*module, *entry);
  work.params.assign(layout.size, 0);
  if (params != nullptr && extra != nullptr) return invalid_value;
  if (params != nullptr) {
    for (size_t i = 0; i < layout.offsets.size(); ++i) {
      const uint64_t bytes = module->symbols[entry->params[i]].variable.size();
      if (params[i] == nullptr) return invalid_value;
      std::memcpy(work.params.data() + layout.offsets[i], params[i], bytes);
    }
  } else if (extra != nullptr) {
    const void* buffer = nullptr;
    size_t bytes = 0;
    for (void** e = extra; *e != nullptr; e += 2) {
      if (*e == reinterpret_cast<void*>(1)) buffer = e[1];
      if (*e == reinterpret_cast<void*>(2)) bytes = *static_cast<size_t*>(e[1]);
    }
    if (buffer != nullptr) std::memcpy(work.params.data(), buffer, std::min<size_t>(bytes, layout.size));
  } else if (!layout.offsets.empty()) {
    return invalid_value;
  }
  if (entry->reqnctapercluster && work.cluster.count() == 1) work.cluster = *entry->reqnctapercluster;
  return success;
}

void** parameter_pointers(LaunchWork& work) {
  const isa::Module& module = *work.kernel->image->module;
  work.pointers.clear();
  for (const uint32_t offset : isa::param_layout(module, *module.find_entry(work.kernel->name)).offsets)
    work.pointers.push_back(work.params.data() + offset);
  return work.pointers.data();
}

}  // namespace palladion::cuda::driver
