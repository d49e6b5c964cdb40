// Before the constructors of the program, and of each library that it opens later: where it contains a copy
// of NVIDIA's runtime library (libcudart_static, which nvcc links) or of its PTX compiler
// (libnvptxcompiler_static), or is a library of NVIDIA's in whose place there is one of ours, each function
// becomes a jump to ours of the same name. Only this process' memory changes, no file.
#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/driver/preload/elf_file.h"
#include "cuda/driver/preload/folder.h"
#include "cuda/driver/preload/jump.h"
#include "cuda/driver/preload/objects.h"
#include "cuda/driver/preload/runtime_copy.h"

namespace palladion::cuda::preload {
namespace {

constexpr int not_supported_exit = 3;

void say(const std::string& what) { std::fprintf(stderr, "palladion exec: unsupported: %s\n", what.c_str()); }

[[noreturn]] void refuse(const std::string& why) {
  say(why);
  ::_exit(not_supported_exit);
}

std::string_view file_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Our libraries by the names under which programs know NVIDIA's. They were loaded with this one.
class Ours {
 public:
  Ours() : folder_(own_folder() + "/") {
    DIR* const folder = ::opendir(folder_.c_str());
    if (folder == nullptr) return;
    while (const dirent* entry = ::readdir(folder))
      if (void* const library = ::dlopen((folder_ + entry->d_name).c_str(), RTLD_LAZY | RTLD_NOLOAD))
        libraries_[entry->d_name] = library;
    ::closedir(folder);
  }
  bool has(const std::string& path) const { return path.starts_with(folder_); }
  void* find(std::string_view name) const {
    const auto found = libraries_.find(name);
    return found != libraries_.end() ? found->second : nullptr;
  }
  void* runtime() const { return find("libcudart.so.13"); }

