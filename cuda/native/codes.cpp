// PLD8xxx: a real device.
#include "cuda/native/codes.h"

namespace palladion::cuda::native {
namespace {

constexpr isa::CodeText table[] = {
    {8001, "no CUDA driver",
     "libcuda.so.1 is not there, is the toolkit's link-time stub, or does not start. Everything but `--on "
     "device` works without it.",
     "", ""},
    {8002, "no device", "The driver runs but shows no GPU, or not the one asked for.", "", ""},
    {8003, "a call of the driver failed",
     "The message has the driver's own words: out of memory, a lost device, ...", "", ""},
    {8004, "an invalid launch",
     "Grid, block, cluster, shared memory or parameters do not fit the kernel or the device. Checked before "
     "the launch.",
     "", ""},
    {8005, "the driver's compiler refused the PTX",
     "The message is ptxas' own, with the line of the PTX and the author's line where the PTX carries .loc.",
     "", ""},
    {8006, "the kernel failed while it ran",
     "An illegal address, a trap, a misaligned access, ... The device is lost to this process. Run the same "
     "on the simulator: it says where and why.",
     "", ""},
    {8007, "the kernel did not end in time",
     "A hang on the device. Run the same on the simulator: it says which warps wait on what.", "", ""},
    {8008, "an invalid tensor map",
     "A rule of cuTensorMapEncodeTiled is broken; the message names the field and the limit.", "", ""},
};

}  // namespace

std::span<const isa::CodeText> device_codes() { return table; }

}  // namespace palladion::cuda::native
