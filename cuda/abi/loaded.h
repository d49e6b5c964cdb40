#pragma once
// Functions of libraries that others have loaded, for libraries that hook `dlsym` or stand before one that
// does.
#include <dlfcn.h>
#include <link.h>

#include <string>
#include <string_view>
#include <vector>

namespace palladion::cuda {

// dlvsym is hooked by nobody, so it finds the C library's dlsym; its version differs between C libraries.
inline void* find_dlsym() {
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"})
    if (void* const f = ::dlvsym(RTLD_NEXT, "dlsym", version)) return f;
  return nullptr;
}

// The C library's own, past all hooks.
inline void* real_dlsym(void* library, const char* name) {
  static const auto f = reinterpret_cast<void* (*)(void*, const char*)>(find_dlsym());
  return f == nullptr ? nullptr : f(library, name);
}

// Of the first loaded library that has it and whose file name begins with `file`; null: none.
inline void* of_loaded(std::string_view file, const char* name) {
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

}  // namespace palladion::cuda
