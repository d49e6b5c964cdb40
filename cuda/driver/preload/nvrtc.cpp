// Programs that compile with NVRTC for an architecture (sm_90), or link with nvJitLink, take machine code,
// which the machine does not run: they are given the PTX that NVIDIA's library makes as well, and our driver
// loads that.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr int internal_error = 11;  // NVRTC_ERROR_INTERNAL_ERROR
constexpr int link_error = 6;       // NVJITLINK_ERROR_INTERNAL

template <class... Arguments>
int real(int absent, const char* name, Arguments... arguments) {
  auto* const f = reinterpret_cast<int (*)(Arguments...)>(::dlsym(RTLD_NEXT, name));
  return f != nullptr ? f(arguments...) : absent;
}

int told(int status) {
  if (status != 0)
    std::fputs(
        "palladion exec: unsupported: nvJitLink without -lto makes machine code only: link PTX with "
        "cuLink*\n",
        stderr);
  return status;
}

}  // namespace

#define PLD_HOOK extern "C" __attribute__((visibility("default"))) int
PLD_HOOK nvrtcGetCUBINSize(void* program, size_t* bytes) {
  return real(internal_error, "nvrtcGetPTXSize", program, bytes);
}
PLD_HOOK nvrtcGetCUBIN(void* program, char* image) {
  return real(internal_error, "nvrtcGetPTX", program, image);
}

// What is linked from LTO-IR is made as PTX.
PLD_HOOK __nvJitLinkCreate_13_0(void** handle, uint32_t count, const char** options) {
  std::vector<const char*> all(options, options + count);
  bool optimised = false, ptx = false;
  for (const std::string_view option : all) {
    optimised = optimised || option == "-lto";
    ptx = ptx || option == "-ptx";
  }
  if (optimised && !ptx) all.push_back("-ptx");
  return real(link_error, "__nvJitLinkCreate_13_0", handle, static_cast<uint32_t>(all.size()), all.data());
}
PLD_HOOK __nvJitLinkGetLinkedCubinSize_13_0(void* handle, size_t* bytes) {
  return told(real(link_error, "__nvJitLinkGetLinkedPtxSize_13_0", handle, bytes));
}
PLD_HOOK __nvJitLinkGetLinkedCubin_13_0(void* handle, void* image) {
  return told(real(link_error, "__nvJitLinkGetLinkedPtx_13_0", handle, static_cast<char*>(image)));
}
