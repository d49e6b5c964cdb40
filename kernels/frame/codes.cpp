// PLD50xx: building and calling kernels.
#include "kernels/frame/codes.h"

namespace palladion::kernels {
namespace {

constexpr isa::CodeText table[] = {
    {5001, "a kernel with invalid sizes, settings or arrays",
     "The sizes, settings or arrays break a rule of the kernel itself: a tile that does not divide a size, "
     "an array of another shape.",
     "palladion run vector_add --shape n=1000 --set tile=1024",
     "palladion run vector_add --shape n=2048 --set tile=1024"},
    {5002, "a tensor map that the driver would refuse",
     "A tensor map's box, strides, base address or swizzle breaks a rule of cuTensorMapEncodeTiled. The "
     "simulator holds maps to the same rules, so "
     "that what runs here runs on the device.",
     "--arg tmap:f16[64,64]@0,box=64x64,swizzle=32   (the inner box is 128 bytes, wider than the swizzle)",
     "--arg tmap:f16[64,64]@0,box=64x64,swizzle=128"},
    {5003, "a size or setting that the kernel does not have",
     "`palladion list` shows each kernel's sizes and settings with their defaults.",
     "palladion run vector_add --shape m=512", "palladion run vector_add --shape n=512"},
    {5004, "a kernel's description that cannot be used",
     "A kernel without name or function, two kernels of one name, a function of the description that throws, "
     "or a reference that does not give one array for each output, of its type.",
     "PALLADION_KERNELS(Spec(\"add\", \"a + b\", add), Spec(\"add\", \"a - b\", subtract))",
     "PALLADION_KERNELS(Spec(\"add\", \"a + b\", add), Spec(\"subtract\", \"a - b\", subtract))"},
    {5005, "a captured buffer whose addresses are taken",
     "The buffers of a bundle lie where they lay on the device. Two of them overlap, or one lies where the "
     "machine has put something of its own.",
     "two buffers of bundle.json at 0x7f0000000000", "each buffer at an address of its own"},
};

}  // namespace

std::span<const isa::CodeText> kernel_codes() { return table; }

}  // namespace palladion::kernels
