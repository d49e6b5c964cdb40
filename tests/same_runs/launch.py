"""Launches the entry `k` of a PTX file on 4096 words, three times, as a program for a GPU does: run it by exec."""
import ctypes
import sys
import zlib

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *args):
    status = getattr(cuda, name)(*args)
    if status != 0:
        print(f"{name}: error {status}")
        sys.exit(0)


words = 4096
context, module, kernel, array = (ctypes.c_void_p() for _ in range(4))
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
call("cuModuleLoad", ctypes.byref(module), sys.argv[1].encode())
call("cuModuleGetFunction", ctypes.byref(kernel), module, b"k")
call("cuMemAlloc_v2", ctypes.byref(array), ctypes.c_size_t(4 * words))
values = (ctypes.c_uint32 * words)(0, *range(1, words))
call("cuMemcpyHtoD_v2", array, values, ctypes.c_size_t(4 * words))
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(array))
for _ in range(3):
    call("cuLaunchKernel", kernel, 24, 1, 1, 64, 1, 1, 0, None, arguments, None)
call("cuMemcpyDtoH_v2", values, array, ctypes.c_size_t(4 * words))
print(f"{zlib.crc32(bytes(values)):08x}")
