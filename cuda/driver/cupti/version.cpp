// The profiler's interface: which version it has. Nothing is measured (absent.txt).
#include <cstdint>

#include "cuda/driver/stand_in.h"

namespace palladion::cuda::cupti {
namespace {
using Status = int;  // CUptiResult
constexpr Status success = 0, invalid_parameter = 1, not_supported = 27;
constexpr uint32_t version = 130000;  // CUPTI_API_VERSION
}  // namespace

}  // namespace palladion::cuda::cupti

using namespace palladion::cuda::cupti;

PLD_STAND_IN Status cuptiGetVersion(uint32_t* out) {
  return out == nullptr ? invalid_parameter : (*out = version, success);
}
PLD_STAND_IN Status cuptiGetResultString(Status status, const char** out) {
  if (out == nullptr) return invalid_parameter;
  *out = status == success         ? "CUPTI_SUCCESS"
         : status == not_supported ? "CUPTI_ERROR_NOT_SUPPORTED"
                                   : "CUPTI_ERROR_INVALID_PARAMETER";
  return success;
}
