// Handles and parameters: what a program sets is kept and returned. Nothing here needs a workspace.
#include <new>

#include "cuda/driver/cusolver/handle.h"

namespace palladion::cuda::cusolver {
namespace {

constexpr int version[] = {12, 0, 4};

struct Parameters {};  // of cusolverDnX*: the choice of an algorithm
struct Jacobi {        // of syevj and gesvdj
  double tolerance = 0;
  int sweeps = 100, sorted = 1;
};

template <class H>
Status make(H** out) {
  if (out == nullptr) return invalid_value;
  *out = new (std::nothrow) H;
  return *out != nullptr ? success : alloc_failed;
}
template <class H>
Status drop(H* handle) {
  if (handle == nullptr) return not_initialized;
  return delete handle, success;
}
template <class H, class T>
Status keep(H* handle, T H::* member, T value) {
  return handle == nullptr ? not_initialized : (handle->*member = value, success);
}
template <class H, class T>
Status tell(const H* handle, T H::* member, T* out) {
  if (handle == nullptr) return not_initialized;
  return out == nullptr ? invalid_value : (*out = handle->*member, success);
}

}  // namespace
}  // namespace palladion::cuda::cusolver

using namespace palladion::cuda::cusolver;

PLD_STAND_IN Status cusolverDnCreate(Handle** out) { return make(out); }
PLD_STAND_IN Status cusolverDnDestroy(Handle* h) { return drop(h); }
PLD_STAND_IN Status cusolverDnSetStream(Handle* h, void* stream) { return keep(h, &Handle::stream, stream); }
PLD_STAND_IN Status cusolverDnGetStream(const Handle* h, void** stream) {
  return tell(h, &Handle::stream, stream);
}
PLD_STAND_IN Status cusolverDnSetDeterministicMode(Handle* h, int mode) {
  return keep(h, &Handle::deterministic, mode);
}
PLD_STAND_IN Status cusolverDnGetDeterministicMode(const Handle* h, int* mode) {
  return tell(h, &Handle::deterministic, mode);
}
PLD_STAND_IN Status cusolverDnSetMathMode(Handle* h, int mode) { return keep(h, &Handle::math_mode, mode); }
PLD_STAND_IN Status cusolverDnGetMathMode(const Handle* h, int* mode) {
  return tell(h, &Handle::math_mode, mode);
}

PLD_STAND_IN Status cusolverDnCreateParams(Parameters** out) { return make(out); }
PLD_STAND_IN Status cusolverDnDestroyParams(Parameters* p) { return drop(p); }
#define PLD_JACOBI(NAME, CREATE, DESTROY)                                                                    \
  PLD_STAND_IN Status CREATE(Jacobi** out) { return make(out); }                                             \
  PLD_STAND_IN Status DESTROY(Jacobi* p) { return drop(p); }                                                 \
  PLD_STAND_IN Status NAME##SetTolerance(Jacobi* p, double t) { return keep(p, &Jacobi::tolerance, t); }     \
  PLD_STAND_IN Status NAME##SetMaxSweeps(Jacobi* p, int sweeps) { return keep(p, &Jacobi::sweeps, sweeps); } \
  PLD_STAND_IN Status NAME##SetSortEig(Jacobi* p, int sorted) { return keep(p, &Jacobi::sorted, sorted); }
PLD_JACOBI(cusolverDnXsyevj, cusolverDnCreateSyevjInfo, cusolverDnDestroySyevjInfo)
PLD_JACOBI(cusolverDnXgesvdj, cusolverDnCreateGesvdjInfo, cusolverDnDestroyGesvdjInfo)

PLD_STAND_IN Status cusolverGetVersion(int* out) {
  return out == nullptr ? invalid_value : (*out = version[0] * 1000 + version[1] * 100 + version[2], success);
}
PLD_STAND_IN Status cusolverGetProperty(int type, int* out) {  // libraryPropertyType: major, minor, patch
  if (out == nullptr || type < 0 || type > 2) return invalid_value;
  return *out = version[type], success;
}
