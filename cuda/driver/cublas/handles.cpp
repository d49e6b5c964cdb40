// Handles: what a program sets is kept and returned.
#include <array>

#include "cuda/driver/cublas/handle.h"
#include "cuda/driver/stand_in_handles.h"

namespace palladion::cuda::cublas {
namespace {

constexpr int version[] = {13, 1, 0}, cudart_version = 13000;

using Own = Handles<HandleStatus{success, not_initialized, alloc_failed, invalid_value}>;

constexpr int number() { return version[0] * 10000 + version[1] * 100 + version[2]; }

struct Text {
  Status status;
  const char *name, *text;
};
constexpr std::array<Text, 10> texts = {{
    {0, "CUBLAS_STATUS_SUCCESS", "success"},
    {1, "CUBLAS_STATUS_NOT_INITIALIZED", "no handle was created"},
    {3, "CUBLAS_STATUS_ALLOC_FAILED", "out of memory"},
    {7, "CUBLAS_STATUS_INVALID_VALUE", "an argument is invalid"},
    {8, "CUBLAS_STATUS_ARCH_MISMATCH", "the device lacks a feature"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR", "memory cannot be accessed"},
    {13, "CUBLAS_STATUS_EXECUTION_FAILED", "a kernel failed"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR", "internal error"},
    {15, "CUBLAS_STATUS_NOT_SUPPORTED", "not supported"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR", "licence error"},
}};

const char* described(Status status, const char* Text::* member) {
  for (const Text& t : texts)
    if (t.status == status) return t.*member;
  return "unknown status";
}

// The light handle of cublasLt has no settings.
struct LightHandle {};

}  // namespace

}  // namespace palladion::cuda::cublas

using namespace palladion::cuda::cublas;

PLD_STAND_IN Status cublasCreate_v2(Handle** out) { return Own::create(out); }
PLD_STAND_IN Status cublasDestroy_v2(Handle* handle) { return Own::destroy(handle); }
PLD_STAND_IN Status cublasGetVersion_v2(const Handle*, int* value) {
  if (value == nullptr) return invalid_value;
  *value = number();
  return success;
}
PLD_STAND_IN Status cublasGetProperty(int type, int* value) { return Own::property(version, type, value); }
PLD_STAND_IN size_t cublasGetCudartVersion() { return cudart_version; }

PLD_STAND_IN Status cublasSetStream_v2(Handle* handle, void* stream) {
  if (handle == nullptr) return not_initialized;
  handle->stream = stream;
  handle->workspace = nullptr;  // as documented: back to the library's own
  handle->workspace_bytes = 0;
  return success;
}
PLD_STAND_IN Status cublasGetStream_v2(const Handle* handle, void** stream) {
  return Own::get(handle, &Handle::stream, stream);
}
PLD_STAND_IN Status cublasSetWorkspace_v2(Handle* handle, void* workspace, size_t bytes) {
  if (handle == nullptr) return not_initialized;
  handle->workspace = workspace;
  handle->workspace_bytes = bytes;
  return success;
}
PLD_STAND_IN Status cublasSetPointerMode_v2(Handle* h, int value) {
  return Own::set(h, &Handle::pointer_mode, value);
}
PLD_STAND_IN Status cublasGetPointerMode_v2(const Handle* h, int* value) {
  return Own::get(h, &Handle::pointer_mode, value);
}
PLD_STAND_IN Status cublasSetAtomicsMode(Handle* h, int value) {
  return Own::set(h, &Handle::atomics_mode, value);
}
PLD_STAND_IN Status cublasGetAtomicsMode(const Handle* h, int* value) {
  return Own::get(h, &Handle::atomics_mode, value);
}
PLD_STAND_IN Status cublasSetMathMode(Handle* h, int value) { return Own::set(h, &Handle::math_mode, value); }
PLD_STAND_IN Status cublasGetMathMode(const Handle* h, int* value) {
  return Own::get(h, &Handle::math_mode, value);
}
PLD_STAND_IN Status cublasSetSmCountTarget(Handle* h, int value) {
  return Own::set(h, &Handle::sm_count, value);
}
PLD_STAND_IN Status cublasGetSmCountTarget(const Handle* h, int* value) {
  return Own::get(h, &Handle::sm_count, value);
}

PLD_STAND_IN Status cublasLtCreate(LightHandle** out) { return Own::create(out); }
PLD_STAND_IN Status cublasLtDestroy(LightHandle* handle) { return Own::destroy(handle); }
PLD_STAND_IN Status cublasLtGetProperty(int type, int* value) { return Own::property(version, type, value); }
PLD_STAND_IN size_t cublasLtGetVersion() { return number(); }
PLD_STAND_IN size_t cublasLtGetCudartVersion() { return cudart_version; }
PLD_STAND_IN const char* cublasGetStatusName(Status status) { return described(status, &Text::name); }
PLD_STAND_IN const char* cublasGetStatusString(Status status) { return described(status, &Text::text); }
PLD_STAND_IN const char* cublasLtGetStatusName(Status status) { return described(status, &Text::name); }
PLD_STAND_IN const char* cublasLtGetStatusString(Status status) { return described(status, &Text::text); }
