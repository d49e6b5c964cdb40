// Handles, and the descriptions of the older functions: what a program sets is kept and returned.
#include <iterator>

#include "cuda/driver/cusparse/handle.h"

namespace palladion::cuda::cusparse {
namespace {

constexpr int version[] = {12, 7, 10};

using Own = Handles<HandleStatus{success, not_initialized, alloc_failed, invalid_value}>;

struct StatusText {
  const char *name, *text;
};
constexpr StatusText statuses[] = {
    {"CUSPARSE_STATUS_SUCCESS", "success"},
    {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {"CUSPARSE_STATUS_ALLOC_FAILED", "allocation failed"},
    {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    {"CUSPARSE_STATUS_MAPPING_ERROR", "mapping error"},
    {"CUSPARSE_STATUS_EXECUTION_FAILED", "execution failed"},
    {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
    {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};
const char* text_of(Status status, const char* StatusText::* member) {
  if (status < 0 || status >= static_cast<int>(std::size(statuses))) return "unrecognized error code";
  return statuses[status].*member;
}

}  // namespace
}  // namespace palladion::cuda::cusparse

using namespace palladion::cuda::cusparse;

PLD_STAND_IN Status cusparseCreate(Handle** out) { return Own::create(out); }
PLD_STAND_IN Status cusparseDestroy(Handle* h) { return Own::destroy(h); }
PLD_STAND_IN Status cusparseSetStream(Handle* h, void* stream) {
  return Own::set(h, &Handle::stream, stream);
}
PLD_STAND_IN Status cusparseGetStream(const Handle* h, void** stream) {
  return Own::get(h, &Handle::stream, stream);
}
PLD_STAND_IN Status cusparseSetPointerMode(Handle* h, int mode) {
  return Own::set(h, &Handle::pointer_mode, mode);
}
PLD_STAND_IN Status cusparseGetPointerMode(const Handle* h, int* mode) {
  return Own::get(h, &Handle::pointer_mode, mode);
}
PLD_STAND_IN Status cusparseGetVersion(const Handle* h, int* out) {
  if (h == nullptr) return not_initialized;
  return out == nullptr ? invalid_value : (*out = version[0] * 1000 + version[1] * 100 + version[2], success);
}
PLD_STAND_IN Status cusparseGetProperty(int type, int* out) { return Own::property(version, type, out); }
PLD_STAND_IN const char* cusparseGetErrorName(Status status) { return text_of(status, &StatusText::name); }
PLD_STAND_IN const char* cusparseGetErrorString(Status status) { return text_of(status, &StatusText::text); }

PLD_STAND_IN Status cusparseCreateMatDescr(Description** out) { return Own::create(out); }
PLD_STAND_IN Status cusparseDestroyMatDescr(Description* d) { return Own::destroy(d); }
#define PLD_DESCRIPTION(NAME, MEMBER)                                   \
  PLD_STAND_IN Status cusparseSetMat##NAME(Description* d, int value) { \
    return Own::set(d, &Description::MEMBER, value);                    \
  }                                                                     \
  PLD_STAND_IN int cusparseGetMat##NAME(const Description* d) { return d == nullptr ? 0 : d->MEMBER; }
PLD_DESCRIPTION(Type, type)
PLD_DESCRIPTION(FillMode, fill)
PLD_DESCRIPTION(DiagType, diagonal)
PLD_DESCRIPTION(IndexBase, base)
