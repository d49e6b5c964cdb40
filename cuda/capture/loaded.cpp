#include "cuda/capture/loaded.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "cuda/capture/recorder.h"
#include "cuda/fatbin/fatbin.h"

namespace palladion::cuda::capture {
namespace {

struct Loaded {
  Owner kind = Owner::module;
  LoadedImage image;
};

// Made on first use and never destroyed.
struct Programs {
  std::mutex lock;
  std::unordered_map<Handle, Loaded> images;
  std::unordered_map<Handle, Handle> owners;
};
Programs& programs() {
  static auto* const p = new Programs;
  return *p;
}

// This module's or library's kernel of that name, as a function of the current context. Null: it has none.
Handle function_named(Handle owner, Owner kind, const std::string& name) {
  Handle found = nullptr, in_context = nullptr;
  using Find = Status(Handle*, Handle, const char*);
  const char* const find = kind == Owner::module ? "cuModuleGetFunction" : "cuLibraryGetKernel";
  if (Call<Find>::to(find, &found, owner, name.c_str()) != success) return nullptr;
  if (kind == Owner::library &&
      Call<Status(Handle*, Handle)>::to("cuKernelGetFunction", &in_context, found) == success)
    return in_context;
  return found;
}

// The image that has this function: the driver gives the same handle for its kernel of that name, or no other
// image of the program has a kernel of that name. The caller holds the lock.
const LoadedImage* image_with(Handle function) {
  const std::string name = name_of(function);
  const LoadedImage* only = nullptr;
  size_t count = 0;
  for (const auto& [owner, entry] : programs().images) {
    const Handle found = function_named(owner, entry.kind, name);
    if (found == function) return &entry.image;
    if (found == nullptr) continue;
    only = &entry.image;
    ++count;
  }
  return count == 1 ? only : nullptr;
}

}  // namespace

std::string name_of(Handle function) {
  const char* name = nullptr;
  if (Call<Status(const char**, Handle)>::to("cuFuncGetName", &name, function) == success && name != nullptr)
    return name;
  if (Call<Status(const char**, Handle)>::to("cuKernelGetName", &name, function) == success &&
      name != nullptr)
    return name;
  return "";
}

std::string demangled(const std::string& name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = text != nullptr ? text : name;
  std::free(text);
  return out;
}

const LoadedImage* image_of(Handle function) {
  auto& s = programs();
  const auto by_program = [&](Handle h) -> const LoadedImage* {
    for (int steps = 0; h != nullptr && steps < 8; ++steps) {
      if (const auto found = s.images.find(h); found != s.images.end()) return &found->second.image;
      const auto owner = s.owners.find(h);
      h = owner == s.owners.end() ? nullptr : owner->second;
    }
    return nullptr;
  };
  const std::lock_guard guard(s.lock);
  if (const auto* image = by_program(function)) return image;
  Handle owner = nullptr;
  if (Call<Status(Handle*, Handle)>::to("cuFuncGetModule", &owner, function) == success)
    if (const auto* image = by_program(owner)) return image;
  if (Call<Status(Handle*, Handle)>::to("cuKernelGetLibrary", &owner, function) == success)
    if (const auto* image = by_program(owner)) return image;
  return image_with(function);
}

void loaded(Owner kind, Handle owner, const void* image) {
  if (inside || settings().folder.empty() || image == nullptr) return;
  LoadedImage entry{.data = image, .bytes = fatbin::bytes_of(image), .copy = {}};
  Dl_info file;
  const void* const data = fatbin::image_of(image) == fatbin::Image::wrapper ? fatbin::data_of(image) : image;
  if (::dladdr(data, &file) == 0) {  // memory of the program, which may free it
    entry.bytes = fatbin::bytes_of(data);
    entry.copy.assign(static_cast<const char*>(data), entry.bytes);
  }
  auto& s = programs();
  const std::lock_guard guard(s.lock);
  Loaded& of_owner = s.images[owner] = {kind, std::move(entry)};
  LoadedImage& kept = of_owner.image;
  if (!kept.copy.empty()) kept.data = kept.copy.data();
}

std::string bytes_of_file(const char* path) {
  std::string out;
  std::FILE* const file = std::fopen(path, "rb");
  if (file == nullptr) return out;
  char part[1 << 16];
  for (size_t n = 1; n != 0;) out.append(part, n = std::fread(part, 1, sizeof part, file));
  std::fclose(file);
  return out;
}

void loaded_file(Owner kind, Handle owner, const char* path) {
  if (settings().folder.empty() || path == nullptr) return;
  LoadedImage entry;
  entry.copy = bytes_of_file(path);
  if (entry.copy.size() < 64) return;
  entry.copy += '\0';
  entry.bytes = entry.copy.size() - 1;
  auto& s = programs();
  const std::lock_guard guard(s.lock);
  Loaded& of_owner = s.images[owner] = {kind, std::move(entry)};
  LoadedImage& kept = of_owner.image;
  kept.data = kept.copy.data();
}

void unloaded(Handle owner) {
  auto& s = programs();
  const std::lock_guard guard(s.lock);
  s.images.erase(owner);
}

void belongs(Handle part, Handle owner) {
  if (settings().folder.empty() || part == owner) return;
  {
    auto& s = programs();
    const std::lock_guard guard(s.lock);
    s.owners[part] = owner;
  }
  forget(part);  // a handle may be used again for another kernel
}

}  // namespace palladion::cuda::capture
