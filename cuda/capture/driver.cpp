#include "cuda/capture/driver.h"

#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>
#include <vector>

namespace palladion::cuda::capture {
namespace {

using Dlsym = void* (*)(void*, const char*);

// The library's folder may have to be searched as the program does it: it is loaded already, or by its name.
void* driver_library() {
  static void* const library = [] {
    void* const loaded = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return loaded != nullptr ? loaded : ::dlopen("libcuda.so.1", RTLD_LAZY);
  }();
  return library;
}

}  // namespace

// dlvsym is not ours, so it finds the C library's dlsym past our own; its version differs between libraries.
void* find_dlsym() {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
    if (void* const f = ::dlvsym(RTLD_NEXT, "dlsym", version)) return f;
  return nullptr;
}

void* real_dlsym(void* library, const char* name) {
  static const auto f = reinterpret_cast<Dlsym>(find_dlsym());
  return f == nullptr ? nullptr : f(library, name);
}

void* function_of_library(void* library, const char* file, const char* name) {
  if (library != nullptr) return real_dlsym(library, name);
  if (void* const f = real_dlsym(RTLD_NEXT, name)) return f;
  struct Search {
    std::string_view file;
    std::vector<std::string> paths;
  } search{file, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        const std::string_view path = info->dlpi_name;
        if (path.substr(path.rfind('/') + 1).starts_with(s.file)) s.paths.emplace_back(path);
        return 0;
      },
      &search);
  for (const std::string& path : search.paths) {
    void* const loaded = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == nullptr) continue;
    void* const f = real_dlsym(loaded, name);
    ::dlclose(loaded);  // others hold it
    if (f != nullptr) return f;
  }
  return nullptr;
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
