#include "report/explain/capture_codes.h"

namespace palladion::report {
namespace {

constexpr isa::CodeText capture_table[] = {
    {8101, "a launch that reaches too much memory to be recorded",
     "Its bundle would hold more bytes than --max-bytes allows: every allocation to which a parameter, a "
     "variable or "
     "a recorded buffer points is recorded whole. Raise --max-bytes, or make the program allocate less at "
     "once "
     "(frameworks that take a pool of memory have settings for that).",
     "", ""},
    {8102, "a recorded kernel without PTX",
     "The program loaded machine code only. The bundle holds the cubin; `palladion capture -o DIR --ptx-dir "
     "DIR` looks "
     "for PTX that assembles to the same code.",
     "", ""},
    {8103, "a bundle cannot be written",
     "The message has the file and the reason: no room, no permission, ...", "", ""},
    {8104, "a texture or surface object that is not recorded",
     "The message says what is not modelled: a block-compressed or planar format, a sparse array, ... The "
     "bundle names "
     "the object, and a replay stops when the kernel uses it.",
     "", ""},
    {8105, "the kernels of a CUDA graph are not recorded",
     "A graph with a wanted kernel is launched node by node. The message names what forbids it here: a node "
     "that cannot "
     "be launched alone, or a change of the executable graph that is not followed.",
     "", ""},
    {8106, "the recorded launch failed",
     "The driver's error is in the bundle, with the memory before the launch: `palladion run` and `palladion "
     "check` "
     "replay it and say where and why.",
     "", ""},
    {8107, "--kernel is not a regular expression",
     "It is a POSIX extended regular expression, as of `grep -E`.", "", ""},
    {8108, "a program that was linked with machine code",
     "cuLinkComplete or nvJitLink made the machine code of several inputs. The bundle holds those that are "
     "PTX; "
     "a replay stops at a call of a function of another.",
     "", ""},
};

}  // namespace

std::span<const isa::CodeText> capture_codes() { return capture_table; }

}  // namespace palladion::report
