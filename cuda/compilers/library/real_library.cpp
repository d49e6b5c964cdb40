#include "cuda/compilers/library/real_library.h"

#include <dlfcn.h>
#include <link.h>

#include <map>
#include <mutex>
#include <string_view>
#include <vector>

namespace palladion::cuda::compilers {
namespace {

struct Asked {
  std::mutex lock;
  std::map<std::string, void*, std::less<>> libraries;  // by the start of their file names
};
Asked& asked() {
  static auto* const a = new Asked;
  return *a;
}

// Past the hook of the preloaded library, whose version the C library's own dlsym has not.
void* plain_dlsym(void* of, const char* name) {
  using Dlsym = void* (*)(void*, const char*);
  static const auto f = [] {
    for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5"})
      if (void* const found = ::dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Dlsym>(found);
    return static_cast<Dlsym>(nullptr);
  }();
  return f != nullptr ? f(of, name) : nullptr;
}

void* of_loaded(const std::string& file, const std::string& name) {
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
    void* const f = plain_dlsym(loaded, name.c_str());
    ::dlclose(loaded);  // others hold it
    if (f != nullptr) return f;
  }
  return nullptr;
}

}  // namespace

void* real_function(const std::string& file, const std::string& name) {
  Asked& a = asked();
  const std::lock_guard guard(a.lock);
  if (const auto library = a.libraries.find(file); library != a.libraries.end())
    if (void* const f = plain_dlsym(library->second, name.c_str())) return f;
  return of_loaded(file, name);
}

}  // namespace palladion::cuda::compilers

// From the hook of dlsym: the program asked this library, whose file name begins with `file`.
extern "C" __attribute__((visibility("default"))) void palladion_asked(const char* file, void* library) {
  using namespace palladion::cuda::compilers;
  const std::lock_guard guard(asked().lock);
  asked().libraries[file] = library;
}
