#include "cuda/native/codes.h"

namespace palladion::cuda::native {
namespace {

constexpr isa::CodeText table[] = {
    isa::text_of(Code::no_driver, "no CUDA driver",
                 "libcuda.so.1 is not there, is the toolkit's link-time stub, or does not start. Everything "
                 "but `--on device` works without it."),
    isa::text_of(Code::no_device, "no device", "The driver runs but shows no GPU, or not the one asked for."),
    isa::text_of(Code::driver_call_failed, "a call of the driver failed",
                 "The message has the driver's own words: out of memory, a lost device, ..."),
    isa::text_of(Code::bad_launch, "an invalid launch",
                 "Grid, block, cluster, shared memory or parameters do not fit the kernel or the device. "
                 "Checked before the launch."),
    isa::text_of(Code::ptx_refused, "the driver's compiler refused the PTX",
                 "The message is ptxas' own, with the line of the PTX and the author's line where the PTX "
                 "carries .loc."),
    isa::text_of(Code::kernel_failed, "the kernel failed while it ran",
                 "An illegal address, a trap, a misaligned access, ... The device is lost to this process. "
                 "Run the same on the simulator: it says where and why."),
    isa::text_of(Code::kernel_timed_out, "the kernel did not end in time",
                 "A hang on the device. Run the same on the simulator: it says which warps wait on what."),
    isa::text_of(Code::bad_tensor_map, "an invalid tensor map",
                 "A rule of cuTensorMapEncodeTiled is broken; the message names the field and the limit."),
};

}  // namespace

std::span<const isa::CodeText> device_codes() { return table; }

}  // namespace palladion::cuda::native
