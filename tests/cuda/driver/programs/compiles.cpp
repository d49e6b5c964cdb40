// A program that opens NVRTC or nvJitLink by itself, makes machine code of its kernel, and runs that: the
// word says by which. `race`: the kernel of NVRTC, with a race in its third line.
#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call) \
  if (const int e = call) return std::printf("%s: %d\n", #call, e), 3

using Handle = void*;

template <class F>
F* function(void* library, const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

int by_nvrtc(std::string& image, const char* source) {
  void* const library = dlopen("libnvrtc.so.13", RTLD_NOW);
  if (library == nullptr) return 4;
  Handle program = nullptr;
  const char* const options[] = {"--gpu-architecture=sm_90"};
  CHECK(function<int(Handle*, const char*, const char*, int, const char**, const char**)>(
      library, "nvrtcCreateProgram")(&program, source, "in_no_file.cu", 0, nullptr, nullptr));
  CHECK(function<int(Handle, int, const char* const*)>(library, "nvrtcCompileProgram")(program, 1, options));
  size_t bytes = 0;
  CHECK(function<int(Handle, size_t*)>(library, "nvrtcGetCUBINSize")(program, &bytes));
  image.resize(bytes);
  CHECK(function<int(Handle, char*)>(library, "nvrtcGetCUBIN")(program, image.data()));
  return function<int(Handle*)>(library, "nvrtcDestroyProgram")(&program);
}

int by_nvjitlink(std::string& image) {
  void* const library = dlopen("libnvJitLink.so.13", RTLD_NOW);
  if (library == nullptr) return 4;
  const std::string head = ".version 8.7\n.target sm_90\n.address_size 64\n";
  const std::string parts[] = {head +
                                   ".extern .global .align 4 .u32 factor;\n.visible .entry twice(.param .u64 "
                                   "p) {\n.reg .b64 %d<3>; .reg .b32 "
                                   "%r<4>;\nld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, "
                                   "%r1, 4; add.s64 %d1, %d1, %d2;\n"
                                   "ld.global.u32 %r2, [factor]; ld.global.u32 %r3, [%d1]; mul.lo.s32 %r3, "
                                   "%r3, %r2; st.global.u32 [%d1], "
                                   "%r3; ret;\n}\n",
                               head + ".visible .global .align 4 .u32 factor = 2;\n"};
  Handle link = nullptr;
  const char* options[] = {"-arch=sm_90"};
  CHECK(function<int(Handle*, unsigned, const char**)>(library, "__nvJitLinkCreate_13_0")(&link, 1, options));
  for (const std::string& part : parts)
    CHECK(function<int(Handle, int, const void*, size_t, const char*)>(library, "__nvJitLinkAddData_13_0")(
        link, 2, part.data(), part.size(), "part"));
  CHECK(function<int(Handle)>(library, "__nvJitLinkComplete_13_0")(link));
  size_t bytes = 0;
  CHECK(function<int(Handle, size_t*)>(library, "__nvJitLinkGetLinkedCubinSize_13_0")(link, &bytes));
  image.resize(bytes);
  CHECK(function<int(Handle, void*)>(library, "__nvJitLinkGetLinkedCubin_13_0")(link, image.data()));
  return function<int(Handle*)>(library, "__nvJitLinkDestroy_13_0")(&link);
}

int main(int, char** words) {
  const std::string how = words[1];
  std::string image;
  const char* const right = "extern \"C\" __global__ void twice(int* p) { p[threadIdx.x] *= 2; }";
  const char* const race =
      "extern \"C\" __global__ void twice(int* p) {\n"
      "  const int old = p[threadIdx.x];\n"
      "  p[0] = old;  // every thread\n"
      "  __syncthreads();\n"
      "  p[threadIdx.x] = 2 * threadIdx.x;\n}\n";
  CHECK(how == "nvjitlink" ? by_nvjitlink(image) : by_nvrtc(image, how == "race" ? race : right));
  if (image.compare(0, 4, "\177ELF") != 0) return 6;

  CUcontext context;
  CUmodule module;
  CUfunction twice;
  CUdeviceptr p;
  int values[32];
  for (int i = 0; i < 32; ++i) values[i] = i;
  CHECK(cuInit(0));
  CHECK(cuCtxCreate(&context, nullptr, 0, 0));
  CHECK(cuModuleLoadData(&module, image.data()));
  CHECK(cuModuleGetFunction(&twice, module, "twice"));
  CHECK(cuMemAlloc(&p, sizeof values));
  CHECK(cuMemcpyHtoD(p, values, sizeof values));
  void* params[] = {&p};
  CHECK(cuLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr));
  CHECK(cuMemcpyDtoH(values, p, sizeof values));
  for (int i = 0; i < 32; ++i)
    if (values[i] != 2 * i) return 5;
  return 0;
}
