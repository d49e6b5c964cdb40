// Handles: their stream is kept and returned. Nothing here computes (absent.txt).
#include <cstddef>
#include <new>

#include "cuda/driver/stand_in.h"

namespace palladion::cuda::cudnn {
namespace {

using Status = int;  // cudnnStatus_t
constexpr Status success = 0, allocation_failed = 1003, bad_param = 2000, null_pointer = 2002,
                 not_supported = 3000;
constexpr int version[] = {9, 26, 0};  // whose functions absent.txt has

struct Handle {
  void* stream = nullptr;
};

}  // namespace

}  // namespace palladion::cuda::cudnn

using namespace palladion::cuda::cudnn;

PLD_STAND_IN Status cudnnCreate(Handle** out) {
  if (out == nullptr) return null_pointer;
  return (*out = new (std::nothrow) Handle) != nullptr ? success : allocation_failed;
}
PLD_STAND_IN Status cudnnDestroy(Handle* handle) { return delete handle, success; }
PLD_STAND_IN Status cudnnSetStream(Handle* handle, void* stream) {
  return handle == nullptr ? null_pointer : (handle->stream = stream, success);
}
PLD_STAND_IN Status cudnnGetStream(const Handle* handle, void** stream) {
  return handle == nullptr || stream == nullptr ? null_pointer : (*stream = handle->stream, success);
}
PLD_STAND_IN size_t cudnnGetVersion() {
  return size_t{10000} * version[0] + size_t{100} * version[1] + version[2];
}
PLD_STAND_IN size_t cudnnGetCudartVersion() { return 13000; }
PLD_STAND_IN Status cudnnGetProperty(int type, int* out) {  // libraryPropertyType: major, minor, patch level
  if (type < 0 || type > 2) return bad_param;
  return out == nullptr ? null_pointer : (*out = version[type], success);
}
PLD_STAND_IN const char* cudnnGetErrorString(Status status) {
  switch (status) {
    case success:
      return "CUDNN_STATUS_SUCCESS";
    case allocation_failed:
      return "CUDNN_STATUS_ALLOC_FAILED";
    case bad_param:
      return "CUDNN_STATUS_BAD_PARAM";
    case null_pointer:
      return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case not_supported:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    default:
      return "CUDNN_UNKNOWN_STATUS";
  }
}
