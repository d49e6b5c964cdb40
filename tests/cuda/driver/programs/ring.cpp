// A ring of one stage: a producer warp fills it, two consumer warps poll for it, one lane of the first gives
// it back. `broken`: at once, so that the other warp may miss the phase. `right`: when both have it.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

std::string text(bool right) {
  const std::string meet = right ? "bar.sync 1, 64;\n" : "";
  return R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry ring(.param .u64 out) {
  .reg .pred %p<4>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<4>;
  .shared .align 8 .b8 bars[16];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, bars;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra begin;
  mbarrier.init.shared.b64 [%r2], 1;
  mbarrier.init.shared.b64 [%r2+8], 1;
begin:
  bar.sync 0;
  mov.u32 %r3, 0;
  setp.lt.u32 %p2, %r1, 64;
  @%p2 bra consume;
  setp.ne.u32 %p3, %r1, 64;
  @%p3 ret;
produce:
  and.b32 %r4, %r3, 1;
  xor.b32 %r4, %r4, 1;
empty:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r2+8], %r4;
  @!%p3 bra empty;
  mbarrier.arrive.shared.b64 _, [%r2];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p3, %r3, 6;
  @%p3 bra produce;
  ret;
consume:
  and.b32 %r4, %r3, 1;
full:
  mbarrier.try_wait.parity.shared.b64 %p3, [%r2], %r4;
  @!%p3 bra full;
)" + meet +
         R"(  @!%p1 mbarrier.arrive.shared.b64 _, [%r2+8];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p3, %r3, 6;
  @%p3 bra consume;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r5, [%rd1];
  add.u32 %r5, %r5, %r3;
  st.global.u32 [%rd1], %r5;
  ret;
})";
}

}  // namespace

int main(int, char** argv) {
  CUcontext context{};
  CUmodule module{};
  CUfunction kernel{};
  CUdeviceptr out{};
  unsigned values[64] = {};
  void* parameters[] = {&out};
  const std::string ptx = text(std::strcmp(argv[1], "right") == 0);
  if (cuInit(0) != CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != CUDA_SUCCESS) return 3;
  cuCtxSetCurrent(context);
  if (cuModuleLoadData(&module, ptx.c_str()) != CUDA_SUCCESS) return 4;
  cuModuleGetFunction(&kernel, module, "ring");
  cuMemAlloc(&out, sizeof values);
  cuMemsetD8(out, 0, sizeof values);
  for (int i = 0; i < 2; ++i) cuLaunchKernel(kernel, 1, 1, 1, 96, 1, 1, 0, nullptr, parameters, nullptr);
  if (cuMemcpyDtoH(values, out, sizeof values) != CUDA_SUCCESS) return 5;
  for (const unsigned value : values)
    if (value != 12) return 6;  // a schedule that was tried has left something
  return 0;
}
