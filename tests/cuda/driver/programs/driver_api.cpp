// A program of the driver API: doubles an array, or with an argument stores behind its end and expects the
// error.
#include <cuda.h>

#include <cstdio>

static const char ptx[] = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 p, .param .u32 beyond)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [beyond];
  mov.u32 %r2, %tid.x;
  add.u32 %r2, %r2, %r1;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  add.u32 %r3, %r3, %r3;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

#define CHECK(call) \
  if (const CUresult e = call) return std::printf("%s: %d\n", #call, int(e)), 3

int main(int argc, char**) {
  CUdevice device;
  CUcontext context;
  CUmodule module;
  CUfunction twice;
  CUdeviceptr p;
  unsigned values[32], beyond = argc > 1 ? 1 : 0;
  for (unsigned i = 0; i < 32; ++i) values[i] = i;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  CHECK(cuModuleLoadData(&module, ptx));
  CHECK(cuModuleGetFunction(&twice, module, "twice"));
  CHECK(cuMemAlloc(&p, sizeof values));
  CHECK(cuMemcpyHtoD(p, values, sizeof values));
  void* params[] = {&p, &beyond};
  CHECK(cuLaunchKernel(twice, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr));
  const CUresult ended = cuCtxSynchronize();
  if (beyond != 0) return ended == CUDA_ERROR_ILLEGAL_ADDRESS ? 0 : 4;
  CHECK(ended);
  CHECK(cuMemcpyDtoH(values, p, sizeof values));
  for (unsigned i = 0; i < 32; ++i)
    if (values[i] != 2 * i) return 5;
  return 0;
}
