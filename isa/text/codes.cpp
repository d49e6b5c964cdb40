// PLD1001 to PLD1010: reading PTX.
#include "isa/text/codes.h"

namespace palladion::isa {
namespace {

constexpr CodeText table[] = {
    {1001, "the text is not PTX",
     "Something other stands where the grammar wants a directive, an instruction or a punctuation mark.",
     "add.s32 %r1, %r2 %r3;", "add.s32 %r1, %r2, %r3;"},
    {1002, "no instruction of this name",
     "The word before the first dot is no instruction of PTX that is known here.", "adds.s32 %r1, %r2, %r3;",
     "add.s32 %r1, %r2, %r3;"},
    {1003, "modifiers that the instruction does not have",
     "The instruction exists, but not with these words, or not in this order. `palladion explain add` shows "
     "its forms.",
     "add.u32.sat %r1, %r2, %r3;", "add.sat.s32 %r1, %r2, %r3;"},
    {1004, "too few or too many operands", "", "add.s32 %r1, %r2;", "add.s32 %r1, %r2, 1;"},
    {1005, "a name that is not declared",
     "Registers, variables, labels, functions must be declared; names are case-sensitive.",
     "mov.u32 %r9, 1;   // .reg .b32 %r<9>;", ".reg .b32 %r<10>;\nmov.u32 %r9, 1;"},
    {1006, "a name that is declared twice", "", ".reg .b32 %a; .reg .b64 %a;", ".reg .b32 %a; .reg .b64 %b;"},
    {1007, "an initialiser that does not fit its variable",
     "Too many values, a value out of range, or an address where none can be.",
     ".global .u8 a[2] = {1, 2, 3};", ".global .u8 a[3] = {1, 2, 3};"},
    {1008, "a number that PTX does not have",
     "Floats are written 0fXXXXXXXX (f32), 0dXXXXXXXXXXXXXXXX (f64) or with a point; integers must fit 64 "
     "bits.",
     "mov.f32 %f1, 0f3F80;", "mov.f32 %f1, 0f3F800000;"},
    {1009, "a directive that is unknown or out of place", "", ".reqntid 128;   // at module level",
     ".entry k() .reqntid 128 { ... }"},
    {1010, "PTX that is not modelled",
     "Known, but neither the machine nor the printer can do anything with it: texture references, .file "
     "formats of old.",
     "", ""},
};

}  // namespace

std::span<const CodeText> text_codes() { return table; }

}  // namespace palladion::isa
