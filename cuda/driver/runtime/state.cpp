#include "cuda/driver/runtime/state.h"

#include <atomic>

namespace palladion::cuda::runtime {
namespace {

thread_local Error last = success;

}  // namespace

Error ended(Status status) {
  if (status != success) last = status;
  return status;
}

namespace {
std::atomic<bool> lost = false;
constexpr Status devices_unavailable = 46;
}  // namespace

void lose_device() { lost = true; }

Status ready() {
  if (lost) return devices_unavailable;
  if (const Status begun = cuInit(0); begun != success) return begun;
  void* context = nullptr;
  cuCtxGetCurrent(&context);
  if (context == nullptr) {
    const Status status = cuDevicePrimaryCtxRetain(&context, 0);
    if (status != success) return status;
    cuCtxSetCurrent(context);
  }
  return success;
}

Error unsupported(const char* what) { return palladion_exec_unsupported(what); }

}  // namespace palladion::cuda::runtime

using namespace palladion::cuda::runtime;

PLD_RUNTIME cudaGetLastError() {
  const Error e = last;
  last = success;
  return e;
}
PLD_RUNTIME cudaPeekAtLastError() { return last; }
