#include "cuda/capture/driver.h"

#include <dlfcn.h>

namespace palladion::cuda::capture {
namespace {

// The library's folder may have to be searched as the program does it: it is loaded already, or by its name.
void* driver_library() {
  static void* const library = [] {
    void* const loaded = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return loaded != nullptr ? loaded : ::dlopen("libcuda.so.1", RTLD_LAZY);
  }();
  return library;
}

}  // namespace

void* function_of_library(void* library, const char* file, const char* name) {
  if (library != nullptr) return real_dlsym(library, name);
  if (void* const f = real_dlsym(RTLD_NEXT, name)) return f;
  return of_loaded(file, name);
}

void* driver_function(const char* name) {
  // Names are literals: their addresses serve as keys of a small cache for each thread, so that a call costs
  // no lock.
  struct Cached {
    const char* name;
    void* function;
  };
  constexpr size_t slots = 256;
  static thread_local Cached cache[slots];
  Cached& slot = cache[reinterpret_cast<uintptr_t>(name) % 251];
  if (slot.name != name) {
    void* const library = driver_library();
    slot = {name, library == nullptr ? nullptr : real_dlsym(library, name)};
  }
  return slot.function;
}

}  // namespace palladion::cuda::capture