 private:
  std::string folder_;
  std::map<std::string, void*, std::less<>> libraries_;
};

const Ours& ours() {
  static const auto* const all = new Ours;
  return *all;
}

// "cudaMemAdvise_v2": what precedes the version, which is 1 where none is named.
std::pair<std::string, int> without_version(const std::string& name) {
  const size_t at = name.rfind("_v");
  const bool versioned =
      at != std::string::npos && at + 3 == name.size() && name[at + 2] >= '2' && name[at + 2] <= '9';
  return versioned ? std::pair{name.substr(0, at), name[at + 2] - '0'} : std::pair{name, 1};
}

// CUDA 13 gave its newest version of a function the plain name: in an older library that is the one with the
// highest number, and what it calls by the plain name is another. Where ours has a number as well, both are
// as they are.
std::map<std::string, const void*> targets_of(const std::vector<RuntimeFunction>& functions, void* library) {
  std::map<std::string, int> newest;
  for (const RuntimeFunction& f : functions) {
    const auto [plain, version] = without_version(f.name);
    newest[plain] = std::max(newest[plain], version);
  }
  std::map<std::string, const void*> targets;
  for (const RuntimeFunction& f : functions) {
    const auto [plain, version] = without_version(f.name);
    const void* target = ::dlsym(library, f.name.c_str());
    const std::string latest = plain + "_v" + std::to_string(newest[plain]);
    if (version < newest[plain] && ::dlsym(library, latest.c_str()) == nullptr) target = nullptr;
    if (target == nullptr && version > 1 && version == newest[plain])
      target = ::dlsym(library, plain.c_str());
    if (target != nullptr) targets[f.name] = target;
  }
  return targets;
}

// Functions that ours lacks are the program's own, or of a later library. Where one has no room for a jump,
// they are trampolines to a library that is opened by its name, which is ours.
void redirect(const Object& object, const std::vector<RuntimeFunction>& functions, void* library) {
  const auto targets = targets_of(functions, library);
  const auto is_trampoline = [&](const RuntimeFunction& f) {
    return targets.contains(f.name) && !has_room(f.address, f.bytes);
  };
  if (std::ranges::any_of(functions, is_trampoline)) return;
  for (const RuntimeFunction& f : functions) {
    const auto target = targets.find(f.name);
    if (target != targets.end() && !write_jump(object.base + f.address, target->second))
      refuse(std::string("this system does not let a process change its own code: ") + std::strerror(errno) +
             ": link with -cudart shared");
  }
}

// Those of the table of symbols whose names begin so.
std::vector<RuntimeFunction> functions_named(const ElfFile& file,
                                             std::initializer_list<std::string_view> beginnings) {
  std::vector<RuntimeFunction> functions = functions_by_symbol(file, SHT_SYMTAB);
  std::erase_if(functions, [&](const RuntimeFunction& f) {
    return std::ranges::none_of(beginnings,
                                [&](std::string_view start) { return f.name.starts_with(start); });
  });
  return functions;
}

// Libraries of CUDA's toolkit, which compute with machine code: they are left as they are. Others begin with
// "libcu" as well.
bool is_of_toolkit(const Object& object) {
  constexpr std::string_view beginnings[] = {"libcublas", "libcuda",     "libcudnn",    "libcudss",
                                             "libcufft",  "libcufile",   "libcuinj",    "libcupti",
                                             "libcurand", "libcusolver", "libcusparse", "libcutensor",
                                             "libnccl",   "libnpp",      "libnv"};
  const std::string_view name = file_of(object.path);
  return std::ranges::any_of(beginnings, [&](std::string_view start) { return name.starts_with(start); });
}

// Archives of the runtime library: of the packages beside a Python module, and of the toolkit.
std::vector<std::string> archives_for(const Object& object) {
  std::vector<std::string> places;
  for (std::string folder = object.path; folder.find('/') != std::string::npos;) {
    folder.erase(folder.rfind('/'));
    for (const char* const package : {"/nvidia/cu13/lib", "/nvidia/cuda_runtime/lib"})
      places.push_back(folder + package);
  }
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const home = std::getenv(variable)) places.push_back(std::string(home) + "/lib64");
  places.emplace_back("/usr/local/cuda/lib64");
  for (std::string& place : places) place += "/libcudart_static.a";
  std::erase_if(places, [](const std::string& place) { return ::access(place.c_str(), R_OK) != 0; });
  return places;
}

// Where objects without symbols lie whose runtime library is ours now.
std::vector<uint64_t> with_our_runtime;

void redirect_stripped(const Object& object, const ElfFile& file) {
  std::vector<RuntimeFunction> all = functions_by_own_name(file);
  if (all.empty()) return;
  redirect(object, all, ours().runtime());
  with_our_runtime.push_back(object.base);
  if (!file.has_section(".nvFatBinSegment")) return;  // it registers no kernels
  for (const std::string& archive : archives_for(object)) {
    const std::vector<RuntimeFunction> more = functions_by_bytes(file, all, archive);
    if (std::ranges::none_of(more, [](const RuntimeFunction& f) { return f.name == first_call; })) continue;
    return redirect(object, more, ours().runtime());
  }
  const std::string what =
      " contains NVIDIA's runtime library without symbols, and no libcudart_static.a shows what registers "
      "its "
      "kernels: install nvidia-cuda-runtime or a CUDA toolkit, do not strip it, or link it with -cudart "
      "shared";
  object.program ? refuse("this stripped program" + what) : say(object.path + what);
}

void take(const Object& object) {
  if (ours().has(object.path)) return;
  void* const twin = ours().find(file_of(object.path));
  const ElfFile file(object.path.c_str());
  if (!file.valid()) return;
  if (twin != nullptr) return redirect(object, functions_by_symbol(file, SHT_DYNSYM), twin);
  if (file.names(SHT_SYMTAB, "nvPTXCompilerCreate"))
    redirect(object, functions_named(file, {"nvPTXCompiler"}), self());
  if (file.names(SHT_SYMTAB, first_call)) {
    const std::vector<RuntimeFunction> functions = functions_named(file, {"cuda", "__cuda"});
    if (std::ranges::any_of(functions, [](const RuntimeFunction& f) { return f.name == first_call; }))
      redirect(object, functions, ours().runtime());
  } else if (!file.has(SHT_SYMTAB) && !file.names(SHT_DYNSYM, first_call) && !is_of_toolkit(object)) {
    redirect_stripped(object, file);
  }
}

// We are before the C library's own start. Whatever opens a library starts it with the environment and the
// name that it knows by then: without these lines the program would have none.
__attribute__((constructor(101))) void give_environment(int, char** arguments, char** environment) {
  ::environ = environment;
  if (arguments[0] == nullptr) return;
  char* const slash = std::strrchr(arguments[0], '/');
  ::program_invocation_name = arguments[0];
  ::program_invocation_short_name = slash != nullptr ? slash + 1 : arguments[0];
}

__attribute__((constructor)) void before_the_program() {
  if (ours().runtime() == nullptr) refuse("libcudart.so.13 of palladion is not loaded");
  if (!for_each_object(take))
    say("libraries that are opened later and contain NVIDIA's runtime library: this system's dynamic linker "
        "does not "
        "tell of them");
}

}  // namespace

std::string own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0) return {};
  const std::string path = info.dli_fname;
  return path.substr(0, path.rfind('/'));
}

}  // namespace palladion::cuda::preload

// cuda/driver/modules/entry_points.cpp: who asks NVIDIA's driver from such an object is another library in
// it.
extern "C" __attribute__((visibility("default"))) bool palladion_has_our_runtime(const void* base) {
  return std::ranges::find(palladion::cuda::preload::with_our_runtime, reinterpret_cast<uint64_t>(base)) !=
         palladion::cuda::preload::with_our_runtime.end();
}
