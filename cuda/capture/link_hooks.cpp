// The functions that stand before the linkers that a program runs: the driver's (cuLink), and libnvJitLink.
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "cuda/capture/hooks.h"
#include "cuda/capture/links.h"

using namespace palladion::cuda::capture;

// ---- the driver's linker -------------------------------------------------------------------------
PLD_EXPORT Status cuLinkAddData_v2(Handle state, int type, void* data, size_t bytes, const char* name,
                                   unsigned n, int* options, void** values) {
  const Status s = Call<Status(Handle, int, void*, size_t, const char*, unsigned, int*, void**)>::to(
      "cuLinkAddData_v2", state, type, data, bytes, name, n, options, values);
  if (s == success) link_input(state, type, data, bytes, name);
  return s;
}
PLD_EXPORT Status cuLinkAddFile_v2(Handle state, int type, const char* path, unsigned n, int* options,
                                   void** values) {
  const Status s = Call<Status(Handle, int, const char*, unsigned, int*, void**)>::to(
      "cuLinkAddFile_v2", state, type, path, n, options, values);
  if (s == success) link_input_file(state, type, path);
  return s;
}
PLD_EXPORT Status cuLinkComplete(Handle state, void** cubin, size_t* bytes) {
  size_t size = 0;
  const Status s = Call<Status(Handle, void**, size_t*)>::to("cuLinkComplete", state, cubin, &size);
  if (bytes != nullptr) *bytes = size;
  if (s == success) link_completed(state, "cuLink", *cubin, size);
  return s;
}
PLD_EXPORT Status cuLinkDestroy(Handle state) {
  link_destroyed(state);
  return Call<Status(Handle)>::to("cuLinkDestroy", state);
}

namespace palladion::cuda::capture {

std::span<const Hook> link_hooks() {
  static const Hook hooks[] = {PLD_HOOK_V2(cuLinkAddData), PLD_HOOK_V2(cuLinkAddFile),
                               PLD_HOOK(cuLinkComplete), PLD_HOOK(cuLinkDestroy)};
  return hooks;
}

}  // namespace palladion::cuda::capture

// ---- libnvJitLink --------------------------------------------------------------------------------
// Its header calls __nvJitLinkAddData_13_0 and so on, one name for each version since which the function is
// as it is; older programs call nvJitLinkAddData. Each name has functions of its own here, which call those
// of the same name.
namespace {

// The functions of one name, `nvJitLink` + call + `suffix`.
struct JitNames {
  const char *add_data, *add_file, *get_cubin, *cubin_size, *destroy;
  std::atomic<void*> library = nullptr;  // that the program asked last; null: it is linked

  template <class... Args>
  int call(const char* name, Args... args) const {
    auto* const f =
        reinterpret_cast<int (*)(Args...)>(function_of_library(library.load(), "libnvJitLink", name));
    return f == nullptr ? 6 : f(args...);  // NVJITLINK_ERROR_INTERNAL
  }
};

// nvJitLinkInputType: CUBIN 1, PTX 2, then what holds no PTX text.
int as_jit_input(int type) { return type == 2 ? 1 : 0; }

int add_data(JitNames& n, Handle link, int type, const void* data, size_t bytes, const char* name) {
  const int status = n.call(n.add_data, link, type, data, bytes, name);
  if (status == 0) link_input(link, as_jit_input(type), data, bytes, name);
  return status;
}
int add_file(JitNames& n, Handle link, int type, const char* path) {
  const int status = n.call(n.add_file, link, type, path);
  if (status == 0) link_input_file(link, as_jit_input(type), path);
  return status;
}
int get_cubin(JitNames& n, Handle link, void* cubin) {
  size_t bytes = 0;
  const int status = n.call(n.get_cubin, link, cubin);
  if (status == 0 && n.call(n.cubin_size, link, &bytes) == 0) link_completed(link, "nvJitLink", cubin, bytes);
  return status;
}
int destroy(JitNames& n, Handle* link) {
  if (link != nullptr) link_destroyed(*link);
  return n.call(n.destroy, link);
}

}  // namespace

#define PLD_JIT_NAMES(before, after)                                                                 \
  static JitNames names##after{#before "AddData" #after, #before "AddFile" #after,                   \
                               #before "GetLinkedCubin" #after, #before "GetLinkedCubinSize" #after, \
                               #before "Destroy" #after};                                            \
  PLD_EXPORT int before##AddData##after(Handle link, int type, const void* data, size_t bytes,       \
                                        const char* name) {                                          \
    return add_data(names##after, link, type, data, bytes, name);                                    \
  }                                                                                                  \
  PLD_EXPORT int before##AddFile##after(Handle link, int type, const char* path) {                   \
    return add_file(names##after, link, type, path);                                                 \
  }                                                                                                  \
  PLD_EXPORT int before##GetLinkedCubin##after(Handle link, void* cubin) {                           \
    return get_cubin(names##after, link, cubin);                                                     \
  }                                                                                                  \
  PLD_EXPORT int before##Destroy##after(Handle* link) { return destroy(names##after, link); }
#define PLD_JIT_VERSIONS(x)                                                                              \
  x(nvJitLink, ) x(__nvJitLink, _12_0) x(__nvJitLink, _12_1) x(__nvJitLink, _12_2) x(__nvJitLink, _12_3) \
      x(__nvJitLink, _12_4) x(__nvJitLink, _12_5) x(__nvJitLink, _12_6) x(__nvJitLink, _12_7)            \
          x(__nvJitLink, _12_8) x(__nvJitLink, _12_9) x(__nvJitLink, _13_0) x(__nvJitLink, _13_1)        \
              x(__nvJitLink, _13_2) x(__nvJitLink, _13_3) x(__nvJitLink, _13_4)
PLD_JIT_VERSIONS(PLD_JIT_NAMES)

namespace palladion::cuda::capture {

void* nvjitlink_hook(void* library, const char* name) {
  if (std::strstr(name, "nvJitLink") == nullptr) return nullptr;
  struct Named {
    const char* name;
    void* function;
    JitNames& names;
  };
#define PLD_JIT_HOOK(call, before, after) \
  {#before #call #after, reinterpret_cast<void*>(&before##call##after), names##after},
#define PLD_JIT_HOOKS(before, after)   \
  PLD_JIT_HOOK(AddData, before, after) \
  PLD_JIT_HOOK(AddFile, before, after) \
  PLD_JIT_HOOK(GetLinkedCubin, before, after) PLD_JIT_HOOK(Destroy, before, after)
  static const Named all[] = {PLD_JIT_VERSIONS(PLD_JIT_HOOKS)};
  for (const Named& hook : all) {
    if (std::strcmp(hook.name, name) != 0) continue;
    if (real_dlsym(library, name) == nullptr) return nullptr;
    hook.names.library = library == RTLD_DEFAULT ? nullptr : library;
    return hook.function;
  }
  return nullptr;
}

}  // namespace palladion::cuda::capture
