// PLD1020 to PLD1034: verifying a module.
#include "isa/verify/codes.h"

namespace palladion::isa {
namespace {

constexpr CodeText table[] = {
    {1020, "an operand of the wrong kind",
     "A register where an address belongs, an immediate where a register must be written, ...",
     "ld.global.u32 %r1, %rd1;", "ld.global.u32 %r1, [%rd1];"},
    {1021, "a register of the wrong width", "", "mov.u64 %r1, 0;   // %r1 is .b32", "mov.u64 %rd1, 0;"},
    {1022, "a register of the wrong class", "Integer and float registers mix only through .b types.",
     "add.f32 %f1, %r1, %r2;   // %r1 is .s32", "cvt.rn.f32.s32 %f2, %r1;\nadd.f32 %f1, %f2, %f3;"},
    {1023, "an immediate out of range", "", "setmaxnreg.inc.sync.aligned.u32 500;",
     "setmaxnreg.inc.sync.aligned.u32 240;"},
    {1024, "an instruction that the module's .target does not have",
     "sm_90a has wgmma and setmaxnreg; plain sm_90 has not.", ".target sm_80\nmbarrier.try_wait...",
     ".target sm_90a"},
    {1025, "an instruction that the module's .version does not have", "",
     ".version 7.0\nwgmma.fence.sync.aligned;", ".version 8.0\nwgmma.fence.sync.aligned;"},
    {1026, "a label that cannot be reached from here", "Labels are local to their function and scope.",
     "bra $other_function;", "bra $L1;"},
    {1027, "a state space that does not fit",
     "A variable of one space used as an address of another, or a space where it cannot be declared.",
     "ld.shared.u32 %r1, [global_variable];", "ld.global.u32 %r1, [global_variable];"},
    {1028, "a vector of the wrong length", "", "ld.global.v4.u32 {%r1, %r2}, [%rd1];",
     "ld.global.v2.u32 {%r1, %r2}, [%rd1];"},
    {1029, "a call that does not fit the function",
     "The number or the types of arguments or results differ from the declaration.", "", ""},
    {1030, "launch directives that contradict each other",
     "Such as .maxntid beside .reqntid, or a cluster larger than .maxclusterrank.", "", ""},
    {1031, "more memory than there is",
     "Static shared memory beyond 48 KiB, too large a parameter block, ...", ".shared .b8 a[60000];",
     ".extern .shared .b8 a[];   // sized by the launch"},
    {1032, "a definition that exists twice", "Two functions or entries of one name.", "", ""},
    {1033, "a module that contradicts itself",
     "Made by a program, not by text: an index that points nowhere. A bug of what built the module.", "", ""},
    {1034, "a guard that is no predicate", "", "@%r1 bra $L;", "setp.ne.s32 %p1, %r1, 0;\n@%p1 bra $L;"},
    {1035, "a module for another chip",
     "Code for sm_90 runs on 9.0 and every later chip, code for sm_90a on 9.0 alone, code for sm_100f on the "
     "family "
     "of 10.0. --arch names the chip.",
     ".target sm_100a   // on an H200", ".target sm_90a"},
};

}  // namespace

std::span<const CodeText> verify_codes() { return table; }

}  // namespace palladion::isa
