// Handles, whose stream is kept and returned, and versions.
#include <cstddef>
#include <cstdio>
#include <new>

#include "cuda/driver/cudnn/handle.h"

using namespace palladion::cuda::cudnn;

namespace {
constexpr int version[] = {9, 26, 0};  // whose functions absent.txt has
}

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
      return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
    case not_finalized:
      return "CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED";
    case bad_param:
      return "CUDNN_STATUS_BAD_PARAM";
    case null_pointer:
      return "CUDNN_STATUS_BAD_PARAM_NULL_POINTER";
    case not_supported:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case not_supported_graph:
      return "CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN";
    case execution_failed:
      return "CUDNN_STATUS_EXECUTION_FAILED";
    default:
      return "CUDNN_UNKNOWN_STATUS";
  }
}
// Of the last function that failed: what is not there has been said on stderr.
PLD_STAND_IN void cudnnGetLastErrorString(char* message, size_t size) {
  if (message != nullptr && size > 0) std::snprintf(message, size, "%s", "");
}
// Parts of one library cannot differ.
PLD_STAND_IN Status cudnnGraphVersionCheck() { return success; }
PLD_STAND_IN Status cudnnOpsVersionCheck() { return success; }
PLD_STAND_IN Status cudnnCnnVersionCheck() { return success; }
PLD_STAND_IN Status cudnnAdvVersionCheck() { return success; }
