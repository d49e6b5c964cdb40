#include "cuda/capture/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/bundle/bundle.h"
#include "cuda/capture/driver.h"
#include "cuda/capture/recorder.h"
#include "cuda/fatbin/fatbin.h"

#define PLD_EXPORT extern "C" __attribute__((visibility("default")))

namespace palladion::cuda::capture {
namespace {

constexpr size_t most_kept = size_t{256} << 20;  // bytes of PTX

// Made on first use and never destroyed.
struct Compiled {
  std::mutex lock;
  std::map<uint64_t, std::string> ptx;  // by the machine code's checksum
  size_t bytes = 0;
  void* library = nullptr;  // that the program asked last; null: it is linked
};
Compiled& compiled() {
  static auto* const c = new Compiled;
  return *c;
}

uint64_t checksum(std::string_view bytes) { return bundle::checksum(std::as_bytes(std::span(bytes))); }

template <class... Args>
Status call(const char* name, Args... args) {
  auto* const f =
      reinterpret_cast<Status (*)(Args...)>(function_of_library(compiled().library, "libnvrtc", name));
  return f == nullptr ? 11 : f(args...);  // NVRTC_ERROR_INTERNAL_ERROR
}

void keep_ptx(Handle program, const char* cubin) {
  size_t cubin_bytes = 0, ptx_bytes = 0;
  if (call("nvrtcGetCUBINSize", program, &cubin_bytes) != success) return;
  if (call("nvrtcGetPTXSize", program, &ptx_bytes) != success || ptx_bytes < 2) return;
  std::string text(ptx_bytes, '\0');
  if (call("nvrtcGetPTX", program, text.data()) != success) return;
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  Compiled& c = compiled();
  const std::lock_guard guard(c.lock);
  if (c.bytes + text.size() > most_kept) return;
  c.bytes += text.size();
  // As many bytes as are found again where the driver is given no length.
  c.ptx[checksum({cubin, std::min<uint64_t>(cubin_bytes, fatbin::bytes_of(cubin))})] = std::move(text);
}

}  // namespace

std::optional<std::string> nvrtc_ptx_of(std::string_view cubin) {
  Compiled& c = compiled();
  const std::lock_guard guard(c.lock);
  const auto found = c.ptx.find(checksum(cubin));
  return found == c.ptx.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace palladion::cuda::capture

PLD_EXPORT int nvrtcGetCUBIN(void* program, char* cubin) {
  using namespace palladion::cuda::capture;
  const Status s = call("nvrtcGetCUBIN", program, cubin);
  if (s == success && !settings().folder.empty()) keep_ptx(program, cubin);
  return s;
}

namespace palladion::cuda::capture {

void* nvrtc_hook(void* library) {
  if (real_dlsym(library, "nvrtcGetCUBIN") == nullptr) return nullptr;
  compiled().library = library == RTLD_DEFAULT ? nullptr : library;
  return reinterpret_cast<void*>(&nvrtcGetCUBIN);
}

}  // namespace palladion::cuda::capture
