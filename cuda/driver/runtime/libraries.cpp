// Libraries of kernels that the program loads by itself.
#include "cuda/driver/runtime/state.h"

using namespace palladion::cuda::runtime;

namespace {

Status library_kernel(Function* out, Library library, const char* name) {
  const Status status = cuLibraryGetKernel(out, library, name);
  if (status == success) known(*out);
  return status;
}

Status library_kernels(Function* out, unsigned count, Library library) {
  const Status status = cuLibraryEnumerateKernels(out, count, library);
  for (unsigned i = 0; status == success && i < count; ++i) known(out[i]);
  return status;
}

}  // namespace

PLD_CALL(cudaLibraryLoadData,
         (Library * out, const void* code, void* options, void** values, unsigned count,
          void* library_options, void** library_values, unsigned library_count),
         cuLibraryLoadData(out, code, options, values, count, library_options, library_values, library_count))
PLD_CALL(cudaLibraryLoadFromFile,
         (Library * out, const char* name, void* options, void** values, unsigned count,
          void* library_options, void** library_values, unsigned library_count),
         cuLibraryLoadFromFile(out, name, options, values, count, library_options, library_values,
                               library_count))
PLD_CALL(cudaLibraryUnload, (Library library), cuLibraryUnload(library))
PLD_CALL(cudaLibraryGetKernel, (Function * out, Library library, const char* name),
         library_kernel(out, library, name))
PLD_CALL(cudaLibraryGetKernelCount, (unsigned* count, Library library),
         cuLibraryGetKernelCount(count, library))
PLD_CALL(cudaLibraryEnumerateKernels, (Function * out, unsigned count, Library library),
         library_kernels(out, count, library))
PLD_CALL(cudaLibraryGetGlobal, (void** out, size_t* bytes, Library library, const char* name),
         cuLibraryGetGlobal(reinterpret_cast<Pointer*>(out), bytes, library, name))
PLD_CALL(cudaLibraryGetManaged, (void** out, size_t* bytes, Library library, const char* name),
         cuLibraryGetManaged(reinterpret_cast<Pointer*>(out), bytes, library, name))
