// Functions by name.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
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

// The versions of the driver API in which a function, and each later version of it, appeared
// (cudaTypedefs.h); the n-th of them is exported as `name`, then `name_v2`, ...
struct Versions {
  std::string_view name;
  std::array<int, 4> since;  // 0: no more
};
constexpr Versions all_versions[] = {
#include "cuda/driver/modules/entry_versions.inc"
};

// Which version of the function a program of that API version calls; 0: it had none; null: it has one only.
std::optional<long> version_of(std::string_view name, int asked) {
  const auto* const row = std::ranges::find(all_versions, name, &Versions::name);
  if (row == std::end(all_versions)) return std::nullopt;
  return std::ranges::count_if(row->since, [&](int since) { return since != 0 && since <= asked; });
}

// CUdriverProcAddressQueryResult
constexpr int symbol_found = 0, symbol_not_found = 1, version_not_sufficient = 2;

// The function as a program of that API version knows it: its name in the library.
int find(std::string name, int asked, void*& out) {
  const auto version = version_of(name, asked);
  if (version == 0) return out = nullptr, version_not_sufficient;
  if (version > 1) name += fmt::format("_v{}", *version);
  out = dlsym(self(), name.c_str());
  if (out == nullptr) out = missing(name.c_str());
  return out != nullptr ? symbol_found : symbol_not_found;
}

bool traces() {
  static const bool on = std::getenv("PALLADION_EXEC_TRACE") != nullptr;
  return on;
}

}  // namespace

PLD_CUDA cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t, int* status) {
  const Guard guard(state().lock);
  if (name == nullptr || out == nullptr) return invalid_value;
  const int result = find(name, version, *out);
  if (traces()) fmt::print(stderr, "cuGetProcAddress {} {}: {}\n", name, version, result);
  if (status != nullptr) *status = result;
  return success;
}
PLD_CUDA cuGetProcAddress(const char* name, void** out, int version, uint64_t flags) {
  const Status status = cuGetProcAddress_v2(name, out, version, flags, nullptr);
  return status == success && *out == nullptr ? not_found : status;
}
namespace {
// Under exec: cuda/driver/preload/redirect.cpp.
bool has_our_runtime(const void* base) {
  using Ask = bool (*)(const void*);
  static auto* const ask = reinterpret_cast<Ask>(::dlsym(RTLD_DEFAULT, "palladion_has_our_runtime"));
  return ask != nullptr && ask(base);
}
}  // namespace

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
  // NVIDIA's compiler asks as well, and works without an answer; Warp's library has it within.
  if (file.starts_with("libnvrtc.") || file.starts_with("libnvJitLink.")) return not_found;
  if (known && has_our_runtime(caller.dli_fbase)) return not_found;
  unsupported(
      fmt::format("a copy of NVIDIA's CUDA runtime library in {}, which exec did not redirect (in a library "
                  "without a symbol table, or loaded by dlopen): it works above NVIDIA's driver alone",
                  file.empty() ? "this program" : file));
  return not_found;
}
