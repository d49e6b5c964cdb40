#pragma once
// The driver below the program: its functions under their own names, found past our own of the same names.
// Types are the ABI of libcuda.so.1; handles are opaque.
#include <cstddef>
#include <cstdint>

#include "cuda/abi/cuda.h"
#include "cuda/abi/loaded.h"

namespace palladion::cuda::capture {

using cuda::LaunchAttributeId;
using cuda::LaunchConfig;
using cuda::Status;
using cuda::success;
using Handle = void*;  // CUfunction, CUkernel, CUmodule, CUlibrary, CUstream
using DevicePointer = uint64_t;

using cuda::find_dlsym;  // past our own dlsym
using cuda::real_dlsym;
// A function of a library (NVRTC, nvJitLink) for which one of our own stands. `library`: what the program
// gave to dlsym; null: the program is linked with it, or loaded a library that is (not for all to see: it is
// looked for among those that are loaded, by the beginning of its name). Null: there is none.
void* function_of_library(void* library, const char* file, const char* name);
// Null: the driver does not have it.
void* driver_function(const char* name);

// `call<Status(Handle)>("cuStreamSynchronize", stream)`; a missing function answers 500, not found.
template <class Function>
struct Call;
template <class... Args>
struct Call<Status(Args...)> {
  static Status to(const char* name, Args... args) {
    auto* const f = reinterpret_cast<Status (*)(Args...)>(driver_function(name));
    return f == nullptr ? 500 : f(args...);
  }
};

}  // namespace palladion::cuda::capture
