// What nvcc 13.0 -arch=sm_90 -lineinfo makes of this file, /src/demo/small.cu, section by section:
//
//   __device__ int third(const int* p, int i) {
//     return p[i] +
//            p[i + 3];
//   }
//   extern "C" __global__ void k(const int* p, int* q) {
//     const int a = third(p, threadIdx.x);
//     q[threadIdx.x] = a;
//     q[threadIdx.x + 64] = third(p, a);
//   }
#pragma once

#include <string>

namespace palladion::cuda::cubin::sample {

using namespace std::string_literals;

inline const std::string ptx =
    "\0"
    "\0"
    "\0"
    "\0"
    "\0"
    "\0"
    "\0"
    "\0"
    ".version 9.0\0"
    ".target sm_90\0"
    ".address_size 64\0"
    "\0"
    "\0"
    "\0"
    ".visible .entry k(\0"
    ".param .u64 k_param_0,\0"
    ".param .u64 k_param_1\0"
    ")\0"
    "{\0"
    ".reg .b32 \t%r<8>;\0"
    ".reg .b64 \t%rd<11>;\0"
    "\0"
    "\0"
    "\0"
    "ld.param.u64 \t%rd1, [k_param_0];\0"
    "ld.param.u64 \t%rd2, [k_param_1];\0"
    "\0"
    "cvta.to.global.u64 \t%rd3, %rd2;\0"
    "cvta.to.global.u64 \t%rd4, %rd1;\0"
    "mov.u32 \t%r1, %tid.x;\0"
    "\0"
    "\0"
    "mul.wide.s32 \t%rd5, %r1, 4;\0"
    "add.s64 \t%rd6, %rd4, %rd5;\0"
    "ld.global.u32 \t%r2, [%rd6];\0"
    "\0"
    "ld.global.u32 \t%r3, [%rd6+12];\0"
    "add.s32 \t%r4, %r3, %r2;\0"
    "\0"
    "mul.wide.u32 \t%rd7, %r1, 4;\0"
    "add.s64 \t%rd8, %rd3, %rd7;\0"
    "st.global.u32 \t[%rd8], %r4;\0"
    "\0"
    "\0"
    "mul.wide.s32 \t%rd9, %r4, 4;\0"
    "add.s64 \t%rd10, %rd4, %rd9;\0"
    "ld.global.u32 \t%r5, [%rd10];\0"
    "\0"
    "ld.global.u32 \t%r6, [%rd10+12];\0"
    "add.s32 \t%r7, %r6, %r5;\0"
    "\0"
    "st.global.u32 \t[%rd8+256], %r7;\0"
    "\0"
    "ret;\0"
    "\0"
    "}\0"
    "\0"
    ".section\t.debug_str\0"
    "{\0"
    "$L__info_string0:\0"
    "\0"
    "\0"
    "}\0"s;
inline const std::string lines =
    "\236\0\0\0\002\0/\0\0\0\001\001\373\016\012\0\001\001\001\001\0\0\0\001/src/demo\0\0small.cu"
    "\0\001\235\224\252\330\006\352\001\0\0\0\0\0\0\011\002\0\0\0\0\0\0\0\0\004\001\003\004\001"
    "\360\002\020\001\0\003\220\003\0\003|\001\0\003\220\0\0\003\005\002 \001\0\003\220\003\0\352"
    "\003\001\002 \001\0\003\220\0\0\363\0\003\220\003\0\353\0\003\220\0\0\364\0\003\220\012\0"
    "\003z\001\0\003\220\0\0\364\0\003\220\012\0\352\360\0\003\220\0\0\003\005\002 \001\360\002"
    "\200\002\0\001\001"s;
inline const std::string ptx_lines =
    "L\0\0\0\002\0\020\0\0\0\001\001\373\016\012\0\001\001\001\001\0\0\0\001\0\0\0\011\002\0\0\0"
    "\0\0\0\0\0\004\0\003\022\001\003\013\002\020\001\363\003q\002\020\001\003\026\002\020\001"
    "\003y\002\020\001\360\361\363\354\367\353\364\361\360\361\361\002\200\002\0\001\001"s;
inline const std::string line_relocations =
    "<\0\0\0\0\0\0\0\002\0\0\0\014\0\0\0\0\0\0\0\0\0\0\0"s;
inline const std::string ptx_line_relocations =
    "\035\0\0\0\0\0\0\0\002\0\0\0\014\0\0\0\0\0\0\0\0\0\0\0"s;
inline const std::string names =
    "_Z5thirdPKii\0"s;

}  // namespace palladion::cuda::cubin::sample
