// A program that compiles a kernel with NVRTC for an architecture, and loads what it is given as machine
// code.
#include <cuda.h>
#include <nvrtc.h>

#include <cstdio>
#include <vector>

#define CHECK(call) \
  if (const int e = call) return std::printf("%s: %d\n", #call, e), 3

int main() {
  const char* const source = "extern \"C\" __global__ void twice(int* p) { p[threadIdx.x] *= 2; }";
  const char* const options[] = {"--gpu-architecture=sm_90"};
  nvrtcProgram program;
  CHECK(nvrtcCreateProgram(&program, source, "twice.cu", 0, nullptr, nullptr));
  CHECK(nvrtcCompileProgram(program, 1, options));
  size_t bytes = 0;
  CHECK(nvrtcGetCUBINSize(program, &bytes));
  std::vector<char> image(bytes);
  CHECK(nvrtcGetCUBIN(program, image.data()));

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
