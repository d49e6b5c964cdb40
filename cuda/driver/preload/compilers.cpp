// NVRTC, nvJitLink and the PTX compiler's library make machine code, which the machine does not run: in their
// places stand the functions of libpalladion_compilers.so (cuda/compilers), whether the program was linked
// with them, asks for them by `dlsym`, or contains them (redirect.cpp).
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "cuda/abi/loaded.h"
#include "cuda/driver/preload/folder.h"

namespace palladion::cuda::preload {
namespace {

void* stand_in(const char* name) {
  static void* const library = [] {
    void* const opened =
        ::dlopen((own_folder() + "/libpalladion_compilers.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (opened == nullptr) {
      std::fprintf(stderr, "palladion exec: %s\n", ::dlerror());
      std::abort();
    }
    return opened;
  }();
  return real_dlsym(library, name);
}

// All take at most six arguments that are integers or pointers: each is in a register.
using AnyCall = int (*)(void*, void*, void*, void*, void*, void*);
int answer(std::atomic<AnyCall>& known, const char* name, void* a, void* b, void* c, void* d, void* e,
           void* f) {
  AnyCall function = known.load();
  if (function == nullptr) known = function = reinterpret_cast<AnyCall>(stand_in(name));
  return function(a, b, c, d, e, f);
}

// Of a name that may be one of ours: the library whose function it is.
const char* family_of(std::string_view name) {
  if (name.starts_with("nvrtc")) return "libnvrtc.";
  if (name.starts_with("nvJitLink") || name.starts_with("__nvJitLink")) return "libnvJitLink.";
  return nullptr;
}

}  // namespace

void* self() {
  static void* const handle = [] {
    Dl_info info{};
    ::dladdr(reinterpret_cast<void*>(&self), &info);
    return ::dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  }();
  return handle;
}

namespace {

// Null: the program's own library answers.
void* hook(const char* family, void* library, const char* name) {
  void* const own = real_dlsym(library, name);
  void* const ours = own != nullptr ? real_dlsym(self(), name) : nullptr;
  if (ours == nullptr || ours == own) return ours;
  auto* const asked = reinterpret_cast<void (*)(const char*, void*)>(stand_in("palladion_asked"));
  if (library != RTLD_DEFAULT) asked(family, library);
  return ours;
}

}  // namespace
}  // namespace palladion::cuda::preload

#define PLD_HOOK extern "C" __attribute__((visibility("default")))
#define PLD_STAND_IN(name, after)                                                  \
  PLD_HOOK int name##after(void* a, void* b, void* c, void* d, void* e, void* f) { \
    static std::atomic<palladion::cuda::preload::AnyCall> known;                   \
    return palladion::cuda::preload::answer(known, #name, a, b, c, d, e, f);       \
  }
PLD_STAND_IN(nvrtcCreateProgram, )
PLD_STAND_IN(nvrtcDestroyProgram, )
PLD_STAND_IN(nvrtcCompileProgram, )
PLD_STAND_IN(nvrtcGetPTXSize, )
PLD_STAND_IN(nvrtcGetPTX, )
PLD_STAND_IN(nvrtcGetCUBINSize, )
PLD_STAND_IN(nvrtcGetCUBIN, )

// Its header calls __nvJitLinkAddData_13_0 and so on, a name for each version; older programs
// nvJitLinkAddData.
#define PLD_JIT_VERSION(call, after)                                                            \
  PLD_HOOK int __nvJitLink##call##after(void* a, void* b, void* c, void* d, void* e, void* f) { \
    static std::atomic<palladion::cuda::preload::AnyCall> known;                                \
    return palladion::cuda::preload::answer(known, "nvJitLink" #call, a, b, c, d, e, f);        \
  }
// clang-format off
#define PLD_JIT(call) \
  PLD_STAND_IN(nvJitLink##call, ) \
  PLD_JIT_VERSION(call, _12_0) PLD_JIT_VERSION(call, _12_1) PLD_JIT_VERSION(call, _12_2) \
  PLD_JIT_VERSION(call, _12_3) PLD_JIT_VERSION(call, _12_4) PLD_JIT_VERSION(call, _12_5) \
  PLD_JIT_VERSION(call, _12_6) PLD_JIT_VERSION(call, _12_7) PLD_JIT_VERSION(call, _12_8) \
  PLD_JIT_VERSION(call, _12_9) PLD_JIT_VERSION(call, _13_0) PLD_JIT_VERSION(call, _13_1) \
  PLD_JIT_VERSION(call, _13_2) PLD_JIT_VERSION(call, _13_3) PLD_JIT_VERSION(call, _13_4) \
  PLD_JIT_VERSION(call, _13_5) PLD_JIT_VERSION(call, _13_6) PLD_JIT_VERSION(call, _13_7) \
  PLD_JIT_VERSION(call, _13_8) PLD_JIT_VERSION(call, _13_9)
// clang-format on
PLD_JIT(Create)
PLD_JIT(Destroy)
PLD_JIT(AddData)
PLD_JIT(AddFile)
PLD_JIT(Complete)
PLD_JIT(GetLinkedCubinSize)
PLD_JIT(GetLinkedCubin)
PLD_JIT(GetLinkedPtxSize)
PLD_JIT(GetLinkedPtx)
PLD_JIT(GetErrorLogSize)
PLD_JIT(GetErrorLog)
PLD_JIT(GetInfoLogSize)
PLD_JIT(GetInfoLog)
PLD_JIT(GetLinkedLTOIRSize)
PLD_JIT(GetLinkedLTOIR)

PLD_STAND_IN(nvPTXCompilerGetVersion, )
PLD_STAND_IN(nvPTXCompilerCreate, )
PLD_STAND_IN(nvPTXCompilerDestroy, )
PLD_STAND_IN(nvPTXCompilerCompile, )
PLD_STAND_IN(nvPTXCompilerGetCompiledProgramSize, )
PLD_STAND_IN(nvPTXCompilerGetCompiledProgram, )
PLD_STAND_IN(nvPTXCompilerGetErrorLogSize, )
PLD_STAND_IN(nvPTXCompilerGetErrorLog, )
PLD_STAND_IN(nvPTXCompilerGetInfoLogSize, )
PLD_STAND_IN(nvPTXCompilerGetInfoLog, )
PLD_STAND_IN(nvPTXCompilerSetFlowCallback, )

// RTLD_NEXT depends on who calls: what is not ours is a jump to the C library's, not a call.
PLD_HOOK void* dlsym(void* library, const char* name) {
  using namespace palladion::cuda::preload;
  const char* const family = library != RTLD_NEXT ? family_of(name) : nullptr;
  if (family != nullptr)
    if (void* const ours = hook(family, library, name)) return ours;
  return palladion::cuda::real_dlsym(library, name);
}
