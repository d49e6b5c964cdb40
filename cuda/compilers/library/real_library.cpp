#include "cuda/compilers/library/real_library.h"

#include <map>
#include <mutex>

#include "cuda/abi/loaded.h"

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

}  // namespace

void* real_function(const std::string& file, const std::string& name) {
  Asked& a = asked();
  const std::lock_guard guard(a.lock);
  if (const auto library = a.libraries.find(file); library != a.libraries.end())
    if (void* const f = real_dlsym(library->second, name.c_str())) return f;
  return of_loaded(file, name.c_str());
}

}  // namespace palladion::cuda::compilers

// From the hook of dlsym: the program asked this library, whose file name begins with `file`.
extern "C" __attribute__((visibility("default"))) void palladion_asked(const char* file, void* library) {
  using namespace palladion::cuda::compilers;
  const std::lock_guard guard(asked().lock);
  asked().libraries[file] = library;
}
