// What ptxas 13.0 -arch=sm_90 -lineinfo makes of inline assembly as LLVM writes it: `.loc 1 20 4`, a comment,
// the brace; `.loc 1 22 4` to `.loc 1 27 4` before its statements; a comment and `.loc 1 21 4` behind it.
#pragma once

#include <string>

namespace palladion::cuda::cubin::inline_assembly {

using namespace std::string_literals;

inline const std::string ptx =
    ".version 8.3\0"
    ".target sm_90\0"
    ".address_size 64\0"
    "\0"
    ".visible .entry k(\0"
    ".param .u64 k_param_0\0"
    ")\0"
    "{\0"
    ".reg .pred %p<2>;\0"
    ".reg .b32 %r<4>;\0"
    ".reg .b64 %rd<3>;\0"
    "\0"
    "ld.param.b64 %rd1, [k_param_0];\0"
    "\0"
    "ld.global.b32 %r1, [%rd1];\0"
    "\0"
    "\0"
    "{\0"
    ".reg .pred P1;\0"
    "\0"
    "AGAIN:\0"
    "\0"
    "ld.relaxed.gpu.global.b32 %r2, [%rd1];\0"
    "setp.ne.b32 P1, %r2, 0;\0"
    "\0"
    "@P1 bra DONE;\0"
    "\0"
    "bra AGAIN;\0"
    "\0"
    "DONE:\0"
    "st.global.b32 [%rd1+4], %r1;\0"
    "}\0"
    "\0"
    "\0"
    "\0"
    "st.global.b32 [%rd1+8], %r2;\0"
    "ret;\0"
    "}\0"
    ""s;
inline const std::string lines =
    "R\000\000\000\002\000%\000\000\000\001\001\373\016\012\000\001\001\001\001\000\000\000\001/src/d"
    "emo\000\000wait.py\000\001\000\000\000\000\011\002\000\000\000\000\000\000\000\000\004\001\003"
    "\011\001\003\015\002\300\000\001\003\002\002 \001\361\003z\002\020\001\002\200\002\000\001\001"
    ""s;
inline const std::string ptx_lines =
    "9\000\000\000\002\000\020\000\000\000\001\001\373\016\012\000\001\001\001\001\000\000\000\001"
    "\000\000\000\011\002\000\000\000\000\000\000\000\000\004\000\003\007\001\366\003y\002\020\001"
    "\366\367\360\361\364\364\360\002\360\001\000\001\001"
    ""s;
inline const std::string line_relocations =
    "2\000\000\000\000\000\000\000\002\000\000\000\013\000\000\000\000\000\000\000\000\000\000\000"
    ""s;
inline const std::string ptx_line_relocations =
    "\035\000\000\000\000\000\000\000\002\000\000\000\013\000\000\000\000\000\000\000\000\000\000\000"
    ""s;

}  // namespace palladion::cuda::cubin::inline_assembly
