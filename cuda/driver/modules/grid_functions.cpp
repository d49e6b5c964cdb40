#include "cuda/driver/modules/grid_functions.h"

#include <algorithm>

#include "isa/text/parse.h"

namespace palladion::cuda::driver {
namespace {

// cudaCGGetIntrinsicHandle(scope) and cudaCGSynchronize(handle, flags) of cuda_device_runtime_api.h, for the
// grid, which is scope 1: a handle is the address of the launch's workspace, whose word at 4 is the barrier
// (sim/machine/state/grid_workspace.h). The barrier is that of cooperative_groups: each CTA adds 1, the first
// one what turns the highest bit, for which all wait.
constexpr std::string_view definitions = R"(
.version 8.0
.target sm_70
.address_size 64
.weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  .reg .pred %p<2>;
  ld.param.b32 %r1, [scope];
  mov.u64 %rd1, 0;
  setp.ne.s32 %p1, %r1, 1;
  @%p1 bra done;
  mov.u32 %r2, %envreg2;
  mov.u32 %r3, %envreg1;
  mov.b64 %rd1, {%r2, %r3};
done:
  st.param.b64 [handle], %rd1;
  ret;
}
.weak .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags) {
  .reg .b32 %r<16>;
  .reg .b64 %rd<2>;
  .reg .pred %p<4>;
  ld.param.b64 %rd1, [handle];
  setp.ne.s64 %p1, %rd1, 0;
  @%p1 bra there;
  mov.u32 %r1, 1;
  st.param.b32 [error], %r1;
  ret;
there:
  barrier.sync 0;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  or.b32 %r1, %r1, %r2;
  or.b32 %r1, %r1, %r3;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 bra over;
  mov.u32 %r1, %nctaid.x;
  mov.u32 %r2, %nctaid.y;
  mov.u32 %r3, %nctaid.z;
  mul.lo.s32 %r1, %r1, %r2;
  mul.lo.s32 %r1, %r1, %r3;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %ctaid.y;
  mov.u32 %r6, %ctaid.z;
  or.b32 %r4, %r4, %r5;
  or.b32 %r4, %r4, %r6;
  setp.eq.s32 %p2, %r4, 0;
  sub.s32 %r7, -2147483647, %r1;
  selp.b32 %r8, %r7, 1, %p2;
  add.s64 %rd1, %rd1, 4;
  atom.add.release.gpu.u32 %r9, [%rd1], %r8;
wait:
  ld.acquire.gpu.u32 %r10, [%rd1];
  xor.b32 %r11, %r10, %r9;
  setp.gt.s32 %p3, %r11, -1;
  @%p3 bra wait;
over:
  barrier.sync 0;
  mov.u32 %r12, 0;
  st.param.b32 [error], %r12;
  ret;
}
)";

}  // namespace

std::unique_ptr<isa::Module> grid_functions_for(const isa::Module& module) {
  const bool asked = std::ranges::any_of(module.functions, [](const isa::Function& f) {
    return !f.defined && (f.name == "cudaCGGetIntrinsicHandle" || f.name == "cudaCGSynchronize");
  });
  if (!asked) return nullptr;
  auto parsed = isa::parse(definitions);
  return std::make_unique<isa::Module>(std::move(parsed.value()));
}

}  // namespace palladion::cuda::driver
