// Handles and parameters: what a program sets is kept and returned. Nothing here needs a workspace.
#include "cuda/driver/cusolver/handle.h"
#include "cuda/driver/stand_in_handles.h"

namespace palladion::cuda::cusolver {
namespace {

constexpr int version[] = {12, 0, 4};

struct Parameters {};  // of cusolverDnX*: the choice of an algorithm
struct Jacobi {        // of syevj and gesvdj
  double tolerance = 0;
  int sweeps = 100, sorted = 1;
};

using Own = Handles<HandleStatus{success, not_initialized, alloc_failed, invalid_value}>;

}  // namespace
}  // namespace palladion::cuda::cusolver

using namespace palladion::cuda::cusolver;

PLD_STAND_IN Status cusolverDnCreate(Handle** out) { return Own::create(out); }
PLD_STAND_IN Status cusolverDnDestroy(Handle* h) { return Own::destroy(h); }
PLD_STAND_IN Status cusolverDnSetStream(Handle* h, void* stream) {
  return Own::set(h, &Handle::stream, stream);
}
PLD_STAND_IN Status cusolverDnGetStream(const Handle* h, void** stream) {
  return Own::get(h, &Handle::stream, stream);
}
PLD_STAND_IN Status cusolverDnSetDeterministicMode(Handle* h, int mode) {
  return Own::set(h, &Handle::deterministic, mode);
}
PLD_STAND_IN Status cusolverDnGetDeterministicMode(const Handle* h, int* mode) {
  return Own::get(h, &Handle::deterministic, mode);
}
PLD_STAND_IN Status cusolverDnSetMathMode(Handle* h, int mode) {
  return Own::set(h, &Handle::math_mode, mode);
}
PLD_STAND_IN Status cusolverDnGetMathMode(const Handle* h, int* mode) {
  return Own::get(h, &Handle::math_mode, mode);
}

PLD_STAND_IN Status cusolverDnCreateParams(Parameters** out) { return Own::create(out); }
PLD_STAND_IN Status cusolverDnDestroyParams(Parameters* p) { return Own::destroy(p); }
#define PLD_JACOBI(NAME, CREATE, DESTROY)                                                                    \
  PLD_STAND_IN Status CREATE(Jacobi** out) { return Own::create(out); }                                      \
  PLD_STAND_IN Status DESTROY(Jacobi* p) { return Own::destroy(p); }                                         \
  PLD_STAND_IN Status NAME##SetTolerance(Jacobi* p, double t) { return Own::set(p, &Jacobi::tolerance, t); } \
  PLD_STAND_IN Status NAME##SetMaxSweeps(Jacobi* p, int sweeps) {                                            \
    return Own::set(p, &Jacobi::sweeps, sweeps);                                                             \
  }                                                                                                          \
  PLD_STAND_IN Status NAME##SetSortEig(Jacobi* p, int sorted) { return Own::set(p, &Jacobi::sorted, sorted); }
PLD_JACOBI(cusolverDnXsyevj, cusolverDnCreateSyevjInfo, cusolverDnDestroySyevjInfo)
PLD_JACOBI(cusolverDnXgesvdj, cusolverDnCreateGesvdjInfo, cusolverDnDestroyGesvdjInfo)

PLD_STAND_IN Status cusolverGetVersion(int* out) {
  return out == nullptr ? invalid_value : (*out = version[0] * 1000 + version[1] * 100 + version[2], success);
}
PLD_STAND_IN Status cusolverGetProperty(int type, int* out) {  // libraryPropertyType: major, minor, patch
  return Own::property(version, type, out);
}
