// Functions by name.
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cuda/driver/state.h"

using namespace palladion::cuda::driver;

namespace {

// A function that the library lacks: the program gets one that tells its name when it is called.
constexpr size_t most_missing = 512;
std::array<std::string, most_missing> missing_names;
size_t missing_count = 0;

template <size_t I>
Status missing_call() {
  return unsupported(missing_names[I]);
}
template <size_t... I>
constexpr auto missing_table(std::index_sequence<I...>) {
  return std::array<Status (*)(), sizeof...(I)>{missing_call<I>...};
}
constexpr auto missing_calls = missing_table(std::make_index_sequence<most_missing>());

void* missing(const char* name) {
  for (size_t i = 0; i < missing_count; ++i)
    if (missing_names[i] == name) return reinterpret_cast<void*>(missing_calls[i]);
  if (missing_count == most_missing) return nullptr;
  missing_names[missing_count] = name;
  return reinterpret_cast<void*>(missing_calls[missing_count++]);
}

void* self() {
  static void* const handle = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&self), &info);
    return dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  }();
  return handle;
}

// Older versions of functions, for a program that was built with a toolkit before `below`.
struct Older {
  std::string_view name;
  int below;
  const char* exported;
};
constexpr Older older[] = {
    {"cuStreamBeginCapture", 10010, "cuStreamBeginCapture"},
    {"cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v2"},
    {"cuStreamUpdateCaptureDependencies", 12030, "cuStreamUpdateCaptureDependencies"},
    {"cuGraphAddNode", 12030, "cuGraphAddNode"},
};

// Else its newest version.
void* find(const char* name, int version_asked) {
  for (const Older& o : older)
    if (o.name == name && version_asked < o.below) return dlsym(self(), o.exported);
  for (const char* version : {"_v4", "_v3", "_v2", ""})
    if (void* f = dlsym(self(), (std::string(name) + version).c_str())) return f;
  return nullptr;
}

bool traces() {
  static const bool on = std::getenv("PALLADION_EXEC_TRACE") != nullptr;
  return on;
}

}  // namespace

PLD_CUDA cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t, int* status) {
  const Guard guard(state().lock);
  if (name == nullptr || out == nullptr) return invalid_value;
  *out = find(name, version);
  if (traces()) fmt::print(stderr, "cuGetProcAddress {} {}: {}\n", name, version, *out != nullptr);
  if (*out == nullptr) *out = missing(name);
  if (status != nullptr) *status = *out != nullptr ? 0 : 1;
  return *out != nullptr ? success : not_found;
}
PLD_CUDA cuGetProcAddress(const char* name, void** out, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, out, version, flags, nullptr);
}
// Tables of functions that NVIDIA's own libraries share with NVIDIA's driver. Its runtime library asks for
// one with a keyed digest by which it recognises that driver: we are not that driver and do not answer as if
// we were. Programs are directed to cuda/driver/runtime instead; who asks here is a copy that could not be
// redirected.
PLD_CUDA cuGetExportTable(const void** out, const Uuid*) {
  if (out == nullptr) return invalid_value;

  *out = nullptr;
  Dl_info caller{};
  const bool known = dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != nullptr;
  const std::string file = known ? std::filesystem::path(caller.dli_fname).filename() : "";
  // NVIDIA's compiler asks as well, and works without an answer.
  if (file.starts_with("libnvrtc.") || file.starts_with("libnvJitLink.")) return not_found;
  unsupported(
      fmt::format("a copy of NVIDIA's CUDA runtime library in {}, which exec did not redirect (in a library "
                  "without a symbol table, or loaded by dlopen): it works above NVIDIA's driver alone",
                  file.empty() ? "this program" : file));
  return not_found;
}
