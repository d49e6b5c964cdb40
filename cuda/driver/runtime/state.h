#pragma once
// What the runtime library keeps: each thread's last error, and what the program registered before main.
#include <string>

#include "cuda/driver/runtime/driver_calls.h"

namespace palladion::cuda::runtime {

using driver::Status;
using driver::success;

// The last error of this thread becomes `status`, unless that is none.
Error ended(Status status);
// The primary context, made at the first call and current in this thread unless the program made another one
// so.
Status ready();
// A reset behind a fault: as on a GPU, this process gets no device any more (H100, driver 580).
void lose_device();
// A call, or a part of one, that is not there: named once.
Error unsupported(const char* what);

// While it exists, synchronous calls are of the thread's own default stream.
struct OwnDefaultStream {
  OwnDefaultStream() { palladion_exec_own_default_stream(1); }
  OwnDefaultStream(const OwnDefaultStream&) = delete;
  OwnDefaultStream& operator=(const OwnDefaultStream&) = delete;
  ~OwnDefaultStream() { palladion_exec_own_default_stream(0); }
};

// registration.cpp: of the address by which the host's code names a kernel or a variable.
Status function_of(const void* host, Function& out);
// Kernels that were given to the program as handles may be launched as such.
void known(Function kernel);
Status symbol_of(const void* host, Pointer& address, size_t& bytes);
// `bytes` at `offset` in a variable; an error when it is smaller.
Status part_of_symbol(const void* host, size_t bytes, size_t offset, Pointer& address);

// copies.cpp
Status copy(void* to, const void* from, size_t bytes, int kind);
Status copy_async(void* to, const void* from, size_t bytes, int kind, Stream stream);
Status driver_copy(const Copy3D& p, Memcpy3D& out);

// arrays.cpp
struct Format {
  uint32_t format = 0, channels = 0;  // CUarray_format
  size_t bytes = 0;                   // of an element
};
Status format_of(const ChannelDesc& desc, Format& out);
Status array_of(const void* array, driver::Array3DDescriptor& about, Format& out);

}  // namespace palladion::cuda::runtime
